"""Readers by themselves: whatever they are given, they return a value or raise the error that their callers expect."""

import random
import struct
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile import inputs
from manyheads.bounded.files import read_bytes
from manyheads.bounded.json_text import parse_json, parse_settings
from manyheads.bounded.machine import as_bytes, require_memory
from manyheads.bounded.yaml_text import DEEPEST, LONGEST_NUMBER, parse
from manyheads.config.corpora import CorpusSettings
from manyheads.config.reading import parse_recipe
from manyheads.data.formats.jsonl import read_jsonl
from manyheads.data.text.files import LONGEST_LINE, read_lines, text_files
from manyheads.data.tokens.sentencepiece_model import read_pieces
from manyheads.data.tokens.tokenizers import Tokenizer, train_pieces
from manyheads.errors import ManyheadsError
from manyheads.exchange.vectors import load_vectors
from manyheads.runs.weights import read_weights

MARKS = [
    "[",
    "]",
    "{",
    "}",
    ": ",
    "\n",
    "  ",
    "- ",
    "&a ",
    "*a",
    "!!int ",
    "'",
    '"',
    "1",
    "2026-13-01",
    "x",
    "<<: ",
    "|",
]


@given(st.lists(st.sampled_from(MARKS), max_size=40).map("".join))
@settings(max_examples=300)
def test_any_yaml_is_a_value_or_a_yaml_error(text: str):
    try:
        parse(text)
    except yaml.YAMLError:
        return


@given(st.lists(st.sampled_from(MARKS), max_size=40).map("".join) | st.text(max_size=50))
@settings(max_examples=200)
def test_any_text_is_a_recipe_or_a_sentence(text: str):
    try:
        parse_recipe(text)
    except ManyheadsError as error:
        assert str(error)[-1] in ".?"


def test_yaml_says_what_plain_yaml_says():
    text = "a: &x [1, 2.5, true, null, 2026-01-02, '3']\nb: {c: *x, d: 0x1F, e: 1_000}\nf: |\n  text\n"
    assert parse(text) == yaml.safe_load(text)


def test_yaml_within_the_limits_is_read():
    assert parse("[" * DEEPEST + "]" * DEEPEST)
    assert parse("1" * LONGEST_NUMBER) == int("1" * LONGEST_NUMBER)
    with pytest.raises(yaml.YAMLError):
        parse("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1))
    with pytest.raises(yaml.YAMLError):
        parse("1" * (LONGEST_NUMBER + 1))


@given(st.text(alphabet='[]{}:,"0123456789.eE-tfn \\u', max_size=60))
@settings(max_examples=300)
def test_any_json_is_a_value_or_a_value_error(text: str):
    for reader in (parse_json, parse_settings):
        try:
            reader(text)
        except ValueError:
            continue


@pytest.mark.parametrize("name", list(inputs.json_texts()))
def test_json_that_is_no_configuration(name: str):
    try:
        value = parse_settings(inputs.json_texts()[name])
    except ValueError:
        return
    assert name in ("a list", "a number", "null", "1e400", "not a number", "3 MB", "a lone surrogate", "utf-16"), value


@given(st.binary(max_size=200))
@settings(max_examples=100)
def test_any_bytes_are_lines_or_a_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes):
    path = tmp_path_factory.mktemp("lines") / "text"
    path.write_bytes(content)
    expected = content.split(b"\n")[: None if content and not content.endswith(b"\n") else -1]
    try:
        lines = list(read_lines(path))
    except ManyheadsError as error:
        assert "not UTF-8" in str(error) or "not text" in str(error)
    else:
        assert [line.encode() for line in lines[1:]] == [line.rstrip(b"\r") for line in expected[1:]]
        assert len(lines) == len(expected)


@pytest.mark.parametrize("size", [1, LONGEST_LINE - 1, LONGEST_LINE])
def test_lines_longer_than_a_block_are_whole(tmp_path: Path, size: int):
    (tmp_path / "text").write_bytes(b"a\n" + b"b" * size + b"\nc")
    assert list(map(len, read_lines(tmp_path / "text"))) == [1, size, 1]


