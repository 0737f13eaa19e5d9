"""The docstring of every package lists its modules and sub-packages, and nothing that does not exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import manyheads

ROOT = Path(manyheads.__file__).parent
NAME = re.compile(r"`(\w+)/?`")


def contents(package: Path) -> set[str]:
    """Return the names of the modules and sub-packages in a package."""
    modules = {file.stem for file in package.glob("*.py") if not file.stem.startswith("__")}
    return modules | {init.parent.name for init in package.glob("*/__init__.py")}


def docstring(package: Path) -> str:
    """Return the docstring of a package without importing it."""
    return ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""


def first_column(text: str) -> set[str]:
    """Return the names in the first column of the tables of a docstring."""
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    return {name for row in rows for name in NAME.findall(row)}


PACKAGES = sorted(init.parent for init in ROOT.rglob("__init__.py") if len(contents(init.parent)) > 1)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.relative_to(ROOT.parent).as_posix())
def test_a_package_lists_what_it_contains(package: Path):
    text = docstring(package)
    assert contents(package) <= set(NAME.findall(text)), "add these to the table"
    assert first_column(text) <= contents(package), "remove these from the table"
    assert first_column(text), "there must be a table"
