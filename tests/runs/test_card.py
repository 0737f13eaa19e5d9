"""The card of a run says what it was made of, in tables that stay tables."""

import platform
from importlib.metadata import version

from manyheads.config.reading import parse_recipe
from manyheads.runs.card import card_text, versions

RECIPE = parse_recipe("name: test\ndata: {train: {task: copy}}\n")


def test_versions_name_every_package_it_depends_on():
    found = versions()
    assert found["python"] == platform.python_version()
    assert found["torch"] == version("torch")
    assert {"manyheads", "numpy", "sentencepiece", "safetensors", "sacrebleu"} <= set(found)
    assert "pytest" not in found
    assert "not installed" not in found.values()


def test_a_card_has_facts_scores_and_versions():
    text = card_text(RECIPE, facts={"pairs": "5", "data": "a|b\nc"}, scores={"bleu": "41.00 (sig|nature)"})
    assert text.startswith("# test\n")
    assert "| pairs | 5 |" in text
    assert "| data | a\\|b c |" in text
    assert "| bleu | 41.00 (sig\\|nature) |" in text
    assert f"| torch | {version('torch')} |" in text


def test_a_card_without_scores_says_so():
    assert "Not validated yet." in card_text(RECIPE, facts={}, scores={})
