"""Results as notebooks show them: everything is there, once, and whatever a token spells is text."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest

from manyheads import Translator
from manyheads.inspection.alignment import align
from manyheads.inspection.beam_tree import BeamTree, Leaf, Node
from manyheads.inspection.figures.beam import beam_figure
from manyheads.inspection.figures.steps import steps_figure
from manyheads.inspection.inspector import Inspector
from manyheads.inspection.views import Everything
from run_folders import make_run

TEXT = "15 mai 2031"
EVIL = "<script>alert('1')</script>&"


@pytest.fixture(scope="module")
def inspector(tmp_path_factory) -> Inspector:
    return Inspector(make_run(tmp_path_factory.mktemp("runs") / "run", decoder_layers=2).path, "cpu")


@pytest.fixture(scope="module")
def seen(inspector) -> Everything:
    return inspector.everything(TEXT)


def elements(result) -> ElementTree.Element:
    """Return what a notebook would parse; it must be well-formed."""
    html = result._repr_html_().replace("&nbsp;", " ")
    return ElementTree.fromstring(f"<div>{html}</div>")


def weights(parsed: ElementTree.Element) -> list[float]:
    return [float(cell.attrib["title"]) for cell in parsed.iter("td") if "title" in cell.attrib]


def text_of(parsed: ElementTree.Element) -> str:
    return unescape("".join(parsed.itertext()))


def test_a_view_shows_the_weights_of_every_head(seen):
    view = seen.view("cross", 1)
    parsed = elements(view)
    assert np.allclose(np.array(weights(parsed)).reshape(view.weights.shape), view.weights, atol=6e-4)
    assert [one.text for one in parsed.iter("figcaption")] == [f"head {number}" for number in range(1, view.heads + 1)]
    assert "cross-attention, layer 1" in text_of(parsed)


def test_everything_shows_the_texts_and_the_last_layer(seen):
    parsed = elements(seen)
    assert TEXT in text_of(parsed) and seen.translation in text_of(parsed)
    assert weights(parsed) == weights(elements(seen.view("cross")))
    read = replace(seen, translation="", attention={"encoder": seen.attention["encoder"]})  # as of a BERT
    assert "encoder self-attention, layer 2" in text_of(elements(read))


def test_an_alignment_frames_what_is_looked_at_most(seen):
    aligned = align(seen)
    parsed = elements(aligned)
    assert np.allclose(np.array(weights(parsed)).reshape(aligned.weights.shape), aligned.weights, atol=6e-4)
    rows = [list(row.iter("td")) for row in parsed.iter("tr")][1:]
    framed = {
        (column, row)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
        if "border" in cell.attrib["style"]
    }
    assert framed == set(aligned.pairs("token"))


def test_a_step_shows_its_candidates(inspector):
    step = next(inspector.steps(TEXT, candidates=3))
    shown = text_of(elements(step))
    for one in step.candidates:
        assert f"{one.probability:.1%}" in shown


def test_steps_show_themselves_as_a_whole_and_stay_where_they_are(inspector):
    steps = inspector.steps(TEXT, candidates=3)
    first = next(steps)
    parsed = elements(steps)
    *others, done = steps
    shown = [next(cell.text for cell in row) for row in parsed.iter("tr")][1:]
    assert shown == [str(step.step) for step in (first, *others)]
    assert done.translation in text_of(parsed)


def test_the_tree_has_every_node_and_every_edge(inspector):
    tree = inspector.beam(TEXT, beam=3)
    parsed = elements(tree)
    assert len(list(parsed.iter("rect"))) == len(tree.nodes)
    assert len(list(parsed.iter("line"))) == len(tree.nodes) - 1
    assert all(one.text in text_of(parsed) for one in tree.hypotheses)
    layout = tree.layout()
    assert len(set(layout.values())) == len(tree.nodes)
    for node in tree.nodes:
        assert layout[node.id][0] == node.step
        above = [one for one in tree.nodes if one.step == node.step and layout[one.id][1] < layout[node.id][1]]
        assert all(one.log_probability >= node.log_probability for one in above)


def test_steps_and_the_tree_are_drawn(inspector):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    *steps, _ = inspector.steps(TEXT, candidates=3)
    left, right = steps_figure(steps).axes
    assert np.allclose(left.images[0].get_array()[:, 0], [step.probability for step in steps])
    assert np.allclose(right.images[0].get_array(), [step.cross.max(axis=0) for step in steps])
    tree = inspector.beam(TEXT, beam=3)
    (axes,) = beam_figure(tree).axes
    assert len(axes.texts) == len(tree.nodes) and len(axes.lines) == len(tree.nodes) - 1


def test_a_translation_shows_its_candidates(inspector):
    (found,) = Translator(inspector.folder).translations([TEXT], n_best=3, beam=3)
    shown = text_of(elements(found))
    assert TEXT in shown
    for one in found.candidates:
        assert f"{one.score:.3f}" in shown and one.text in shown


def test_whatever_a_token_spells_is_text(inspector, seen):
    (found,) = Translator(inspector.folder).translations([TEXT])
    odd = replace(found, source=EVIL, warning=EVIL, candidates=[replace(found.candidates[0], text=EVIL)])
    step = replace(next(inspector.steps(TEXT)), token=EVIL)
    everything = replace(seen, text=EVIL, translation=EVIL, source_tokens=[EVIL] * len(seen.source_tokens))
    tree = BeamTree(EVIL, 1, [Node(0, None, 0, "<b>", 0.0, "best")], [Leaf(EVIL, 0.0, 0.0, 0)])
    for result in (odd, step, everything, everything.view("cross"), align(everything), tree):
        html = result._repr_html_()
        assert not re.search(r"<(script|b>$)", html) and "&lt;" in html
        assert not list(elements(result).iter("script"))
