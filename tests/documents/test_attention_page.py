"""The page on attention: its recipes build models, its snippet has the shapes it says, its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
import yaml

from manyheads.config.models.attention import AnyAttention
from manyheads.config.models.positions import AnyPositions
from manyheads.config.reading import build_recipe, load_recipe, merged
from manyheads.config.unions import members_by_kind

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "attention.md").read_text(encoding="utf-8")
RECIPES = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
(SNIPPET,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
BASE = yaml.safe_load((ROOT / "recipes" / "multi30k-tiny.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_of_the_page_is_valid(recipe: str):
    build_recipe(merged(BASE, yaml.safe_load(recipe)))


def test_the_command_of_the_page_has_a_valid_recipe():
    (changes,) = re.findall(r"^\$ manyheads train (\S+) (.*)$", PAGE, flags=re.MULTILINE)
    load_recipe(ROOT / changes[0], re.findall(r"--set (\S+)", changes[1]))


def test_every_kind_has_its_place():
    shown = {yaml.safe_load(recipe)["model"].get("attention", {}).get("kind") for recipe in RECIPES}
    assert set(members_by_kind(AnyAttention)) <= shown
    for kind in members_by_kind(AnyPositions):
        assert PAGE.count(f"\n| `{kind}` | ") == 2  # what it does, and its equation


@pytest.mark.parametrize(
    "table", sorted((ROOT / "benchmarks" / "results").glob("attention_*.md")), ids=lambda p: p.stem
)
def test_the_figures_are_the_recorded_ones(table: Path):
    assert table.read_text(encoding="utf-8").strip() in PAGE


def test_the_snippet_has_the_shapes_that_it_says():
    torch.manual_seed(1)
    scope: dict[str, object] = {}
    lines = SNIPPET.splitlines()
    exec("\n".join(lines), scope)
    told = [line.split("#") for line in lines if ".shape" in line]
    for code, comment in told:
        shape = re.search(r"\[(.*?)\]", comment)
        assert shape and list(eval(code, scope)) == [int(size) for size in shape[1].split(",")]
    assert len(told) == 2


def test_every_link_leads_somewhere():
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.*)$", PAGE, re.M)
    }
    for link in re.findall(r"\]\((.*?)\)", PAGE):
        if link.startswith("#"):
            assert link[1:] in headings
        elif not link.startswith("http"):
            assert (ROOT / "docs" / link).exists(), link
