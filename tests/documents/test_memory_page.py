"""The page on memory: its snippet runs, and its last line is what the comment says. Its recipes are comparable."""

import re
from pathlib import Path

from manyheads.config.reading import load_recipe
from manyheads.config.tasks.language_model import LanguageModelConfig
from manyheads.models.build import build_model

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")
COMPARED = ("wikitext2-plain", "wikitext2-xl", "wikitext2-compressive")


def test_the_snippet_is_true():
    (snippet,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    *lines, last = snippet.strip().splitlines()
    expression, comment = last.split("  # ")
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    assert str(eval(expression, names)) == comment


def test_the_recipes_that_are_compared_differ_in_their_memory_alone():
    recipes = [load_recipe(ROOT / "recipes" / f"{name}.yaml") for name in COMPARED]
    models = [build_model(LanguageModelConfig(model=one.model, vocabulary=100), device="meta") for one in recipes]
    assert len({sum(weights.numel() for weights in model.parameters()) for model in models}) == 1
    assert len({one.training.model_dump_json() for one in recipes}) == 1
    plain, xl, compressive = recipes
    seen = [xl.data.length + xl.model.memory, compressive.data.length + compressive.model.memory]
    assert plain.data.length == seen[0] == seen[1] + compressive.model.compressed
    assert {(one.model.dropout, one.tokenizer.kind) for one in recipes} == {(plain.model.dropout, "words")}
    assert plain.model.attention.dropout == xl.model.attention_dropout == compressive.model.attention_dropout
