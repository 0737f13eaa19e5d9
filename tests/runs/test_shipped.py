"""Models that come with the package: found by name or by none, checked, and stored in 8 bits."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError, Notice
from manyheads.runs import shipped
from manyheads.runs.folder import RunFolder
from manyheads.runs.weights import in_eight_bits, read_weights, weights_bytes
from run_folders import make_multilingual_run

ABOUT = {
    "name": "sample",
    "description": "A sample.",
    "languages": ["en", "fr", "de"],
    "parameters": 12345,
    "scores": {"en-de": 12.3},
    "signatures": {"en-de": "tok:13a"},
    "data": "Dates.",
    "licence": "CC-BY 2.0",
    "attribution": "Nobody.",
}


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of shipped models with one in it."""
    run = make_multilingual_run(tmp_path / "sample")
    run.weights_file.write_bytes(weights_bytes(in_eight_bits(read_weights(run.weights_file))))
    files = [file for file in run.path.rglob("*") if file.is_file()]
    sums = {str(file.relative_to(run.path)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    shipped.write_about(run.path, json.dumps({**ABOUT, "sha256": sums}))
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    return run.path


def test_a_model_is_found_by_name_and_by_none(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert RunFolder.open("sample").path == RunFolder.open(None).path == sample
    expected = Translator(sample).translate("3 May 2021", to="de")
    assert Translator().translate("3 May 2021", to="de") == expected
    (tmp_path / "elsewhere" / "sample").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(ManyheadsError, match="not a run"):
        RunFolder.open("sample")  # a folder of that name comes first
    with pytest.raises(ManyheadsError, match="'manyheads models' shows"):
        RunFolder.open("simple")


def test_the_name_of_a_model_that_was_replaced_stands_for_the_new_one(sample: Path):
    about = sample / shipped.ABOUT
    shipped.write_about(sample, json.dumps({**json.loads(about.read_text()), "replaces": ["former"]}))
    with pytest.warns(Notice, match="the model 'former' was replaced by 'sample', which is used"):
        assert RunFolder.open("former").path == sample


def test_the_commands_take_it_where_no_model_is_named(sample: Path, command, tmp_path: Path):
    expected = Translator(sample).translate("3 May 2021", to="de") + "\n"
    assert command("translate", "--to", "de", "3 May 2021").out == expected
    assert command("translate", "--model", "sample", "--to", "de", "3 May 2021").out == expected
    for words in (["3 May 2021"], ["sample", "3 May 2021"]):
        result = command("inspect", *words, "--to", "de", "--json")
        assert json.loads(result.out)["translation"] == expected.strip()
    assert command("export", "--to", "ctranslate2", "--out", tmp_path / "ct2").code == 0
    listed = command("models").out
    for fact in ("sample: A sample.", "en, fr, de", "12,345 parameters", "en-de 12.3", "CC-BY 2.0", "Nobody."):
        assert fact in listed
    assert json.loads(command("models", "--json").out)[0]["scores"] == {"en-de": 12.3}


def test_a_file_that_changed_is_refused(sample: Path):
    content = bytearray((sample / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (sample / "model.safetensors").write_bytes(content)
    with pytest.raises(ManyheadsError, match=r"model.safetensors: this file is not as it was shipped"):
        Translator()
    (sample / "model.safetensors").unlink()
    with pytest.raises(ManyheadsError, match="not as it was shipped"):
        RunFolder.open("sample")


@pytest.mark.parametrize("name", [shipped.ABOUT, shipped.SEAL])
@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_what_is_said_about_it_is_covered_too(sample: Path, command, name: str, damage: str):
    file = sample / name
    if damage == "changed":
        file.write_bytes(file.read_bytes().replace(b"a", b"b", 1))
    elif name == shipped.ABOUT:
        return  # without it, there is no model
    else:
        file.unlink()
    command("models").refuses("about.json", "not as it was shipped", "Install the package once more")
    command("translate", "--to", "de", "3 May 2021").refuses("not as it was shipped")


def test_without_any_model_the_command_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command):
    monkeypatch.setattr(shipped, "FOLDER", tmp_path / "nothing")
    command("translate", "hello").refuses("no model comes with this package")
    assert command("models").out == ""


def test_eight_bits_are_within_half_a_step_and_only_for_matrices(tmp_path: Path):
    generator = np.random.default_rng(1)
    arrays = {
        "a.weight": generator.normal(size=(7, 5)).astype(np.float32),
        "zeros": np.zeros((2, 3), np.float32),
        "a.bias": generator.normal(size=7).astype(np.float32),
    }
    narrow = in_eight_bits(arrays)
    assert narrow["a.weight"].dtype == np.int8
    (tmp_path / "w.safetensors").write_bytes(weights_bytes(narrow))
    found = read_weights(tmp_path / "w.safetensors")
    assert list(found) == sorted(arrays)
    step = np.abs(arrays["a.weight"]).max(axis=1, keepdims=True) / 127
    assert (np.abs(found["a.weight"] - arrays["a.weight"]) <= step / 2 + 1e-7).all()
    assert (found["zeros"] == 0).all()
    assert (found["a.bias"] == arrays["a.bias"]).all()


def test_what_is_to_be_finer_is_kept_in_16_bits(tmp_path: Path):
    arrays = {name: np.random.default_rng(1).normal(size=(7, 5)).astype(np.float32) for name in ("a", "b")}
    (tmp_path / "w.safetensors").write_bytes(weights_bytes(in_eight_bits(arrays, finer=["b"])))
    found = read_weights(tmp_path / "w.safetensors")
    assert {array.dtype for array in found.values()} == {np.dtype(np.float32)}
    assert (found["b"] == arrays["b"].astype(np.float16)).all()
    assert (found["a"] != arrays["a"]).any()
