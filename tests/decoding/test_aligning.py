"""The heads and the step that the recipe names align words, the same on both engines and in the inspector."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manyheads import Inspector, ManyheadsError, Translator
from manyheads.config.reading import load_recipe, recipe_text
from manyheads.decoding.aligning import rows_at
from manyheads.exchange.ctranslate2 import export_ctranslate2
from manyheads.inspection.alignment import Alignment, align
from manyheads.runs.folder import RunFolder
from run_folders import make_run, pairs

CHOICES: dict[str, dict[str, Any]] = {
    "by default": {},
    "one head, read": {"layer": 1, "heads": [4], "step": "input"},
    "two heads, written": {"layer": 2, "heads": [4, 2], "step": "output"},
    "the last layer": {"layer": 3, "heads": [3]},
}
TEXTS = [pair.source for pair in pairs(12)]


def aligning(path: Path, **alignment: Any) -> RunFolder:
    """Return a run with three decoder layers whose recipe names the heads that align."""
    run = make_run(path, decoder_layers=3)
    recipe = load_recipe(run.recipe_file)
    decoding = recipe.decoding.model_copy(update={"alignment": type(recipe.decoding.alignment)(**alignment)})
    run.recipe_file.write_text(recipe_text(recipe.model_copy(update={"decoding": decoding})), encoding="utf-8")
    return run


def test_a_token_is_read_one_step_after_it_was_written_and_the_last_one_never():
    assert rows_at("output", ["a", "b", "c"]) == ["a", "b", "c"]
    assert rows_at("input", ["a", "b", "c"]) == ["b", "c", "c"]
    assert rows_at("input", []) == []


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("keys", CHOICES.values(), ids=CHOICES)
def test_both_engines_and_the_inspector_look_at_the_same(tmp_path: Path, keys: dict[str, Any], beam: int):
    run = aligning(tmp_path / "run", **keys)
    ours, theirs = (
        [one.candidates[0] for one in Translator(run.path, engine=engine).translations(TEXTS, **how)]
        for engine in ("torch", "ctranslate2")
        for how in ({"alignments": True, "beam": beam, "length_penalty": 0.0},)
    )
    inspector, compared = Inspector(run.path, device="cpu"), 0
    for text, one, other in zip(TEXTS, ours, theirs, strict=True):
        seen = inspector.everything(text, tokens=one.tokens)
        assert np.allclose(one.attention, align(seen).weights, atol=1e-5)
        if one.tokens == other.tokens:  # a beam may end elsewhere, as docs/exchange.md says
            assert np.allclose(one.attention, other.attention, atol=1e-4)
            compared += 1
    assert compared > len(TEXTS) / 2


def test_the_order_of_heads_in_an_export_changes_no_score(tmp_path: Path):
    ctranslate2 = pytest.importorskip("ctranslate2")
    run = aligning(tmp_path / "run", layer=2, heads=[4])
    export_ctranslate2(run, tmp_path / "there")
    opened = ctranslate2.Translator(str(tmp_path / "there"), device="cpu")
    source, target, end = run.tokenizers().source, run.tokenizers().target, run.config().end
    scored = opened.score_batch(
        [source.pieces([*source.encode(one.source), end]) for one in pairs(6)],
        [target.pieces(target.encode(one.target)) for one in pairs(6)],
        max_input_length=0,
    )
    expected = Translator(run.path, engine="torch").score(*zip(*pairs(6), strict=True))
    for one, other in zip(scored, expected, strict=True):
        assert np.allclose(one.log_probs, other, atol=1e-4)


@pytest.mark.parametrize("engine", ["torch", "ctranslate2"])
def test_heads_that_the_decoder_does_not_have_get_a_sentence(tmp_path: Path, engine: str):
    run = aligning(tmp_path / "run", layer=4)
    with pytest.raises(ManyheadsError, match=r"decoding\.alignment\.layer: there is no layer 4.*has 3"):
        Translator(run.path, engine=engine).translations(TEXTS, alignments=True)


def test_the_model_of_the_package_aligns_a_word_that_moves():
    translator = Translator(engine="ctranslate2")
    (found,) = translator.translations(["Gestern habe ich das Buch gelesen."], to="en", alignments=True)
    (best,) = found.candidates
    source, target = translator.tokenizers.source, translator.tokenizers.target
    aligned = Alignment(
        [*source.pieces(source.encode(found.source)), "</s>"], target.pieces(best.tokens), np.asarray(best.attention)
    )
    words = {(aligned.words()[0][i], aligned.words()[1][j]) for i, j in aligned.pairs()}
    assert words >= {("Gestern", "yesterday."), ("Buch", "book"), ("gelesen.", "read")}
