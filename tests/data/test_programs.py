"""Programs print what Python prints for the same program."""

from __future__ import annotations

import re

import pytest

from manyheads.data.generated import task
from manyheads.errors import ManyheadsError


def in_python(source: str, modulus: int) -> int:
    """Return what a program prints, by translating it into Python."""
    lines, indent = ["a = b = c = 0"], 0
    words = re.findall(
        r"if (\w+) ([<>=]) (\w+) \{|repeat (\d+) \{|\} (else) \{|(\})|(\w+) = (\w+) ([-+*]) (\w+)|print (\w+)", source
    )
    for left, comparison, right, times, other, end, target, one, operator, two, printed in words:
        if other or end:
            indent -= 1
        begin = "    " * indent
        if comparison:
            lines.append(f"{begin}if {left} {comparison.replace('=', '==')} {right}:")
        elif times:
            lines.append(f"{begin}for _ in range({times}):")
        elif other:
            lines.append(f"{begin}else:")
        elif target:
            lines.append(f"{begin}{target} = ({one} {operator} {two}) % {modulus}")
        elif printed:
            lines.append(f"{begin}result = {printed}")
        indent += bool(comparison or times or other)
    names: dict[str, int] = {}
    exec("\n".join(lines), names)
    return names["result"]


@pytest.mark.parametrize(("nesting", "modulus"), [(0, 10), (2, 10), (4, 100)])
def test_a_program_prints_what_python_prints(nesting: int, modulus: int):
    options = {"min_length": 5, "max_length": 12, "nesting": nesting, "modulus": modulus}
    pairs = list(task("programs", **options).pairs("train", count=150))
    assert [int(pair.target) for pair in pairs] == [in_python(pair.source, modulus) for pair in pairs]
    assert len({pair.target for pair in pairs}) > 5


def test_length_and_nesting_are_those_that_are_asked_for():
    for pair in task("programs", min_length=7, max_length=7, nesting=3).pairs("valid", count=100):
        words = pair.source.split()
        statements = sum(words.count(word) for word in ("if", "repeat"))
        statements += len(re.findall(r"(?<!if) \b\w = ", f" {pair.source}"))
        assert statements == 7
        depths = [pair.source[:place].count("{") - pair.source[:place].count("}") for place in range(len(pair.source))]
        assert max(depths) <= 3


@pytest.mark.parametrize(
    "options", [{"nesting": 7}, {"min_length": 0}, {"variables": 27}, {"modulus": 1}, {"min_length": 9}]
)
def test_an_impossible_option_is_refused(options: dict):
    with pytest.raises(ManyheadsError, match="task 'programs', option"):
        task("programs", **options)
