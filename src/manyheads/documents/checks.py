r"""What a translation lacks of its source, or has too much, before someone's program fails on it (as `msgfmt -c` does).

problems("Copied %d of %s", "%s kopiert")  # ["%d is missing"]
amended("50%% of %s\n", "50% von %s", Rules(("c-format",)))  # "50%% von %s\n"
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from manyheads.documents.format_strings import NO_RULES, Rules, directives, format_problems, strays
from manyheads.documents.messages import message_arguments, message_spans, parse_message
from manyheads.documents.placeholders import comparable, keeps_its_turn, placeholders
from manyheads.documents.splices import Splice, spliced

_TAG = re.compile(r"<(/?)([A-Za-z0-9][\w:.-]*)[^<>]*?(/?)>")
_VOID = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})


def problems(source: str, translation: str, rules: Rules = NO_RULES) -> list[str]:
    """Return what is wrong with a translation, each in a few words; nothing if it may be used."""
    if not translation.strip():
        return ["it is empty"] if source.strip() else []
    found = _placeholder_problems(source, translation)
    if rules.keeps_line_breaks:
        found += _line_break_problems(source, translation)
    for form in () if found else rules.formats:
        found += format_problems(rules.plural or source, translation, form, is_rare=rules.is_rare)
    return found


def amended(source: str, translation: str, rules: Rules = NO_RULES) -> str:
    """Return a translation with what its rules ask for: line breaks at its ends, and escapes of what is text."""
    if rules.keeps_line_breaks:
        before, behind = source[: len(source) - len(source.lstrip("\n"))], source[len(source.rstrip("\n")) :]
        core = translation.strip("\n")
        translation = f"{before}{core}{behind}" if core else core
    for form in rules.formats:
        if not strays(source, form):
            translation = _escaped(source, translation, form)
    return translation


def _escaped(source: str, translation: str, form: str) -> str:
    """Return a translation in which the signs that are text are doubled, such as the `%` of `50% von %s`."""
    known = {one[0] for one in directives(source, form)}
    texts = {one.start() for one in strays(translation, form)}
    for one in directives(translation, form):
        is_text = " " in one[0] or translation[: one.start()][-1:].isdigit()
        if one[0] not in known and one[0][0] == "%" and is_text:
            texts.add(one.start())
    return spliced(translation, (Splice(at, at, translation[at]) for at in texts if translation[at] in "%'"))


def _line_break_problems(source: str, translation: str) -> Iterator[str]:
    """Yield at which end a translation has no line break, and its source has one, or the other way round."""
    if source.startswith("\n") != translation.startswith("\n"):
        yield "only one of the two begins with a line break"
    if source.endswith("\n") != translation.endswith("\n"):
        yield "only one of the two ends with a line break"


def _placeholder_problems(source: str, translation: str) -> list[str]:
    """Return what is wrong with the placeholders of a translation."""
    if message_arguments(translation) and _is_message(source) and not _is_message(translation):
        return ["its braces do not match"]
    wanted, found = _counts(source), _counts(translation)
    missing = [f"{text} is missing" for text in (wanted - found)]
    excess = [f"{text} is too much" for text in (found - wanted)]
    if missing or excess:
        return [*missing, *excess]
    return [] if message_arguments(source) else list(_disorder(source, translation))


def _is_message(text: str) -> bool:
    """Return whether a text is a message with a choice."""
    return parse_message(text) != [text]


def _disorder(source: str, translation: str) -> Iterator[str]:
    """Yield what is wrong with the order of placeholders that are all there."""
    wanted, found = _in_order(source), _in_order(translation)
    for one, other in zip(wanted, found, strict=True):
        if one != other:
            yield f"{other} stands where {one} belongs"
            break
    if not _unbalanced(source):
        yield from (f"{tag} has no counterpart" for tag in _unbalanced(translation))


def _counts(text: str) -> Counter[str]:
    """Return how often each placeholder and each argument of a message occurs."""
    if arguments := message_arguments(text):  # words in braces are texts there, and forms may be more in one language
        inside = (one.text for start, stop in message_spans(text) for one in placeholders(text[start:stop]))
        return Counter({*arguments, *map(comparable, inside)})
    return Counter(comparable(one.text) for one in placeholders(text))


def _in_order(text: str) -> list[str]:
    """Return the formats that take their argument by their position."""
    return [one.text for one in placeholders(text) if keeps_its_turn(one.text) and one.text[0] == "%"]


def _unbalanced(text: str) -> list[str]:
    """Return the tags that are not closed, or close nothing, in the order of the text."""
    opened: list[tuple[str, str]] = []
    wrong = []
    for one in placeholders(text):
        match = _TAG.fullmatch(one.text)
        if match is None or match[3] or match[2].lower() in _VOID:
            continue
        name = match[2].lower()
        if not match[1]:
            opened.append((name, one.text))
        elif opened and opened[-1][0] == name:
            opened.pop()
        else:
            wrong.append(one.text)
    return [*wrong, *(raw for _, raw in opened)]
