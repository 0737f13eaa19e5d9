"""Alignments: each target token goes with the source token it looks at most, by words and by tokens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from manyheads.config.alignment import AlignmentSettings
from manyheads.errors import ManyheadsError
from manyheads.inspection.alignment import Alignment, align, read_heads
from manyheads.inspection.inspector import Inspector
from manyheads.inspection.views import Everything
from run_folders import make_run

SOURCE = ["▁a", "▁sm", "all", "▁dog", "</s>"]
TARGET = ["▁ein", "▁Hund", "▁klein", "er", "</s>"]


def looking_at(places: list[int]) -> np.ndarray:
    """Return weights [T, S] whose rows look mostly at the given places."""
    weights = np.full((len(places), len(SOURCE)), 0.1, dtype=np.float32)
    weights[np.arange(len(places)), places] = 0.6
    return weights


def seen_with(cross: np.ndarray) -> Everything:
    """Return what an inspector would, with the given cross-attention [L, H, T, S]."""
    nothing = np.zeros((0, 0), dtype=np.float32)
    return Everything("", "", 0.0, 0.0, SOURCE, TARGET, [], [], {"cross": cross}, {}, nothing)


def test_tokens_and_words_are_aligned_as_pharaoh_writes_it():
    aligned = Alignment(SOURCE, TARGET, looking_at([0, 3, 1, 2, 4]))
    assert aligned.pharaoh("token") == "0-0 3-1 1-2 2-3"
    assert aligned.pharaoh("word") == "0-0 2-1 1-2"
    assert aligned.words() == (["a", "small", "dog"], ["ein", "Hund", "kleiner"])


def test_a_word_weighs_the_sum_of_its_source_pieces():
    weights = np.array([[0.4, 0.3, 0.3, 0.0, 0.0]], dtype=np.float32)  # neither piece of `small` is first alone
    aligned = Alignment(SOURCE, ["▁klein"], weights)
    assert aligned.pharaoh("token") == "0-0"
    assert aligned.pharaoh("word") == "1-0"


def test_special_tokens_take_no_part():
    aligned = Alignment(SOURCE, TARGET, looking_at([4, 4, 4, 4, 4]) + np.eye(5, dtype=np.float32) * 0.01)
    assert aligned.pharaoh("token") == "0-0 1-1 2-2 3-3"


def test_an_output_without_an_end_loses_no_token():
    assert Alignment(SOURCE, TARGET[:2], looking_at([0, 3])).pharaoh("token") == "0-0 3-1"


def test_nothing_is_aligned_where_nothing_was_written():
    assert Alignment(SOURCE, ["</s>"], looking_at([0])).pharaoh("word") == ""


def random_cross(layers: int) -> np.ndarray:
    """Return cross-attention [L, 2, T, S] that differs in every row."""
    return np.random.default_rng(3).dirichlet(np.ones(5), size=(layers, 2, 5)).astype(np.float32)


def read_one_later(weights: np.ndarray) -> np.ndarray:
    """Return the row of the step at which each token is the input; the last token is never read."""
    return np.concatenate([weights[1:], weights[-1:]])


def test_chosen_heads_are_averaged_at_the_chosen_step():
    cross = random_cross(2)
    seen = seen_with(cross)
    mean = (cross[0, 0] + cross[1, 1]) / 2
    assert np.allclose(align(seen, [(1, 1), (2, 2)], step="output").weights, mean)
    assert np.allclose(align(seen, [(1, 1), (2, 2)], step="input").weights, read_one_later(mean))


def test_heads_align_where_a_token_is_read_but_in_the_last_layer_where_it_is_written():
    cross = random_cross(2)
    seen = seen_with(cross)
    assert np.allclose(align(seen, [(1, 2)]).weights, read_one_later(cross[0, 1]))
    assert np.allclose(align(seen, [(2, 2)]).weights, cross[1, 1])


@pytest.mark.parametrize(("layers", "middle"), [(1, 0), (2, 0), (3, 1), (6, 2)])
def test_the_middle_layer_aligns_where_nothing_is_chosen(layers, middle):
    cross = random_cross(layers)
    mean = cross[middle].mean(axis=0)
    assert np.allclose(align(seen_with(cross)).weights, mean if layers == 1 else read_one_later(mean))


def test_the_heads_of_the_recipe_align_by_default():
    cross = random_cross(3)
    seen = replace(seen_with(cross), alignment=AlignmentSettings(layer=3, heads=(2,), step="input"))
    assert np.allclose(align(seen).weights, read_one_later(cross[2, 1]))
    assert np.allclose(align(seen, step="output").weights, cross[2, 1])


@pytest.mark.parametrize(("keys", "message"), [({"layer": 4}, "no layer 4.*has 3"), ({"heads": (1, 3)}, "no head 3")])
def test_a_recipe_with_heads_that_the_decoder_does_not_have_is_named(keys, message):
    with pytest.raises(ManyheadsError, match=f"recipe.yaml: decoding.alignment.*{message}"):
        align(replace(seen_with(random_cross(3)), alignment=AlignmentSettings(**keys)))


def test_heads_are_written_as_layer_and_head():
    assert read_heads("2:1") == [(2, 1)]
    assert read_heads("1:3, 2:12") == [(1, 3), (2, 12)]
    for wrong in ("", "1", "1:", "a:b", "1:1,"):
        with pytest.raises(ManyheadsError, match="layer:head"):
            read_heads(wrong)


@pytest.mark.parametrize(
    ("head", "message"), [((3, 1), "no layer 3"), ((0, 1), "no layer 0"), ((2, 3), "no head 3"), ((2, 0), "no head 0")]
)
def test_a_head_that_does_not_exist_is_refused(head, message):
    with pytest.raises(ManyheadsError, match=f"{message}.* counted from 1: 1 to 2"):
        align(seen_with(np.zeros((2, 2, 5, 5), dtype=np.float32)), [head])


def test_the_words_are_those_between_spaces(tmp_path):
    seen = Inspector(make_run(tmp_path / "run").path).everything("15 novembre 2026", target="2026-11-15 is it")
    assert align(seen).words() == (["15", "novembre", "2026"], ["2026-11-15", "is", "it"])
    assert [target for _, target in align(seen).pairs("word")] == [0, 1, 2]
