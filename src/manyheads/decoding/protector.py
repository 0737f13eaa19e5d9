"""Translates sentences with placeholders, so that each is in the output, spelled as it was.

A model with copy symbols first reads each sentence with symbols for its placeholders. Of the outputs that its beam has
found, the best ones are taken that have each of these symbols once. Other sentences are read without their
placeholders, which are put where the model's attention says (`text/protecting.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from manyheads.data.tokens.tokenizers import Tokenizers
from manyheads.decoding.engines.choice import Engine
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.search.hypothesis import Hypothesis
from manyheads.decoding.text.placing import Placing, token_ends
from manyheads.decoding.text.protecting import (
    Reading,
    carried,
    found_symbols,
    has_copy_symbols,
    led_by,
    put_back,
    without,
)
from manyheads.decoding.text.realigning import realigned
from manyheads.documents.placeholders import Placeholder, protected
from manyheads.documents.splices import Splice, spliced


class Marked(NamedTuple):
    """A sentence, its ids, the ids that ask for a language, and its placeholders."""

    text: str
    ids: list[int]
    tag: list[int]
    placeholders: list[Placeholder]


class Whole(NamedTuple):
    """An output with its placeholders. Tokens and attention are those of the whole texts, scores those of the model."""

    text: str
    hypothesis: Hypothesis


@dataclass(frozen=True)
class Protector:
    """Translates sentences with placeholders.

    Args:
        engine: Searches for outputs.
        tokenizers: Those of the model.
        needs_translation: Whether a text has something to translate.
    """

    engine: Engine
    tokenizers: Tokenizers
    needs_translation: Callable[[str], bool]

    @cached_property
    def _has_copy_symbols(self) -> bool:
        """Whether the model has symbols that carry placeholders."""
        return has_copy_symbols(self.tokenizers)

    def translate(self, sentences: Sequence[Marked], options: TranslationOptions) -> list[list[Whole]]:
        """Return the outputs for each sentence, best first; none if there is nothing to translate in it."""
        prefix = without(options.prefix or "", protected(options.prefix or ""), singly=True)
        can_carry = self._has_copy_symbols and not prefix.splices
        found = self._carry(sentences, options) if can_carry else {}
        rest = [row for row in range(len(sentences)) if not found.get(row)]
        placed = self._place([sentences[row] for row in rest], prefix, options)
        found.update(zip(rest, placed, strict=True))
        return [found[row] for row in range(len(sentences))]

    def _carry(self, sentences: Sequence[Marked], options: TranslationOptions) -> dict[int, list[Whole]]:
        """Return the outputs in which each symbol has come out once, by the row of the sentence."""
        readings = {
            row: reading
            for row, one in enumerate(sentences)
            if self._has_text(one, options) and (reading := carried(one.text, one.placeholders)) is not None
        }
        found = self._search([(sentences[row], reading) for row, reading in readings.items()], options, options.prefix)
        outputs: dict[int, list[Whole]] = {}
        for (row, reading), hypotheses in zip(readings.items(), found, strict=True):
            right = [
                (hypothesis, output, splices)
                for hypothesis, output in hypotheses
                if (splices := found_symbols(reading, output)) is not None
            ][: options.n_best]
            if options.alignments and right and right[0][0].attention is None:
                continue  # PyTorch returns the attention of its best output only
            outputs[row] = [self._whole(sentences[row], reading, *one) for one in right]
        return outputs

    def _has_text(self, sentence: Marked, options: TranslationOptions) -> bool:
        """Return whether a sentence has something to translate besides its placeholders."""
        return bool(options.prefix) or self.needs_translation(without(sentence.text, sentence.placeholders).text)

    def _place(self, sentences: Sequence[Marked], prefix: Reading, options: TranslationOptions) -> list[list[Whole]]:
        """Return outputs for sentences without their placeholders, with them put in place."""
        readings = [
            (one, led_by(prefix, without(one.text, one.placeholders, singly=bool(prefix.splices))))
            for one in sentences
            if self._has_text(one, options)
        ]
        aligning = replace(options, alignments=options.alignments or self.engine.aligns)
        found = iter(self._search(readings, aligning, prefix.text))
        remaining = iter(readings)
        results: list[list[Whole]] = []
        for one in sentences:
            if not self._has_text(one, options):
                results.append([])
                continue
            _, reading = next(remaining)
            best = next(found)[: options.n_best]
            results.append([self._put_back(one, reading, hypothesis, output, prefix) for hypothesis, output in best])
        return results

    def _search(
        self, readings: Sequence[tuple[Marked, Reading]], options: TranslationOptions, prefix: str | None
    ) -> list[list[tuple[Hypothesis, str]]]:
        """Return the outputs for readings of sentences, best first, each with its text."""
        if not readings:
            return []
        sources = self.tokenizers.source.encode_all([reading.text for _, reading in readings])
        tagged = [[*one.tag, *ids] for (one, _), ids in zip(readings, sources, strict=True)]
        start = self.tokenizers.target.encode(prefix) if prefix else []
        found = self.engine.search(tagged, options, prefix=start)
        texts = iter(self.tokenizers.target.decode_all([one.tokens for some in found for one in some]))
        return [[(one, next(texts)) for one in some] for some in found]

    def _put_back(
        self, sentence: Marked, reading: Reading, hypothesis: Hypothesis, output: str, prefix: Reading
    ) -> Whole:
        """Return an output with what its reading is without."""
        source, target = self.tokenizers.source, self.tokenizers.target
        attention = _without_tag(hypothesis, sentence)
        placing = Placing(
            reading.text,
            token_ends(source, source.encode(reading.text), reading.text),
            output,
            token_ends(target, _without_end(hypothesis), output),
            attention,
        )
        return self._whole(sentence, reading, hypothesis, output, put_back(reading, output, placing, prefix=prefix))

    def _whole(
        self, sentence: Marked, reading: Reading, hypothesis: Hypothesis, output: str, splices: list[Splice]
    ) -> Whole:
        """Return an output with splices in place, and its tokens."""
        text = spliced(output, splices)
        ids = self.tokenizers.target.encode(text)
        tokens = [*ids, *hypothesis.tokens[-1:]] if hypothesis.finished else ids
        attention = _without_tag(hypothesis, sentence)
        if attention is not None:
            source, target = self.tokenizers.source, self.tokenizers.target
            read = token_ends(source, source.encode(reading.text), reading.text)
            written = token_ends(target, _without_end(hypothesis), output)
            attention = realigned(
                attention,
                (read, token_ends(source, sentence.ids, sentence.text), reading.splices),
                (written, token_ends(target, ids, text), splices),
            )[: len(tokens)]
        return Whole(text, replace(hypothesis, tokens=tokens, attention=attention))


def _without_end(hypothesis: Hypothesis) -> list[int]:
    """Return the tokens of a hypothesis without the end token."""
    return hypothesis.tokens[:-1] if hypothesis.finished else hypothesis.tokens


def _without_tag(hypothesis: Hypothesis, sentence: Marked) -> list[list[float]] | None:
    """Return the attention of a hypothesis without that to the language tag."""
    return None if hypothesis.attention is None else [row[len(sentence.tag) :] for row in hypothesis.attention]
