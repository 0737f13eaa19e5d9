"""`manyheads inspect`, as a user calls it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bert import tiny_folder
from manyheads.decoding.translator import Translator
from manyheads.exchange.bert import import_bert
from manyheads.inspection.inspector import Inspector
from manyheads.runs.folder import RunFolder
from run_folders import PROSE, make_run

Command = Callable[..., Any]
TEXT = "a b c"

PICTURES = [
    [TEXT],
    [TEXT, "--layer", 1],
    [TEXT, "--layer", 1, "--head", 2, "--kind", "decoder"],
    [TEXT, "d e", "--show", "alignment"],
    [TEXT, "--show", "alignment", "--level", "word", "--heads", "1:2,1:3", "--beam", 2],
    [TEXT, "--show", "steps"],
    [TEXT, "--show", "beam", "--beam", 3],
    ["--show", "positions"],
    ["--show", "masks"],
    ["--show", "schedule"],
    ["--show", "smoothing"],
    ["--show", "curves"],
]


@pytest.mark.parametrize("words", PICTURES, ids=lambda words: " ".join(map(str, words)))
def test_a_picture_is_written(command: Command, copy_run: Path, tmp_path: Path, words: list[object]):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    for name, begins in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml")):
        command("inspect", copy_run, *words, "--out", tmp_path / name, "--device", "cpu").succeeds()
        assert (tmp_path / name).read_bytes().startswith(begins)


def test_curves_of_two_runs_are_drawn_together(command: Command, copy_run: Path, reverse_run: Path, tmp_path: Path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    words = ["inspect", copy_run, "--show", "curves", "--against", reverse_run, "--out", tmp_path / "a.svg"]
    command(*words).succeeds()
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "copy, train" in drawn and "reverse, train" in drawn  # matplotlib notes each text beside its letters


def test_the_masks_and_the_papers_positions_need_no_run(command: Command, tmp_path: Path):
    command("inspect", "--show", "masks", "--out", tmp_path / "masks.png").succeeds()
    result = command("inspect", "--show", "positions", "--json")
    result.succeeds()
    table = json.loads(result.out)
    assert (len(table["encodings"]), len(table["encodings"][0])) == (50, 128)


def test_a_page_is_written(command: Command, copy_run: Path, tmp_path: Path):
    command("inspect", copy_run, TEXT, "--out", tmp_path / "a.html").succeeds()
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and f'"text":"{TEXT}"' in page


def test_json_has_all_layers_or_the_one_asked_for(command: Command, copy_run: Path, tmp_path: Path):
    inspector = Inspector(copy_run, "cpu")
    command("inspect", copy_run, TEXT, "--out", tmp_path / "all.json", "--device", "cpu").succeeds()
    assert json.loads((tmp_path / "all.json").read_text(encoding="utf-8")) == inspector.everything(TEXT).to_json()
    one = command("inspect", copy_run, TEXT, "--layer", 1, "--kind", "encoder", "--json", "--device", "cpu")
    assert json.loads(one.out) == inspector.attention(TEXT, kind="encoder", layer=1).to_json()


def test_alignments_are_printed_in_pharaoh_format_one_line_per_text(command: Command, copy_run: Path, tmp_path: Path):
    printed = command("inspect", copy_run, TEXT, "a b", "--show", "alignment", "--level", "word")
    printed.succeeds()
    lines = printed.out.splitlines()
    assert [len(line.split()) for line in lines] == [3, 2]
    assert all(re.fullmatch(r"\d+-\d+( \d+-\d+)*", line) for line in lines)
    words = [TEXT, "a b", "--show", "alignment", "--level", "word", "--out", tmp_path / "a.txt"]
    command("inspect", copy_run, *words).succeeds()
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == printed.out


def test_steps_and_the_beam_are_given_as_json(command: Command, copy_run: Path):
    steps = json.loads(command("inspect", copy_run, TEXT, "--show", "steps", "--json").out)
    assert steps[-1] == {"done": True, "translation": TEXT}
    tree = json.loads(command("inspect", copy_run, TEXT, "--show", "beam", "--beam", 3, "--json").out)
    assert (tree["beam"], tree["translation"]) == (3, TEXT)
    own = json.loads(command("inspect", copy_run, TEXT, "--show", "beam", "--json").out)
    assert own["beam"] == RunFolder(copy_run).recipe().decoding.beam


@pytest.mark.parametrize("show", ["steps", "beam"])
def test_steps_and_the_beam_are_given_as_a_page(command: Command, copy_run: Path, tmp_path: Path, show: str):
    command("inspect", copy_run, TEXT, "--show", show, "--out", tmp_path / "a.html").succeeds()
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and TEXT in page
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")


def test_a_bert_shows_its_encoder_and_says_what_it_has_not(command: Command, tmp_path: Path):
    run = tmp_path / "run"
    import_bert(tiny_folder(tmp_path / "theirs"), run)
    for folder in (run, tmp_path / "theirs"):  # ours, and Hugging Face's as it is
        shown = command("inspect", folder, "a b", "--layer", 1, "--json")
        shown.succeeds()
        assert json.loads(shown.out)["queries"] == ["[CLS]", "a", "b", "[SEP]"]
    command("inspect", run, "--show", "positions", "--out", tmp_path / "a.png").succeeds()
    command("inspect", run, "a", "--show", "beam", "--json").refuses("reads but does not write")
    command("inspect", run, "a", "--show", "alignment").refuses("nothing to align")
    command("inspect", run, "a", "--kind", "cross", "--out", tmp_path / "b.png").refuses("no cross attention")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([TEXT], ["--out", ".png, .svg, .html or .json"]),
        ([TEXT, "--out", "a.gif"], ["a.gif", ".html or .json"]),
        ([TEXT, "--show", "masks", "--out", "a.json"], ["masks", ".png or .svg"]),
        ([TEXT, "--show", "steps"], ["--json"]),
        (["--out", "a.html"], ["one text", "not 0"]),
        ([TEXT, TEXT, "--out", "a.html"], ["one text", "not 2"]),
        (["", "--out", "a.html"], ["empty text"]),
        ([TEXT, "--head", 0, "--out", "a.png"], ["--head", "--layer"]),
        ([TEXT, "--layer", 9, "--out", "a.png"], ["no layer 9", "1 alone"]),
        ([TEXT, "--layer", 0, "--out", "a.png"], ["no layer 0", "counted from 1"]),
        ([TEXT, "--layer", 0, "--json"], ["no layer 0", "counted from 1"]),
        ([TEXT, "--layer", 1, "--head", 9, "--out", "a.png"], ["no head 9", "1 to 4"]),
        ([TEXT, "--layer", 1, "--head", 0, "--out", "a.png"], ["no head 0", "counted from 1"]),
        ([TEXT, "--show", "alignment", "--heads", "x"], ["'x'", "layer:head"]),
        ([TEXT, "--show", "alignment", "--heads", "3:1"], ["no layer 3"]),
        (["--show", "alignment"], ["no text"]),
        ([TEXT, "--show", "beam", "--beam", -1, "--json"], ["at least 1"]),
        (["--show", "curves", "--against", "nowhere", "--out", "a.png"], ["nowhere", "no such run"]),
    ],
)
def test_a_mistake_gets_a_sentence(command: Command, copy_run: Path, tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    command("inspect", copy_run, *words).refuses(*told)
    assert not list(tmp_path.iterdir())


def test_what_needs_a_run_says_so(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("manyheads.runs.shipped.FOLDER", tmp_path)
    command("inspect", "--show", "schedule", "--out", tmp_path / "a.png").refuses("no model comes with this package")
    for words in ([TEXT, "--model", "nowhere"], ["nowhere", "--show", "curves"]):
        command("inspect", *words, "--out", tmp_path / "a.png").refuses("nowhere: there is no such run folder")


def test_of_several_sentences_one_is_shown_and_all_are_aligned(command: Command, tmp_path: Path):
    run = make_run(tmp_path / "run", data=PROSE).path
    text, translator = "3 May 2021. Then it was June.", Translator(run, engine="torch", device="cpu")
    sentences = ["3 May 2021.", "Then it was June."]
    for number, sentence in enumerate(sentences, start=1):
        words = ["inspect", run, text, "--sentence", number, "--json", "--device", "cpu"]
        seen = json.loads(command(*words).out)
        assert (seen["text"], seen["translation"]) == (sentence, translator.translate(sentence))
        tree = json.loads(command(*words, "--show", "beam").out)
        assert tree["translation"] == translator.translate(sentence)
        assert json.loads(command(*words, "--show", "steps").out)[-1]["translation"] == translator.translate(
            sentence, beam=1
        )
    first = command("inspect", run, text, "--json")
    assert json.loads(first.out)["text"] == sentences[0] and "--sentence 2 shows the second" in first.err
    command("inspect", run, text, "--sentence", 3, "--json").refuses("no sentence 3", "sentences 1 to 2")
    command("inspect", run, text, "--sentence", 0, "--json").refuses("no sentence 0", "sentences 1 to 2")
    command("inspect", run, "12 !", "--json").refuses("a text without letters")
    aligned = [command("inspect", run, one, "--show", "alignment").out.split() for one in (*sentences, text)]
    assert len(aligned[2]) == len(aligned[0]) + len(aligned[1])
