"""tools/ship.py: a trained run becomes a model of the package, with scores and a card."""

import gzip
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from manyheads.data.generated import task
from manyheads.decoding.translator import Translator
from manyheads.models.interface import SequenceToSequence
from manyheads.runs import shipped
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import load_model, model_arrays
from manyheads.runs.weights import read_weights
from run_folders import make_multilingual_run

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ship(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The tool as a module."""
    spec = importlib.util.spec_from_file_location("ship", ROOT / "tools" / "ship.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "ship", module)
    spec.loader.exec_module(module)
    return module


def test_weights_alone_are_those_of_the_run(ship, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run, weights = make_multilingual_run(tmp_path / "run"), tmp_path / "weights"
    monkeypatch.setattr(sys, "argv", ["ship.py", str(run.path), "--weights", str(weights)])
    ship.main()
    assert (weights / "model.safetensors").stat().st_size < run.weights_file.stat().st_size / 2
    model = load_model(SequenceToSequence, RunFolder.open(weights))
    arrays = read_weights(run.weights_file)
    for name, weight in model_arrays(model).items():
        assert np.abs(weight - arrays[name]).max() <= np.abs(arrays[name]).max() / 100
    assert Translator(weights).translate("3 May 2021", to="fr")


def test_a_run_is_shipped(ship, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command):
    for module in (shipped, ship):
        monkeypatch.setattr(module, "FOLDER", tmp_path / "package")
    (tmp_path / "package").mkdir()
    run = make_multilingual_run(tmp_path / "run").path
    test = tmp_path / "cut"
    test.mkdir()
    lines = "".join(f"{pair.source}\t{pair.target}\n" for pair in task("dates").pairs("test", count=6))
    for name in ("en-fr", "en-de", "software.en-de"):
        (test / f"test.{name}.tsv.gz").write_bytes(gzip.compress(lines.encode("utf-8")))
    about = ROOT / "tools" / "manyheads-1.json"
    words = ["ship.py", run, "--test", test, "--domains", test, "--about", about]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    ship.main()
    (model,) = shipped.shipped_models()
    assert set(model.domains["software"]) == {"en-de", "de-en"} and model.domains["law"] == {}
    assert model.domains["software"]["en-de"] == model.scores["en-de"]
    assert "Source: European Parliament" in (model.path / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert "ATTRIBUTION.md" in model.sha256
    assert set(model.scores) == {"en-fr", "en-de", "fr-en", "de-en"}
    assert (run / "model.safetensors").stat().st_size > 2 * (model.check() / "model.safetensors").stat().st_size
    assert Translator().translate("3 May 2021", to="fr")
    assert json.loads(about.read_text(encoding="utf-8"))["name"] in command("models").out
    card = (model.path / "card.md").read_text(encoding="utf-8")
    assert card.count("| de-en |") == 2 + ship.FAILURES
