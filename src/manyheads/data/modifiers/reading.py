"""The modifiers of a recipe, applied to the rows of a batch when it is laid out.

A row that nothing changes keeps its ids. Another is turned into text, changed, and cut into pieces again. What is drawn
depends on the seed and on the number of the batch, so that a run that is resumed reads what it would have read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from manyheads.config.data import CorpusSettings
from manyheads.config.modify import ModifySettings
from manyheads.data.files import resolve
from manyheads.data.lexicon import Lexicon
from manyheads.data.modifiers.accents import without_accents
from manyheads.data.modifiers.interface import Modifier
from manyheads.data.modifiers.letter_case import title_case, upper_case
from manyheads.data.modifiers.numbers import other_numbers
from manyheads.data.modifiers.placeholders import with_copy_symbols, with_names_copied
from manyheads.data.modifiers.punctuation import without_final_punctuation
from manyheads.data.modifiers.tags import with_tags
from manyheads.data.modifiers.terms import with_term_hint
from manyheads.data.modifiers.typos import with_typos
from manyheads.data.pairs import Pair
from manyheads.data.rectangles import Rectangle, rectangle, unpadded
from manyheads.data.tokenizers import END, UNKNOWN, Tokenizers


class Step(NamedTuple):
    """A modifier and the share of pairs that it changes."""

    share: float
    modifier: Modifier


@dataclass(frozen=True)
class Origin:
    """What is done to the pairs of one corpus, whose sources begin with a prefix."""

    prefix: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Modification:
    """Changes the rows of a batch; `origins` says what is done to those of each corpus."""

    tokenizers: Tokenizers
    origins: Sequence[Origin]
    longest: int  # in tokens, without the end token

    def __call__(
        self,
        source: Rectangle,
        target: Rectangle,
        origins: NDArray[np.int64],
        *,
        padding: int,
        seed: tuple[object, ...],
    ) -> tuple[Rectangle, Rectangle]:
        """Return both sides of a batch, changed; `origins` [B] says which corpus each row is from."""
        random = Random(hashlib.blake2b(repr(seed).encode(), digest_size=16).digest())
        chosen: dict[int, list[Modifier]] = {}
        for row, origin in enumerate(origins.tolist()):
            modifiers = [step.modifier for step in self.origins[origin].steps if random.random() < step.share]
            if modifiers:
                chosen[row] = modifiers
        rows = [unpadded(source), unpadded(target)]
        for row, modifiers in chosen.items():
            changed = self._changed(rows[0][row], rows[1][row], self.origins[origins[row]].prefix, modifiers, random)
            if changed is not None:
                rows[0][row], rows[1][row] = changed
        return rectangle(rows[0], padding), rectangle(rows[1], padding)

    def _changed(
        self, source: list[int], target: list[int], prefix: str, modifiers: Sequence[Modifier], random: Random
    ) -> tuple[list[int], list[int]] | None:
        """Return the ids of a changed pair, or nothing where it is the same or no longer usable."""
        if UNKNOWN in source or UNKNOWN in target:
            return None  # the text of what is unknown is lost
        text = self.tokenizers.source.decode(source)
        before = pair = Pair(text.removeprefix(prefix).lstrip(), self.tokenizers.target.decode(target))
        for modifier in modifiers:
            pair = modifier(pair, random)
        if pair == before or not all(side.strip() for side in pair):
            return None
        tagged = f"{prefix} {pair.source}" if prefix else pair.source
        ids = self.tokenizers.source.encode(tagged), self.tokenizers.target.encode(pair.target)
        return None if max(map(len, ids)) > self.longest else ([*ids[0], END], [*ids[1], END])


def modification(
    settings: ModifySettings, corpora: Sequence[CorpusSettings], tokenizers: Tokenizers, *, longest: int
) -> Modification | None:
    """Return what changes the pairs of some corpora as the settings say, if they say anything."""
    if not settings.on_text:
        return None
    lexicons: dict[tuple[str | None, ...], Lexicon] = {}
    origins = [Origin(" ".join(corpus.tags), tuple(_steps(settings, corpus, lexicons))) for corpus in corpora]
    return Modification(tokenizers, origins, longest)


def _steps(
    settings: ModifySettings, corpus: CorpusSettings, lexicons: dict[tuple[str | None, ...], Lexicon]
) -> list[Step]:
    """Return the modifiers of a corpus: what changes the content first, what spoils the spelling last."""
    if not corpus.modified:
        return []
    lexicon = _lexicon(corpus, lexicons) if settings.tags or settings.terms else Lexicon({})
    steps = [
        Step(settings.numbers, other_numbers),
        Step(settings.placeholders, with_copy_symbols),
        Step(settings.names, with_names_copied),
        Step(settings.tags if lexicon.translations else 0.0, partial(with_tags, lexicon=lexicon)),
        Step(settings.terms if lexicon.translations else 0.0, partial(with_term_hint, lexicon=lexicon)),
        Step(settings.final_punctuation, without_final_punctuation),
        Step(settings.upper_case, upper_case),
        Step(settings.title_case, title_case),
        Step(settings.accents, without_accents),
        Step(settings.typos, with_typos),
    ]
    return [step for step in steps if step.share]


def _lexicon(corpus: CorpusSettings, known: dict[tuple[str | None, ...], Lexicon]) -> Lexicon:
    """Return the lexicon of a corpus, an empty one where it has none; one file is read once for each direction."""
    if corpus.lexicon is None:
        return Lexicon({})
    key = corpus.lexicon, corpus.source_language, corpus.target_language
    if key not in known:
        known[key] = Lexicon.read(
            resolve(corpus.lexicon), source_language=corpus.source_language, target_language=corpus.target_language
        )
    return known[key]
