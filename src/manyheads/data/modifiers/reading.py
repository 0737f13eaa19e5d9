"""The modifiers of a recipe, applied to the rows of a batch when it is laid out.

A row that nothing changes keeps its ids. Another is turned into text, changed, and cut into pieces again. What is drawn
depends on the seed and on the number of the batch, so that a run that is resumed reads what it would have read.

Some changes need more tokens: a text in capitals has two or three times as many. One such row in a batch would pad all
others, so these are made to all rows of a batch or to none, and a batch that outgrows its size loses its last rows.
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

from manyheads.config.corpora import CorpusSettings
from manyheads.config.modify import ModifySettings
from manyheads.data.batches.rectangles import Rectangle, rectangle, unpadded
from manyheads.data.lexicons.lexicon import Lexicon
from manyheads.data.modifiers.accents import without_accents
from manyheads.data.modifiers.interface import Modifier
from manyheads.data.modifiers.letter_case import title_case, upper_case
from manyheads.data.modifiers.numbers import other_numbers
from manyheads.data.modifiers.placeholders import with_copy_symbols, with_names_copied
from manyheads.data.modifiers.punctuation import without_final_punctuation
from manyheads.data.modifiers.tags import with_tags
from manyheads.data.modifiers.terms import with_term_hint
from manyheads.data.modifiers.typos import with_typos
from manyheads.data.text.files import resolve
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import END, UNKNOWN, Tokenizers


class Step(NamedTuple):
    """A modifier, the share of pairs that it changes, and whether it is made to whole batches."""

    share: float
    modifier: Modifier
    longer: bool = False


@dataclass(frozen=True)
class Origin:
    """What is done to the pairs of one corpus, whose sources begin with a prefix."""

    prefix: str
    steps: tuple[Step, ...]

    def drawn(self, random: Random, whole: float) -> list[Modifier]:
        """Return the modifiers of a row; of those that are made to whole batches, the one that `whole` falls upon."""
        chosen = [step.modifier for step in self.steps if not step.longer and random.random() < step.share]
        before = 0.0
        for step in self.steps:
            if step.longer:
                if before <= whole < before + step.share:
                    chosen.append(step.modifier)
                before += step.share
        return chosen


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
        whole = random.random()  # decides which one of the modifiers that need more tokens the batch gets, if any
        rows = list(zip(unpadded(source), unpadded(target), strict=True))
        for number, place in enumerate(origins.tolist()):
            origin = self.origins[place]
            modifiers = origin.drawn(random, whole)
            changed = self._changed(*rows[number], origin.prefix, modifiers, random) if modifiers else None
            rows[number] = changed or rows[number]
        kept = rows[: _fitting(rows, max(source[0].size, target[0].size))]
        return rectangle([row for row, _ in kept], padding), rectangle([row for _, row in kept], padding)

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


def _fitting(rows: Sequence[tuple[list[int], list[int]]], most: int) -> int:
    """Return how many of the rows, from the first on, make rectangles of at most `most` tokens; one at least."""
    longest = np.maximum.accumulate([max(map(len, row)) for row in rows])
    return max(1, int(np.searchsorted(longest * np.arange(1, len(rows) + 1), most, side="right")))


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
        Step(settings.final_punctuation, without_final_punctuation),
        Step(settings.tags, partial(with_tags, lexicon=lexicon), longer=True),
        Step(settings.terms, partial(with_term_hint, lexicon=lexicon), longer=True),
        Step(settings.upper_case, upper_case, longer=True),
        Step(settings.title_case, title_case, longer=True),
        Step(settings.accents, without_accents, longer=True),
        Step(settings.typos, with_typos, longer=True),
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
