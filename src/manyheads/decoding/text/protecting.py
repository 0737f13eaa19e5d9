"""Placeholders on their way through a model: what the model reads in place of a sentence, and its output made whole.

A model reads either of two readings of a sentence:

- carried: each placeholder has become a copy symbol (docs/symbols.md), if the model has them. The output is accepted if
  each of these symbols is in it exactly once.
- without: the placeholders are taken out, with what stands between neighbouring ones. They are put into the output
  where the attention of the model says (`placing`), with the white space that they had. So none can be lost.

Names in their place, which a model copies too, were tried for models without symbols: with 300 strings of software, as
many chrF as without, and in a third of the strings a name was lost. The splices of a reading make the sentence of it
again; those of an output put the same placeholders there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from manyheads.config.symbols import COPIES
from manyheads.data.tokens.tokenizers import Tokenizers
from manyheads.decoding.text.placing import Placing
from manyheads.documents.placeholders import Placeholder, keeps_its_turn
from manyheads.documents.splices import Splice

COPY = re.compile("|".join(map(re.escape, COPIES)))
_CLOSED_BY = {"'": "'", '"': '"', "`": "`", "(": ")", "[": "]", "„": "“", "“": "”", "‘": "’", "«": "»", "»": "«"}
_TOUCHING_BEFORE = re.compile(r"(?<![^\s(\[\"'])[A-Za-z0-9]{1,3}$")  # the v of v{0}
_TOUCHING_AFTER = re.compile(r"[A-Za-z0-9]{1,3}(?![\w-])")  # the px of {0}px
_AFTER_FIRST = re.compile(r"[:.,;–-]*\s*")
_SPACED = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff]")  # a letter of a language that has spaces between words
_MARKS = tuple(".,;:!?")
_LONGEST_JOINT = 3  # characters between two placeholders that are taken out together


@dataclass(frozen=True)
class Reading:
    """What a model reads in place of a sentence, and the splices that make the sentence of it again."""

    text: str
    splices: tuple[Splice, ...]

    def neighbours(self, splice: Splice) -> tuple[str, str]:
        """Return the characters of the sentence before and after what a splice puts back; empty at its ends."""
        padded = splice.text[:1].isspace(), splice.text[-1:].isspace()
        before, after = self.text[: splice.start][-1:], self.text[splice.end :][:1]
        return " " if padded[0] else before, " " if padded[1] else after


def has_copy_symbols(tokenizers: Tokenizers) -> bool:
    """Return whether a model has copy symbols on both sides."""
    both = (tokenizers.source, tokenizers.target)
    return all(COPIES[-1] in side.pieces(side.encode(COPIES[-1])) for side in both)


def carried(sentence: str, placeholders: Sequence[Placeholder]) -> Reading | None:
    """Return a sentence in which copy symbols carry its placeholders; None if there are too few symbols."""
    free = [symbol for symbol in COPIES if symbol not in sentence]
    if len(placeholders) > len(free):
        return None
    text, splices, done = "", [], 0
    for one, symbol in zip(placeholders, free, strict=False):
        text += sentence[done : one.start] + symbol
        splices.append(Splice(len(text) - len(symbol), len(text), one.text))
        done = one.end
    return Reading(text + sentence[done:], tuple(splices))


def found_symbols(reading: Reading, output: str) -> list[Splice] | None:
    """Return the splices that replace the symbols in an output by their placeholders, in the order of the reading.

    None if a symbol is not there exactly once, if there are others, or if what has to keep its turn has lost it.
    """
    if sorted(COPY.findall(output)) != sorted(COPY.findall(reading.text)):
        return None
    splices = []
    for start, end, placeholder in reading.splices:
        symbol = reading.text[start:end]
        found = output.find(symbol)
        splices.append(Splice(found, found + len(symbol), placeholder))
    in_turn = [one.text for one in splices if keeps_its_turn(one.text)]
    return splices if in_turn == [one.text for one in sorted(splices) if keeps_its_turn(one.text)] else None


def without(sentence: str, placeholders: Sequence[Placeholder], *, singly: bool = False) -> Reading:
    """Return a sentence without its placeholders; where one had white space on both sides, some is left.

    Unless each is taken out `singly`, quotes around a placeholder and what stands between neighbours go with them.
    """
    text, splices, done = "", [], 0
    singles = [(one.start, one.end) for one in placeholders]
    for start, end in singles if singly else _together(sentence, placeholders):
        text += sentence[done:start]
        follows_space = not text or text[-1].isspace()
        done = end
        while follows_space and done < len(sentence) and sentence[done].isspace():
            done += 1
        splices.append(Splice(len(text), len(text), sentence[start:done]))
    rest = sentence[done:]
    kept = text if rest else text.rstrip()  # a sentence ends without white space
    moved = sum(splice.start > len(kept) for splice in splices)  # the last ones, all at the same offset
    for number in range(len(splices) - moved, len(splices)):
        space = text[len(kept) :] if number == len(splices) - moved else ""
        splices[number] = Splice(len(kept), len(kept), space + splices[number].text)
    return Reading(kept + rest, tuple(splices))


def _together(sentence: str, placeholders: Sequence[Placeholder]) -> list[tuple[int, int]]:
    """Return the spans to take out: neighbours as one, and with a placeholder what belongs to it.

    That is quotes or brackets around it, up to three letters that touch it, and what separates a first one (`E12: …`).
    """
    spans: list[tuple[int, int]] = []
    for one in placeholders:
        free = spans[-1][1] if spans else 0
        start, end = _with_surroundings(sentence, one, free)
        joint = sentence[free:start].strip()
        if spans and len(joint) <= _LONGEST_JOINT and not any(map(str.isalnum, joint)):
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
    if spans and spans[0][0] == 0 and (separator := _AFTER_FIRST.match(sentence, spans[0][1])):
        spans[0] = 0, separator.end()
    return spans


def _with_surroundings(sentence: str, one: Placeholder, free: int) -> tuple[int, int]:
    """Return the span of a placeholder with what touches it, from `free` on."""
    start, end = one.start, one.end
    if before := _TOUCHING_BEFORE.search(sentence[free:start]):
        start = free + before.start()
    if after := _TOUCHING_AFTER.match(sentence, end):
        end = after.end()
    while start > free and _CLOSED_BY.get(sentence[start - 1]) == sentence[end : end + 1]:
        start, end = start - 1, end + 1
    return start, end


def led_by(prefix: Reading, reading: Reading) -> Reading:
    """Return a reading with the splices that a forced prefix has too before the others, in the order of the prefix."""
    first, others = [], list(reading.splices)
    for wanted in prefix.splices:
        if same := next((one for one in others if one.text.strip() == wanted.text.strip()), None):
            others.remove(same)
            first.append(same)
    return Reading(reading.text, (*first, *others))


def put_back(reading: Reading, output: str, placing: Placing, *, prefix: Reading) -> list[Splice]:
    """Return the splices that put what a reading is without into an output, in the order of the reading.

    What the output's forced prefix is without is put where the prefix had it, and the others after the prefix.
    """
    forced = list(prefix.splices)
    splices: list[Splice] = []
    turn = len(prefix.text)
    for taken in reading.splices:
        text, in_turn = taken.text.strip(), keeps_its_turn(taken.text)
        if same := next((one for one in forced if one.text.strip() == text), None):
            forced.remove(same)
            splices.append(same)
            continue
        place = placing.of(taken.start, minimum=turn if in_turn else len(prefix.text))
        turn = place if in_turn else turn
        previous = next((one.text for one in reversed(splices) if one.start == place), output[:place])
        before, after = reading.neighbours(taken)
        following, is_open = output[place : place + 1], _is_open(text)
        if previous and not previous[-1].isspace() and (before.isspace() or _parted(before, previous[-1], is_open)):
            text = " " + text
        if following not in _MARKS and _parted(after, following, is_open):
            text += " "
        splices.append(Splice(place, place, text))
    return [*splices, *forced]


def _is_open(text: str) -> bool:
    """Return whether any letter that touches a placeholder would seem to be part of it, as of an address."""
    return "/" in text or text[-1:].isalnum()


def _parted(neighbour: str, output: str, is_open: bool) -> bool:
    """Return whether a letter or mark of an output must not touch a placeholder with another neighbour in its text."""
    if _SPACED.fullmatch(neighbour) or (is_open and neighbour.isalnum()):
        return False
    is_letter = output.isalnum() if is_open else _SPACED.fullmatch(output) is not None
    return is_letter or (output in _MARKS and output != neighbour)
