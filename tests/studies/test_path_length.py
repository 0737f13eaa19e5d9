"""The path between the ends of a sequence: what the graph of a model says, known ways, and how they grow."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from manyheads.config.models.bytenet import ByteNetSettings
from manyheads.config.models.conv_s2s import ConvS2SSettings
from manyheads.config.models.language_model import LanguageModelSettings
from manyheads.layers.cells import GRU
from manyheads.layers.recurrence import read
from manyheads.studies.bench import run_study
from manyheads.studies.graph import Graph, Ways
from manyheads.studies.path_length import KINDS, REACH, Ends, Growth, PathLength, connected
from manyheads.studies.study import Measured


class Shorter(PathLength):
    def items(self, *, quick: bool) -> list[Ends]:
        return [Ends(kind, length) for kind in KINDS for length in (5, 13, 29)]


def test_the_growths_of_the_papers_table_are_found(tmp_path: Path):
    result = run_study(Shorter(), out=tmp_path, tell=lambda _: None)
    (table,) = result.conclusion.tables
    assert {row[0]: row[2] for row in table.rows} == {
        "self-attention": "O(1)",
        "recurrent": "O(n)",
        "window": f"O(n/{REACH})",
        "convolution": f"O(n/{REACH})",
        "dilated convolutions": "O(log n)",
    }


@pytest.mark.parametrize("length", [4, 13, 21])
def test_what_is_measured_is_what_the_settings_of_models_tell(length: int):
    sizes = {"width": 8, "heads": 2, "feed_forward": 8}
    window = LanguageModelSettings(layers=40, attention={"kind": "window", "window": REACH}, **sizes)
    assert connected(Ends("window", length), 1).layers == window.attention.layers_across(length, causal=True)
    for kind, settings in (("convolution", ConvS2SSettings), ("dilated convolutions", ByteNetSettings)):
        found = connected(Ends(kind, length), 1)
        for layers in (found.layers - 1, found.layers):
            if layers:
                shape = settings(
                    width=8,
                    encoder_layers=500,
                    decoder_layers=layers,
                    decoder_kernel=REACH + 1,
                    **({"largest_dilation": 32} if kind == "dilated convolutions" else {}),
                )
                assert (shape.distances(length).path is None) == (layers < found.layers)


def test_ways_through_a_graph_are_counted_position_by_position():
    """A layer that adds to each position the one before: from position 3 to position 0 it takes three of them."""

    class Shift(nn.Module):
        def forward(self, states: torch.Tensor) -> torch.Tensor:
            return states + torch.cat((torch.zeros_like(states[:, :1]), states[:, :-1]), dim=1)

    embedding, layers, graph = nn.Embedding(5, 3), [Shift() for _ in range(4)], Graph()
    for module in (embedding, *layers):
        graph.cut(module)
    states = embedding(torch.tensor([[0, 1, 2, 3]]))
    outputs = []
    for layer in layers:
        states = layer(states)
        outputs.append(states[0, -1])
    assert graph.ways(outputs[1]) == Ways(None, 2)
    assert graph.ways(outputs[2]) == Ways(3, 3)
    assert graph.ways(outputs[3]) == Ways(4, 4)


def test_a_shortcut_is_found_beside_the_longest_way():
    embedding, cell, graph = nn.Embedding(5, 3), GRU(3, 3), Graph()
    graph.cut(embedding)
    graph.cut_cell(cell)
    embedded = embedding(torch.tensor([[0, 1, 2, 3, 4]]))
    states, _ = read(cell, embedded)
    assert graph.ways(states[0, -1]) == Ways(5, 5)
    assert graph.ways(states[0, -1] + embedded[0, 0]) == Ways(0, 5)


@pytest.mark.parametrize(("paths", "shown"), [((2, 2, 2), "O(1)"), ((8, 16, 32), "O(n)"), ((3, 4, 5), "O(log n)")])
def test_a_growth_is_named_by_the_line_that_fits(paths: tuple[int, ...], shown: str):
    measured = [
        Measured(Ends("window", length), {"path": [path], "sequential": [path]})
        for length, path in zip((8, 16, 32), paths, strict=True)
    ]
    assert Growth.of(measured).shown == shown
