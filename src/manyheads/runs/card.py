"""`card.md`: what a model was trained on, how, what it scores, and with which versions."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manyheads.config.tasks import Recipe

_TRAINING = re.compile(r"extra == ['\"]train['\"]")


def versions() -> dict[str, str]:
    """Return the versions of Python, of this package and of everything that training depends on."""
    installed = {"python": platform.python_version(), "manyheads": _version("manyheads")}
    for requirement in requires("manyheads") or []:
        name, _, condition = requirement.partition(";")
        if not condition or _TRAINING.search(condition):
            package = name.strip().split("[")[0].split(">")[0].split("<")[0].split("=")[0].strip()
            installed[package] = _version(package)
    return installed


def _version(package: str) -> str:
    """Return an installed package's version."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def card_text(recipe: Recipe, *, facts: Mapping[str, str], scores: Mapping[str, str]) -> str:
    """Return the card: facts about data and model, scores with their signature, and versions."""
    sections = [
        f"# {recipe.name}\n",
        _table("Model and data", facts),
        _table("Scores", scores) if scores else "## Scores\n\nNot validated yet.\n",
        _table("Versions", versions()),
        "The recipe beside this file, `recipe.yaml`, has every setting.\n",
    ]
    return "\n".join(sections)


def text_of(name: str, *, facts: Mapping[str, str]) -> str:
    """Return the card of an imported model: facts about it, and versions."""
    return "\n".join([f"# {name}\n", _table("Model", facts), _table("Versions", versions())])


def _table(title: str, rows: Mapping[str, str]) -> str:
    """Return a section with a two-column table."""
    lines = [f"| {name} | {_cell(value)} |" for name, value in rows.items()]
    return "\n".join([f"## {title}\n", "| | |", "|---|---|", *lines, ""])


def _cell(value: str) -> str:
    """Return a value escaped for a cell of a Markdown table."""
    return value.replace("|", "\\|").replace("\n", " ")
