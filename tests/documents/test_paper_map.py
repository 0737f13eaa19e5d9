"""docs/paper.md: every link points at the line that defines what it names, and every room of the model is in it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")

_spec = importlib.util.spec_from_file_location("refresh_lines", ROOT / "docs" / "refresh_lines.py")
assert _spec and _spec.loader
refresh_lines = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(refresh_lines)

LINKS = [(match["symbol"], match["file"], int(match["line"])) for match in refresh_lines.LINK.finditer(PAGE)]


@pytest.mark.parametrize(("symbol", "file", "line"), LINKS)
def test_a_link_points_at_its_symbol(symbol, file, line):
    assert refresh_lines.definitions(ROOT / file).get(symbol) == line, "run: python docs/refresh_lines.py"


def test_every_file_of_the_model_is_on_the_map():
    rooms = ("positions", "attention", "layers")
    files = {str(path.relative_to(ROOT)) for room in rooms for path in (ROOT / "src/manyheads" / room).glob("*.py")}
    helpers = {
        f"src/manyheads/{name}.py"
        for name in (
            "attention/cache",
            "attention/mechanism",
            "attention/observer",
            "attention/pattern",
            "attention/scheduled",
            "layers/dropout",
            "positions/limits",
        )
    }
    expected = {file for file in files if not file.endswith("__init__.py")} - helpers
    assert expected <= {file for _, file, _ in LINKS}


def test_the_reference_of_recipe_keys_is_current():
    from manyheads.config.tasks.language_model import LanguageModelRecipe
    from manyheads.config.tasks.masked_words import MaskedWordsRecipe
    from manyheads.config.template import reference_page

    assert reference_page() in (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    for recipe, page in ((MaskedWordsRecipe, "bert"), (LanguageModelRecipe, "language-models")):
        table = reference_page(recipe, without=("name", "seed", "training"))
        assert table in (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"), page
