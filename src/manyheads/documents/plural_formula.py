"""The formula of a catalogue that says which plural form a number takes, in the part of C that gettext reads.

It has `n`, whole numbers, `?:`, `||`, `&&`, `==`, `!=`, `<`, `>`, `<=`, `>=`, `+`, `-`, `*`, `/`, `%`, `!` and
parentheses, with the precedence of C, and computes with unsigned numbers of 64 bits. It is parsed, never executed as
code, and its length and depth have limits.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

LONGEST = 600  # characters; the formula for Breton has 350
DEEPEST = 30  # parentheses, negations and choices inside each other
LARGEST = (1 << 64) - 1

Formula = Callable[[int], int]

_TOKEN = re.compile(r"\s*(\d+|n|\|\||&&|[=!<>]=|[-+*/%<>!?:()])")
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", ">", "<=", ">="), ("+", "-"), ("*", "/", "%"))
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
}


def parse_formula(text: str) -> Formula:
    """Return the function of a formula; a `ValueError` says what is wrong with it.

    The function raises a `ZeroDivisionError` where the formula divides by zero.
    """
    if len(text) > LONGEST:
        raise ValueError(f"it has {len(text):,} characters, and at most {LONGEST} are read")
    parser = _Parser(_tokens(text))
    formula = parser.choice()
    if parser.next is not None:
        raise ValueError(f"'{parser.next}' is not expected there")
    return formula


def _tokens(text: str) -> list[str]:
    """Return the tokens of a formula."""
    tokens, at = [], 0
    end = len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"'{text[at:end].strip()[:20]}' is not part of such formulas")
        tokens.append(found[1])
        at = found.end()
    return tokens


class _Parser:
    """One pass over the tokens of a formula; each method reads one kind of expression."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> str | None:
        """The next token; None at the end."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, *wanted: str) -> str | None:
        """Return the next token if it is one of these, and go past it."""
        token = self.next
        if token not in wanted:
            return None
        self._at += 1
        return token

    def _require(self, wanted: str) -> None:
        """Go past a token that must be there."""
        if self._take(wanted) is None:
            raise ValueError(f"a '{wanted}' is missing")

    def _go_deeper(self) -> None:
        """Count a level, up to the limit."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} levels deep")

    def choice(self) -> Formula:
        """Read an expression with or without `?:`."""
        self._go_deeper()
        formula = self._binary(0)
        if self._take("?"):
            then = self.choice()
            self._require(":")
            formula = _choice(formula, then, self.choice())
        self._depth -= 1
        return formula

    def _binary(self, level: int) -> Formula:
        """Read operations of a level of precedence, from left to right."""
        if level == len(_LEVELS):
            return self._value()
        left = self._binary(level + 1)
        while sign := self._take(*_LEVELS[level]):
            left = _operation(sign, left, self._binary(level + 1))
        return left

    def _value(self) -> Formula:
        """Read `n`, a number, a negation, or an expression in parentheses."""
        if self._take("!"):
            self._go_deeper()
            value = self._value()
            self._depth -= 1
            return lambda n: int(not value(n))
        if self._take("("):
            inner = self.choice()
            self._require(")")
            return inner
        if self._take("n"):
            return lambda n: n
        token = self.next
        if token is None or not token.isdecimal():
            raise ValueError("it ends too early" if token is None else f"'{token}' is not expected there")
        self._at += 1
        number = int(token)
        return lambda _n: number


def _choice(condition: Formula, then: Formula, otherwise: Formula) -> Formula:
    """Return `condition ? then : otherwise`."""
    return lambda n: then(n) if condition(n) else otherwise(n)


def _operation(sign: str, left: Formula, right: Formula) -> Formula:
    """Return an operation on two values."""
    if sign == "||":
        return lambda n: int(bool(left(n) or right(n)))
    if sign == "&&":
        return lambda n: int(bool(left(n) and right(n)))
    compute = _OPERATIONS[sign]
    return lambda n: int(compute(left(n), right(n))) & LARGEST