def test_a_line_that_is_too_long(tmp_path: Path):
    (tmp_path / "text").write_bytes(b"a\n" + b"b" * (LONGEST_LINE + 1) + b"\nc")
    with pytest.raises(ManyheadsError, match=r"text:2: this line is longer than 4.2 MB"):
        list(read_lines(tmp_path / "text"))
    with pytest.raises(ManyheadsError, match="longer than"):
        list(read_lines(Path("/dev/zero")))


@pytest.mark.parametrize("name", [name for name, _ in inputs.json_lines(("source", "target"))])
def test_lines_that_are_no_pairs(name: str):
    line = dict(inputs.json_lines(("source", "target")))[name].decode("utf-8", "replace")
    with pytest.raises(ManyheadsError, match="file:1: "):
        list(read_jsonl(iter([line]), CorpusSettings(pairs="file"), "file"))


@given(st.binary(max_size=300))
@settings(max_examples=200)
def test_any_bytes_are_weights_or_a_sentence(tmp_path_factory: pytest.TempPathFactory, content: bytes):
    path = tmp_path_factory.mktemp("weights") / "x.safetensors"
    for header in (content, struct.pack("<Q", len(content)) + content):
        path.write_bytes(header)
        try:
            read_weights(path)
        except ManyheadsError as error:
            assert "weights" in str(error)


@pytest.fixture(scope="module")
def small_model() -> bytes:
    return train_pieces(["ab cd", "ef gh ab"] * 20, kind="bpe", vocabulary=16)


@pytest.mark.parametrize("seed", range(60))
def test_a_tokenizer_with_damage_is_one_or_a_sentence(tmp_path: Path, small_model: bytes, seed: int):
    chaos = random.Random(seed)
    content = bytearray(small_model)
    for _ in range(1 + seed % 7):
        content[chaos.randrange(len(content))] = chaos.randrange(256)
    (tmp_path / "x.model").write_bytes(bytes(content[: chaos.randrange(10, len(content) + 1)]))
    try:
        tokenizer = Tokenizer.load(tmp_path / "x.model")
    except ManyheadsError:
        return
    assert isinstance(tokenizer.decode(tokenizer.encode("a b c")), str)


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_any_bytes_are_pieces_or_a_value_error(content: bytes):
    try:
        read_pieces(content)
    except (ValueError, struct.error):
        return


@pytest.mark.parametrize("name", list(inputs.vectors()))
def test_files_that_are_no_vectors(tmp_path: Path, name: str):
    (tmp_path / "vectors").write_bytes(inputs.vectors()[name])
    with pytest.raises(ManyheadsError, match="vectors"):
        load_vectors(tmp_path / "vectors", ["a", "b"])


@pytest.mark.parametrize("kind", ["/dev/zero", "/dev/null", "pipe"])
def test_what_is_no_file_is_not_read(tmp_path: Path, kind: str):
    path = Path(kind)
    if kind == "pipe":
        import os

        path = tmp_path / "pipe"
        os.mkfifo(path)
    with pytest.raises(ManyheadsError, match="Write its content into a file first"):
        read_bytes(path, most=100)
    with pytest.raises(ManyheadsError, match="which can be read several times"):
        text_files(str(path), role="source")
    assert text_files(str(path), role="texts", read_once=True) == [path]


def test_a_file_that_is_too_large(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"abc")
    assert read_bytes(tmp_path / "file", most=3) == b"abc"
    with pytest.raises(ManyheadsError, match="this file has 3 bytes, and at most 2 are read"):
        read_bytes(tmp_path / "file", most=2)


def test_memory_that_no_machine_has():
    require_memory(1, "nothing", cure="Nothing.")
    with pytest.raises(ManyheadsError, match=r"everything would take 1\.0 EB of memory, and this machine has "):
        require_memory(10**18, "everything", cure="Take less.")
    assert [as_bytes(number) for number in (999, 1000, 2_500_000)] == ["999 B", "1.0 KB", "2.5 MB"]
