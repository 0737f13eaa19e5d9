"""Applies the modifiers of a recipe to the rows of a batch.

A row without a modifier keeps its ids. Other rows are decoded, changed, and encoded again. The random numbers depend on
the seed and on the number of the batch, so that a resumed run reads the same data.

Some modifiers need more tokens: a text in capitals has two or three times as many. One such row in a batch would pad
all others. So these modifiers are applied to all rows of a batch or to none, and a batch that becomes larger than its
size drops its last rows.
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


class ModifierStep(NamedTuple):
    """A modifier, the share of pairs that it changes, and whether it is applied to whole batches."""

    share: float
    modifier: Modifier
    whole_batch: bool = False


@dataclass(frozen=True)
class CorpusModifiers:
    """The modifiers of one corpus, and the prefix (the tags) with which its sources begin."""

    prefix: str
    steps: tuple[ModifierStep, ...]

    def draw(self, random: Random, batch_number: float) -> list[Modifier]:
        """Return random modifiers for a row.

        `batch_number`, from 0 to 1, is the same for all rows of a batch, and selects at most one of the modifiers that
        are applied to whole batches.
        """
        chosen = [step.modifier for step in self.steps if not step.whole_batch and random.random() < step.share]
        cumulated = 0.0
        for step in self.steps:
            if step.whole_batch:
                if cumulated <= batch_number < cumulated + step.share:
                    chosen.append(step.modifier)
                cumulated += step.share
        return chosen


@dataclass(frozen=True)
class Modification:
    """Changes the rows of a batch by the modifiers of their corpora."""

    tokenizers: Tokenizers
    corpora: Sequence[CorpusModifiers]
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
        """Return both sides of a batch after modification; `origins` [B] is the index of each row's corpus."""
        random = Random(hashlib.blake2b(repr(seed).encode(), digest_size=16).digest())
        batch_number = random.random()
        rows = list(zip(unpadded(source), unpadded(target), strict=True))
        for number, origin in enumerate(origins.tolist()):
            corpus = self.corpora[origin]
            modifiers = corpus.draw(random, batch_number)
            changed = self._changed(*rows[number], corpus.prefix, modifiers, random) if modifiers else None
            rows[number] = changed or rows[number]
        kept = rows[: _fitting(rows, max(source[0].size, target[0].size))]
        return rectangle([row for row, _ in kept], padding), rectangle([row for _, row in kept], padding)

    def _changed(
        self, source: list[int], target: list[int], prefix: str, modifiers: Sequence[Modifier], random: Random
    ) -> tuple[list[int], list[int]] | None:
        """Return the ids of the modified pair, or None if it is unchanged, empty or too long."""
        if UNKNOWN in source or UNKNOWN in target:
            return None  # the text of unknown tokens is lost, so the pair cannot be decoded
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
    """Return how many of the first rows fit into padded batches of at most `most` tokens; at least one."""
    longest = np.maximum.accumulate([max(map(len, row)) for row in rows])
    return max(1, int(np.searchsorted(longest * np.arange(1, len(rows) + 1), most, side="right")))


def modification(
    settings: ModifySettings, corpora: Sequence[CorpusSettings], tokenizers: Tokenizers, *, longest: int
) -> Modification | None:
    """Return the modification of these corpora, or None if the settings have no modifiers of texts."""
    if not settings.on_text:
        return None
    lexicons: dict[tuple[str | None, ...], Lexicon] = {}
    return Modification(
        tokenizers,
        [CorpusModifiers(" ".join(corpus.tags), tuple(_steps(settings, corpus, lexicons))) for corpus in corpora],
        longest,
    )


def _steps(
    settings: ModifySettings, corpus: CorpusSettings, lexicons: dict[tuple[str | None, ...], Lexicon]
) -> list[ModifierStep]:
    """Return the modifiers of a corpus: changes of content first, changes of spelling last."""
    if not corpus.modified:
        return []
    lexicon = _lexicon(corpus, lexicons) if settings.tags or settings.terms else Lexicon({})
    steps = [
        ModifierStep(settings.numbers, other_numbers),
        ModifierStep(settings.placeholders, with_copy_symbols),
        ModifierStep(settings.names, with_names_copied),
        ModifierStep(settings.final_punctuation, without_final_punctuation),
        ModifierStep(settings.tags, partial(with_tags, lexicon=lexicon), whole_batch=True),
        ModifierStep(settings.terms, partial(with_term_hint, lexicon=lexicon), whole_batch=True),
        ModifierStep(settings.upper_case, upper_case, whole_batch=True),
        ModifierStep(settings.title_case, title_case, whole_batch=True),
        ModifierStep(settings.accents, without_accents, whole_batch=True),
        ModifierStep(settings.typos, with_typos, whole_batch=True),
    ]
    return [step for step in steps if step.share]


def _lexicon(corpus: CorpusSettings, known: dict[tuple[str | None, ...], Lexicon]) -> Lexicon:
    """Return the lexicon of a corpus, or an empty one; `known` has those already read, by file and languages."""
    if corpus.lexicon is None:
        return Lexicon({})
    key = corpus.lexicon, corpus.source_language, corpus.target_language
    if key not in known:
        known[key] = Lexicon.read(
            resolve(corpus.lexicon), source_language=corpus.source_language, target_language=corpus.target_language
        )
    return known[key]
