"""Learning to execute (Zaremba and Sutskever 2014): a program in a small language becomes what it prints.

    repeat 3 { a = a + 2 } if a > b { b = a - 1 } else { b = 4 } print b          →  5

A statement is an assignment, a choice or a loop. Every variable is 0 at first, and every value is taken modulo
`modulus`, so that it stays small. All symbols have spaces between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import ClassVar, TypeAlias

from manyheads.data.generated.options import check_range, check_whole_number
from manyheads.data.generated.random_examples import Split, collect, pick, random_below, seeded_random, split_of
from manyheads.data.generated.sequences import alphabet
from manyheads.data.text.records import Pair

OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "=": lambda left, right: left == right,
}
NESTED = 0.5  # share of choices and loops among the statements, where there is room for one
MOST_TIMES = 4  # that a loop is repeated
MOST_NESTING = 6  # so that no program takes long: its statements run at most 4^6 times

Values: TypeAlias = dict[str, int]


@dataclass(frozen=True)
class Assignment:
    """`a = b + 2`"""

    target: str
    left: str
    operator: str
    right: str

    def words(self) -> str:
        """Return the statement as text."""
        return f"{self.target} = {self.left} {self.operator} {self.right}"

    def run(self, values: Values, modulus: int) -> None:
        """Change the variable."""
        found = OPERATORS[self.operator](_value(self.left, values), _value(self.right, values))
        values[self.target] = found % modulus


@dataclass(frozen=True)
class Choice:
    """`if a < b { … } else { … }`"""

    left: str
    comparison: str
    right: str
    then: Block
    other: Block

    def words(self) -> str:
        """Return the statement as text; without other statements there is no `else`."""
        begin = f"if {self.left} {self.comparison} {self.right} {{ {_text(self.then)} }}"
        return f"{begin} else {{ {_text(self.other)} }}" if self.other else begin

    def run(self, values: Values, modulus: int) -> None:
        """Run one of the two blocks."""
        holds = COMPARISONS[self.comparison](_value(self.left, values), _value(self.right, values))
        _run(self.then if holds else self.other, values, modulus)


@dataclass(frozen=True)
class Loop:
    """`repeat 3 { … }`"""

    times: int
    body: Block

    def words(self) -> str:
        """Return the statement as text."""
        return f"repeat {self.times} {{ {_text(self.body)} }}"

    def run(self, values: Values, modulus: int) -> None:
        """Run the block as often as it says."""
        for _ in range(self.times):
            _run(self.body, values, modulus)


Block: TypeAlias = "tuple[Assignment | Choice | Loop, ...]"


@dataclass(frozen=True)
class Programs:
    """Execute programs of `min_length` to `max_length` statements, blocks inside blocks up to `nesting` levels deep.

    There are `variables` variables, and numbers are below `modulus`.
    """

    name: ClassVar[str] = "programs"
    min_length: int = 1
    max_length: int = 6
    nesting: int = 2
    variables: int = 3
    modulus: int = 10

    def __post_init__(self) -> None:
        check_range(
            self.name, least=("min_length", self.min_length), most=("max_length", self.max_length), low=1, high=1000
        )
        check_whole_number(self.name, "nesting", self.nesting, low=0, high=MOST_NESTING)
        check_whole_number(self.name, "variables", self.variables, low=1, high=26)
        check_whole_number(self.name, "modulus", self.modulus, low=2, high=1000)

    def pairs(self, split: Split, *, count: int, seed: int = 1) -> Iterator[Pair]:
        """Return `count` pairs of the split; the same arguments give the same pairs everywhere."""
        return collect(self._proposals(split, seed), task=self.name, split=split, count=count)

    def _proposals(self, split: Split, seed: int) -> Iterator[Pair | None]:
        """Yield random pairs without end; None for a pair of another split."""
        random = seeded_random(self.name, split, seed)
        known = alphabet(self.variables)
        while True:
            length = self.min_length + random_below(random, self.max_length - self.min_length + 1)
            block, printed = self._block(random, length, self.nesting), pick(random, known)
            source = f"{_text(block)} print {printed}"
            if split_of(source) != split:
                yield None
                continue
            values = dict.fromkeys(known, 0)
            _run(block, values, self.modulus)
            yield Pair(source, str(values[printed]))

    def _block(self, random: Random, length: int, nesting: int) -> Block:
        """Return a random block of `length` statements, those of the blocks in it included."""
        statements: list[Assignment | Choice | Loop] = []
        while length > 0:
            inside = 0
            if nesting > 0 and length > 1 and random.random() < NESTED:
                inside = 1 + random_below(random, length - 1)
                statements.append(self._nested(random, inside, nesting - 1))
            else:
                target, operator = pick(random, alphabet(self.variables)), pick(random, tuple(OPERATORS))
                statements.append(Assignment(target, self._operand(random), operator, self._operand(random)))
            length -= 1 + inside
        return tuple(statements)

    def _nested(self, random: Random, length: int, nesting: int) -> Choice | Loop:
        """Return a random choice or loop with `length` statements inside."""
        if random.random() < 0.5:
            return Loop(2 + random_below(random, MOST_TIMES - 1), self._block(random, length, nesting))
        then = 1 + random_below(random, length)
        blocks = self._block(random, then, nesting), self._block(random, length - then, nesting)
        return Choice(
            pick(random, alphabet(self.variables)), pick(random, tuple(COMPARISONS)), self._operand(random), *blocks
        )

    def _operand(self, random: Random) -> str:
        """Return a variable or a number, each as often as the other."""
        if random.random() < 0.5:
            return pick(random, alphabet(self.variables))
        return str(random_below(random, self.modulus))


def _value(operand: str, values: Values) -> int:
    """Return the number that an operand stands for."""
    return int(operand) if operand.isdecimal() else values[operand]


def _text(block: Block) -> str:
    """Return the statements of a block as text."""
    return " ".join(statement.words() for statement in block)


def _run(block: Block, values: Values, modulus: int) -> None:
    """Run the statements of a block, one after the other."""
    for statement in block:
        statement.run(values, modulus)
