"""tools/ship.py: a trained run becomes a model of the package, with scores and a card."""

import gzip
import importlib.util
import json
import sys
from pathlib import Path

import pytest

from manyheads.data.generated import task
from manyheads.decoding.translator import Translator
from manyheads.runs import shipped
from run_folders import make_multilingual_run

ROOT = Path(__file__).resolve().parents[2]


def test_a_run_is_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command):
    spec = importlib.util.spec_from_file_location("ship", ROOT / "tools" / "ship.py")
    ship = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "ship", ship)
    spec.loader.exec_module(ship)
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
