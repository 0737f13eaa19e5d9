"""`manyheads encode` and `Encoder.stream`: order kept, pooled as asked, nothing held that grows with the input."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bert import minilm, tiny_folder
from manyheads.encoding import encoder as encoding
from manyheads.encoding.encoder import Encoder
from manyheads.exchange.bert import import_bert

LINES = ["a b c d e f g h", "", "a", "the 中 文 . ?", "b c", "c c c c c c c c c c c c c c c c c c c c c c c", "d"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bert")
    import_bert(tiny_folder(place / "theirs"), place / "run")
    return place / "run"


@pytest.fixture(scope="module")
def alone(run: Path) -> list[np.ndarray]:
    """Every line's token vectors [S, D], each computed on its own."""
    bert = Encoder.from_folder(run, device="cpu")
    return [bert.encode([line]).last_hidden_state[0].numpy() for line in LINES]


def close(one: Any, other: Any) -> bool:
    return np.shape(one) == np.shape(other) and bool(np.abs(np.asarray(one) - np.asarray(other)).max() < 1e-5)


def text_file(folder: Path) -> Path:
    path = folder / "texts.txt"
    path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return path


@pytest.mark.parametrize("batch", [1, 2, 32])
def test_token_vectors_keep_their_order(run: Path, alone: list[np.ndarray], batch: int):
    found = list(Encoder.from_folder(run, device="cpu").stream(LINES, batch=batch))
    assert [one.text for one in found] == LINES
    assert all(close(one.vectors, expected) for one, expected in zip(found, alone, strict=True))
    assert found[4].tokens == ["[CLS]", "b", "c", "[SEP]"]
    assert [one.truncated for one in found] == [line.count("c") > 20 for line in LINES]


@pytest.mark.parametrize(("pool", "pooled"), [("mean", lambda v: v.mean(axis=0)), ("cls", lambda v: v[0])])
def test_pooled_vectors_are_written_as_an_array(
    run: Path,
    alone: list[np.ndarray],
    tmp_path: Path,
    command: Callable[..., Any],
    pool: str,
    pooled: Callable[..., Any],
):
    out = tmp_path / "x.npy"
    command("encode", text_file(tmp_path), "--model", run, "--pool", pool, "--out", out, "--batch", 3).succeeds()
    assert close(np.load(out), np.stack([pooled(one) for one in alone]))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_token_vectors_fill_an_array_with_zeros(
    run: Path, alone: list[np.ndarray], tmp_path: Path, command: Callable[..., Any]
):
    command("encode", text_file(tmp_path), "--model", run, "--pool", "none", "--out", tmp_path / "x.npy").succeeds()
    array = np.load(tmp_path / "x.npy")
    assert array.shape == (len(LINES), 20, 16)
    for row, expected in zip(array, alone, strict=True):
        assert close(row[: len(expected)], expected)
        assert not row[len(expected) :].any()


def test_json_lines_go_to_a_file_or_to_standard_output(
    run: Path, alone: list[np.ndarray], tmp_path: Path, command: Callable[..., Any]
):
    options = ("--model", run, "--pool", "none")
    command("encode", text_file(tmp_path), *options, "--out", tmp_path / "x.jsonl").succeeds(
        "1 text was too long and cut off (the first at line 6)"
    )
    text = (tmp_path / "x.jsonl").read_text(encoding="utf-8")
    piped = command("encode", *options, stdin="".join(f"{line}\n" for line in LINES))
    assert piped.out == text
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["text"] for row in rows] == LINES
    assert all(close(row["vectors"], expected) for row, expected in zip(rows, alone, strict=True))
    assert [len(row["tokens"]) for row in rows] == [len(expected) for expected in alone]


def test_a_compressed_file_of_pairs(run: Path, tmp_path: Path, command: Callable[..., Any]):
    path = tmp_path / "pairs.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tb c\nd\t\n"))
    out = tmp_path / "x.npy"
    command("encode", path, "--pairs", "--model", run, "--pool", "cls", "--out", out).succeeds()
    expected = Encoder.from_folder(run, device="cpu").encode([("a", "b c"), ("d", "")]).last_hidden_state[:, 0]
    assert close(np.load(out), expected)


def test_only_some_texts_are_held_at_a_time(run: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(encoding, "STREAM_TEXTS", 4)
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "a b"

    stream = Encoder.from_folder(run, device="cpu").stream(endless(), pool="mean")
    for _ in range(10):
        next(stream)
    assert taken == 12


@pytest.mark.parametrize(
    ("words", "stdin", "expected"),
    [
        (["--out", "x.txt"], "a\n", ".npy or .jsonl"),
        (["--out", "x.npy"], "", "there are no texts"),
        (["--pairs"], "a\tb\nc\n", "standard input:2"),
        (["--pairs"], "a\tb\tc\n", "2 tabs"),
        ([], b"\xff\n", "not UTF-8"),
        (["nowhere.txt"], "", "nowhere.txt"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Callable[..., Any],
    words: list[str],
    stdin: str | bytes,
    expected: str,
):
    monkeypatch.chdir(tmp_path)
    command("encode", *words, "--model", run, stdin=stdin).refuses(expected)
    assert list(tmp_path.iterdir()) == []


def test_a_half_written_file_never_appears(run: Path, tmp_path: Path, command: Callable[..., Any]):
    out = tmp_path / "x.jsonl"
    out.write_text("before", encoding="utf-8")
    words = ["encode", "--pairs", "--model", run, "--out", out, "--overwrite"]
    command(*words, stdin="a\tb\nc\n").refuses("standard input:2")
    assert [path.name for path in tmp_path.iterdir()] == ["x.jsonl"]
    assert out.read_text(encoding="utf-8") == "before"


def test_a_transformer_does_not_encode(copy_run: Path, command: Callable[..., Any]):
    command("encode", "--model", copy_run, stdin="a\n").refuses("a model for translation", "manyheads translate")


def test_real_vectors_know_what_is_alike():
    """Mean vectors of a real model: a paraphrase is nearer than another topic."""
    bert = Encoder.from_folder(minilm(), device="cpu")
    texts = ["A man is eating food.", "Someone eats a meal.", "The stock market fell today."]
    one, same, other = (found.vectors / np.linalg.norm(found.vectors) for found in bert.stream(texts, pool="mean"))
    assert one @ same > one @ other + 0.3
