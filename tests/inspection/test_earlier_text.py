"""What language models read of their memories: shares that sum to one, of what the weights themselves say."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from helpers import prepared, stir
from manyheads.attention.recording import record_attention
from manyheads.config.models.compressive import CompressiveSettings
from manyheads.config.models.transformer_xl import TransformerXLSettings
from manyheads.config.reading import build_recipe
from manyheads.errors import ManyheadsError
from manyheads.inspection.earlier_text import read_earlier_text
from manyheads.inspection.inspector import Inspector
from manyheads.models.compressive import CompressiveTransformer
from manyheads.models.interface import RememberingLanguageModel
from manyheads.models.transformer_xl import TransformerXL
from manyheads.runs.folder import RunFolder
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

README = Path(__file__).resolve().parents[2] / "README.md"
SIZES: dict[str, Any] = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32, "dropout": 0.0}
COMPRESSIVE = {"memory": 6, "compressed": 4, "rate": 3}
VOCABULARY, MEMORY = 20, 9
IDS = torch.randint(VOCABULARY, (50,), generator=torch.Generator().manual_seed(1)).tolist()


def xl() -> TransformerXL:
    settings = TransformerXLSettings(**SIZES, memory=MEMORY)
    return stir(TransformerXL.from_settings(settings, vocabulary=VOCABULARY), seed=2, gain=2.0).eval()


def compressive(rate: int = 3, compressed: int = 4) -> CompressiveTransformer:
    settings = CompressiveSettings(**SIZES, memory=6, compressed=compressed, rate=rate, compression="mean")
    return stir(CompressiveTransformer.from_settings(settings, vocabulary=VOCABULARY), seed=2, gain=2.0).eval()


@pytest.mark.parametrize("length", [1, 7, 50])
@pytest.mark.parametrize("make", [xl, compressive])
def test_all_attention_is_counted_once(make: Callable[[], RememberingLanguageModel[Any]], length: int):
    with torch.inference_mode():
        view = read_earlier_text(make(), IDS, length=length)
    for shares in (view.shares, view.distances):
        assert np.allclose(shares.sum(axis=1), 1.0, atol=1e-5)
    assert view.heads == ["1:1", "1:2", "2:1", "2:2"]
    assert (view.shares[:, 0] > 0).all()
    assert (view.shares[:, 1] > 0).all() == (length < len(IDS))
    assert (view.shares[:, 2] > 0).all() == (make is compressive)


def test_shares_and_distances_are_those_of_one_long_pass():
    """The text at once has the same weights, in one matrix whose rows and columns are positions."""
    model, length = xl(), 8
    with torch.inference_mode():
        view = read_earlier_text(model, IDS, length=length)
        with record_attention(model) as recording:
            model.decode(torch.tensor([IDS]))
    weights = torch.cat([one[0] for one in recording.values()]).numpy()
    places = np.arange(len(IDS))
    back, begins = places[:, None] - places, places // length * length
    in_segment = (weights * (places >= begins[:, None])).sum(axis=(1, 2)) / len(IDS)
    assert np.allclose(view.shares[:, 0], in_segment, atol=1e-5)
    assert np.allclose(view.back, (weights * np.abs(back)).sum(axis=(1, 2)) / len(IDS), atol=1e-4)
    for column, (first, last) in enumerate(((0, 0), (1, 1), (2, 3), (4, 7), (8, 15))):
        within = (weights * ((back >= first) & (back <= last))).sum(axis=(1, 2)) / len(IDS)
        assert np.allclose(view.distances[:, column], within, atol=1e-5)
    assert view.ranges == ["0", "1", "2–3", "4–7", "8–15"]


def test_at_a_rate_of_one_what_is_compressed_is_as_far_back_as_it_was():
    one, other = compressive(rate=1, compressed=3), xl()
    other.load_state_dict(one.state_dict())
    with torch.inference_mode():  # in pieces that the memory holds, so that nothing of the piece itself is compressed
        found, expected = (read_earlier_text(model, IDS, length=one.memory) for model in (one, other))
    assert np.allclose(found.back, expected.back, atol=1e-4)
    assert np.allclose(found.distances, expected.distances, atol=1e-5)
    assert np.allclose(found.shares[:, 0], expected.shares[:, 0], atol=1e-5)
    assert np.allclose(found.shares[:, 1:].sum(axis=1), expected.shares[:, 1], atol=1e-5)


def trained(folder: Path, model: dict[str, Any]) -> RunFolder:
    values = {
        "task": "language_model",
        "data": {"train": str(README), "length": 16},
        "tokenizer": {"kind": "characters"},
        "model": {**SIZES, **model},
        "training": {"steps": 1, "batch_tokens": 128, "threads": 1},
        "validation": {"every": 9, "samples": 0},
    }
    run = RunFolder(folder)
    Trainer(prepared(build_recipe(values), run), device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return trained(tmp_path_factory.mktemp("earlier") / "run", {"kind": "compressive", **COMPRESSIVE})


TEXT = "A person with two text files and a laptop gets, in one command, a model."


def test_it_is_printed_and_drawn(command: Callable[..., Any], run: RunFolder, tmp_path: Path):
    words = ["inspect", run.path, TEXT, "--show", "memory"]
    command(*words).succeeds()
    lines = command(*words).out.splitlines()
    assert lines[0].split() == ["head", "segment", "memory", "compressed", "tokens", "back"]
    assert [line.split()[0] for line in lines[1:]] == ["1:1", "1:2", "2:1", "2:2"]
    values = json.loads(command(*words, "--json").out)
    assert (values["tokens"], values["length"]) == (len(TEXT), 16)
    command(*words, "--out", tmp_path / "a.html").succeeds()
    assert "compressed" in (tmp_path / "a.html").read_text(encoding="utf-8")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    command(*words, "--out", tmp_path / "a.png").succeeds()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_notebook_shows_it_as_a_table(run: RunFolder):
    assert Inspector(run.path).memory(TEXT)._repr_html_().count("<table") == 2


def test_a_model_without_a_memory_is_refused(tmp_path: Path, copy_run: Path):
    plain = trained(tmp_path / "plain", {"kind": "language_model"})
    with pytest.raises(ManyheadsError, match="this language model has no memory"):
        Inspector(plain.path).memory(TEXT)
    with pytest.raises(ManyheadsError, match="this run has no memory"):
        Inspector(copy_run).memory(TEXT)
