"""`manyheads train --serve`: the server that starts when the training ends, and what is checked before."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from served import PATIENCE

Command = Callable[..., Any]
WriteRecipe = Callable[..., Path]

NAMED = {"data.source_language": "en", "data.target_language": "de"}


def test_the_new_model_is_served_when_training_ends(
    background: Callable[..., Any], sprint: WriteRecipe, tmp_path: Path
):
    words = ("train", sprint({**NAMED, "training.steps": 3}), "--out", tmp_path / "run")
    command = background(*words, "--serve", "--port", 0)
    command.wait_for(lambda: "(Ctrl-C stops)" in command.said())
    said = command.said()
    assert said.index("Finished at step 3.") < said.index("Serving en → de at ")
    url = re.search(r"http://\S+", said)
    assert url
    answer = httpx.post(f"{url[0]}/translate", json={"q": "a b", "source": "en", "target": "de"}, timeout=PATIENCE)
    assert answer.status_code == 200 and "translatedText" in answer.json()
    assert "<html" in httpx.get(url[0], timeout=PATIENCE).text
    assert command.end(signal.SIGINT).code == 0


def test_ctrl_c_saves_and_starts_no_server(background: Callable[..., Any], sprint: WriteRecipe, tmp_path: Path):
    recipe = sprint({**NAMED, "training.steps": 1_000_000, "validation.every": 1_000_000})
    command = background("train", recipe, "--out", tmp_path / "run", "--serve", "--port", 0)
    command.wait_for(lambda: any((tmp_path / "run").glob("checkpoints/step-*")))
    ended = command.end(signal.SIGINT)
    assert ended.code == 0, ended.err
    assert "nothing is lost" in ended.err
    assert "Serving" not in ended.err


def test_a_missing_extra_is_told_before_training(
    command: Command, sprint: WriteRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("manyheads.cli.serve.find_spec", lambda name: None)
    run = tmp_path / "run"
    command("train", sprint(NAMED), "--out", run, "--serve").refuses("uvicorn", "pip install 'manyheads[serve]'")
    assert not run.exists()


def test_a_port_in_use_is_told_before_training(
    command: Command, sprint: WriteRecipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = ("train", sprint(NAMED), "--out", tmp_path / "run", "--serve")
        command(*words, "--port", port).refuses("cannot listen there")
        monkeypatch.setenv("MANYHEADS_PORT", str(port))
        command(*words).refuses("cannot listen there")
    assert not (tmp_path / "run").exists()


def test_unknown_languages_are_told_before_training(command: Command, sprint: WriteRecipe, tmp_path: Path):
    run = tmp_path / "run"
    command("train", sprint(), "--out", run, "--serve", "--port", 0).refuses(
        "does not name its languages", "--set data.source_language=en"
    )
    (tmp_path / "pairs.tsv").write_text("".join(f"{number}\t{number}\n" for number in range(40)))
    words = ("train", "--pairs", tmp_path / "pairs.tsv", "--out", run, "--serve", "--port", 0)
    command(*words).refuses("cannot be told apart", "--source-language")
    recipe = tmp_path / "text.yaml"
    recipe.write_text("task: language_model\ndata: {train: text.txt}\n")
    command("train", recipe, "--out", run, "--serve", "--port", 0).refuses("only a model that translates can be served")
    assert not run.exists()
