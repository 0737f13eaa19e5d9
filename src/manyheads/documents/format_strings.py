r"""Format strings: the directives of a text whose format gettext names, such as `%ds` of a text that is `c-format`.

In any other text `%ds` may be something else, so only the flag tells. `msgfmt -c` compares the directives of flagged
texts, and refuses a `%` that begins none. What passes here passes there. `%%` is a percent sign, and in `java-format`
`''` an apostrophe.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

SUFFIX = "-format"  # of gettext's flags

_PRINTF = (
    r"%(?:\d+\$)?(?:\([^()]*\)|\{\w+\})?[-+ #0'I]*(?:\*(?:\d+\$)?|\d+)?(?:\.(?:\*(?:\d+\$)?|\d*))?"
    r"(?:hh|h|ll|l|L|q|j|z|t)?(?:<\w+>|[a-zA-Z@])"
)
_NUMBERED = re.compile(r"%\|?L?\d+(?:\$|%|\||$)|\{\d")
_NAMED = re.compile(r"%\(|%[<{]\w|\{[^\d{}]|\$")


class _Syntax(NamedTuple):
    """How directives are written, how the first character of one is written otherwise, and what must not be stray.

    `most_lacking`: how many directives a plural form for few numbers may lack.
    """

    directive: re.Pattern[str]
    escapes: re.Pattern[str] | None = None
    signs: str = ""
    most_lacking: int = 1000


_PERCENT_SIGN, _BRACES = re.compile("%%"), re.compile(r"\{\{|\}\}")
_PERCENT = _Syntax(re.compile(_PRINTF), _PERCENT_SIGN, "%")
_SYNTAXES = (
    ("qt qt-plural ycp", _Syntax(re.compile(r"%L?(?:\d{1,2}|n)"), _PERCENT_SIGN, most_lacking=0)),
    ("kde kde-kuit", _Syntax(re.compile(r"%\d+"), _PERCENT_SIGN, most_lacking=1)),
    ("boost", _Syntax(re.compile(rf"%\d+%|%\|[^|]*\||{_PRINTF}"), _PERCENT_SIGN, "%")),
    ("csharp perl-brace python-brace", _Syntax(re.compile(r"\{[^{}]*\}"), _BRACES, "{}")),
    ("java", _Syntax(re.compile(r"\{[^{}]*\}"), re.compile("''"), "{}'")),
    ("sh", _Syntax(re.compile(r"\$\{\w+\}|\$\w+"))),
    ("lisp scheme", _Syntax(re.compile(r"~[^a-zA-Z~%|]*[a-zA-Z~%|]"), signs="~", most_lacking=0)),
)
_BY_FORMAT = {f"{name}{SUFFIX}": syntax for names, syntax in _SYNTAXES for name in names.split()}


@dataclass(frozen=True)
class Rules:
    """What holds for a translation, besides that it has the placeholders of its source.

    Args:
        formats: The formats of the text, as gettext's flags name them.
        plural: For a plural form, the text that its directives are compared with.
        is_rare: The form is for so few numbers that it may lack directives of that text.
        keeps_line_breaks: It begins and ends with a line break where its source does, and only there.
    """

    formats: tuple[str, ...] = ()
    plural: str | None = None
    is_rare: bool = False
    keeps_line_breaks: bool = False


NO_RULES = Rules()


def formats_of(flags: Sequence[str]) -> tuple[str, ...]:
    """Return the formats among the flags of an entry: `c-format`, and not `no-c-format`."""
    return tuple(flag for flag in flags if flag.endswith(SUFFIX) and not flag.startswith(("no-", "possible-")))


def directives(text: str, form: str) -> list[re.Match[str]]:
    """Return the directives of a text of a format."""
    syntax = _BY_FORMAT.get(form, _PERCENT)
    return list(syntax.directive.finditer(_without_escapes(text, syntax)))


def format_problems(source: str, translation: str, form: str, *, is_rare: bool = False) -> list[str]:
    """Return what is wrong with the directives of a translation, each in a few words."""
    wanted, found = ([one[0] for one in directives(text, form)] for text in (source, translation))
    may_lack = is_rare and len(wanted) - len(found) <= _BY_FORMAT.get(form, _PERCENT).most_lacking
    if not _agree(wanted, found, may_lack=may_lack):
        return [f"its directives are {' '.join(found) or 'none'}, and not {' '.join(wanted) or 'none'}"]
    stray = strays(translation, form)
    return [f"a '{stray[0][0]}' begins no directive"] if stray and not strays(source, form) else []


def strays(text: str, form: str) -> list[re.Match[str]]:
    """Return the signs of a text that should begin a directive, and do not."""
    syntax = _BY_FORMAT.get(form, _PERCENT)
    if not syntax.signs:
        return []
    hidden = syntax.directive.sub(lambda one: "\0" * len(one[0]), _without_escapes(text, syntax))
    return list(re.finditer(f"[{re.escape(syntax.signs)}]", hidden))


def _without_escapes(text: str, syntax: _Syntax) -> str:
    """Return a text of the same length in which nothing is escaped."""
    return syntax.escapes.sub("\0\0", text) if syntax.escapes else text


def _agree(wanted: Sequence[str], found: Sequence[str], *, may_lack: bool) -> bool:
    """Return whether directives are those that are wanted; some of them may be lacking.

    Named and numbered ones may change their order. Numbers must not leave out one: `%2$s` needs a `%1$s`.
    """
    if all(map(_NAMED.match, (*wanted, *found))):
        return set(found) <= set(wanted) if may_lack else sorted(found) == sorted(wanted)
    if all(map(_NUMBERED.match, (*wanted, *found))):
        wanted, found = sorted(wanted), sorted(found)
    return list(found) == list(wanted[: len(found)] if may_lack else wanted)
