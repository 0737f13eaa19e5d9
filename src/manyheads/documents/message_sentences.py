"""Messages of ICU with whole sentences in their forms, and all plural forms of a language: what a translator needs.

    You have {n, plural, one {# file} other {# files}} left.
    {n, plural, one {You have # file left.} other {You have # files left.}}

Other words than the noun may change with the number, and their order with the language, so ICU recommends whole
sentences. A line break ends what is taken into the forms. For a language with more plural forms, such as Polish, the
missing ones begin as the form `other`, as they do in PO.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from manyheads.documents.messages import Choice, Form, parse_message, written
from manyheads.documents.plurals import plurals_of

LONGEST = 10_000  # characters of a message that is changed
MOST_SENTENCES = 24  # of a message: several choices in a row multiply

Parts = Sequence[str | Choice]


def with_sentences(message: str, language: str | None) -> str:
    """Return a message with whole sentences in its forms, and with all plural forms of a language.

    Anything else, and a message for which this would change the meaning of a `#`, stays as it is.
    """
    parts = parse_message(message) if "{" in message and len(message) <= LONGEST else [message]
    if parts == [message]:  # most texts
        return message
    forms = plurals_of(language)
    whole = list(chain.from_iterable(_line(some) for some in _lines(parts)))
    result = written(_completed(whole, forms.names if forms else ()))
    return message if parse_message(result) == [result] else result  # its choices would be nested too deeply


def _lines(parts: Parts) -> Iterator[list[str | Choice]]:
    """Yield the lines of a message, each with its line break."""
    line: list[str | Choice] = []
    for part in parts:
        if isinstance(part, Choice):
            line.append(part)
            continue
        *ended, rest = part.split("\n")
        for text in ended:
            yield [*line, f"{text}\n"]
            line = []
        line.append(rest)
    yield line


def _line(parts: Parts) -> Parts:
    """Return a line with its text in the forms of its choices, if it has both and that is possible."""
    if len(parts) == 1 or _sentences(parts) > MOST_SENTENCES:
        return parts
    if len(parts) == 3 and not any(character.isalpha() for part in (parts[0], parts[2]) for character in str(part)):
        return [part if isinstance(part, str) else _inner(part) for part in parts]
    first, last = str(parts[0]), str(parts[-1])  # a text, though it may be empty
    begin, end = len(first) - len(first.lstrip()), len(last.rstrip())
    taken = _taken_in([first[begin:], *parts[1:-1], last[:end]])
    return parts if taken is None else [first[:begin], *taken, last[end:]]


def _inner(choice: Choice) -> Choice:
    """Return a choice whose forms have whole sentences."""
    return choice._replace(forms=[form._replace(parts=_line(form.parts)) for form in choice.forms])


def _taken_in(parts: Parts) -> Parts | None:
    """Return parts as one choice that holds all others; None if a `#` would come to stand for another number."""
    number = next((number for number, part in enumerate(parts) if isinstance(part, Choice)), None)
    if number is None:
        return parts
    choice = parts[number]
    assert isinstance(choice, Choice)
    before, behind = parts[:number], parts[number + 1 :]
    if choice.kind != "select" and _has_number_sign([*before, *behind]):
        return None
    forms = []
    for form in choice.forms:
        taken = _taken_in(_joined([*before, *form.parts, *behind]))
        if taken is None:
            return None
        forms.append(form._replace(parts=taken))
    return [choice._replace(forms=forms)]


def _joined(parts: Parts) -> list[str | Choice]:
    """Return parts in which no text follows another."""
    joined: list[str | Choice] = []
    for part in parts:
        if joined and isinstance(part, str) and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def _has_number_sign(parts: Parts) -> bool:
    """Return whether there is a `#` in a text or in any form."""
    return "#" in written(parts)


def _sentences(parts: Parts) -> int:
    """Return how many sentences a line becomes."""
    count = 1
    for part in parts:
        if isinstance(part, Choice):
            count *= sum(_sentences(form.parts) for form in part.forms)
    return count


def _completed(parts: Parts, names: Sequence[str]) -> Parts:
    """Return parts with the plural forms of these names."""
    return [part if isinstance(part, str) else _completed_choice(part, names) for part in parts]


def _completed_choice(choice: Choice, names: Sequence[str]) -> Choice:
    """Return a choice with the forms that it lacks, each as the form `other`, before which they are put."""
    forms = [form._replace(parts=_completed(form.parts, names)) for form in choice.forms]
    there = [form.name for form in forms]
    if choice.kind == "plural" and "other" in there:
        at = there.index("other")
        other = forms[at]
        missing = [name for name in names if name not in there]
        forms[at:at] = [Form(other.opening.replace("other", name), name, other.parts) for name in missing]
    return choice._replace(forms=forms)
