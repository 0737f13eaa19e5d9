"""WordPiece: the same tokens as the library everybody uses, from either kind of file, and rectangles of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from bert import PIECES, minilm
from manyheads.data.tokens.wordpiece import WordPiece
from manyheads.errors import ManyheadsError

pytest.importorskip("tokenizers", reason="tokenizers is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES), encoding="utf-8")
    return tmp_path


def spelled(folder: Path, text: str | tuple[str, str], *, longest: int = 99) -> list[str]:
    tokenizer = WordPiece.load(folder)
    return tokenizer.pieces(tokenizer.encode([text], longest=longest)[0].ids)


def test_a_text_is_cut_into_the_longest_pieces(folder: Path):
    assert spelled(folder, "The ab 中文 x.") == ["[CLS]", "th", "##e", "a", "##b", "中", "文", "[UNK]", ".", "[SEP]"]


def test_a_pair_is_one_sequence_with_two_segments(folder: Path):
    tokenizer = WordPiece.load(folder)
    (row,) = tokenizer.encode([("a b", "c")], longest=99)
    assert tokenizer.pieces(row.ids) == ["[CLS]", "a", "b", "[SEP]", "c", "[SEP]"]
    assert row.segments == [0, 0, 0, 0, 1, 1]
    assert row.spans == [(0, 0), (0, 1), (2, 3), (0, 0), (0, 1), (0, 0)]
    assert row.special == [True, False, False, True, False, True]


def test_what_is_too_long_is_cut_and_says_so(folder: Path):
    tokenizer = WordPiece.load(folder)
    long, pair, short = tokenizer.encode(["a b c d e f", ("a", "b c d e f"), "a"], longest=6)
    assert tokenizer.pieces(long.ids) == ["[CLS]", "a", "b", "c", "d", "[SEP]"]
    assert tokenizer.pieces(pair.ids) == ["[CLS]", "a", "[SEP]", "b", "c", "[SEP]"]  # the longer text is cut
    assert [long.truncated, pair.truncated, short.truncated] == [True, True, False]


def test_rows_are_laid_out_as_rectangles(folder: Path):
    tokenizer = WordPiece.load(folder)
    laid = tokenizer.lay_out(tokenizer.encode(["a", ("b", "c")], longest=9))
    assert laid.attention_mask.tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    assert laid.token_type_ids.tolist() == [[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]]
    assert laid.input_ids[0].tolist() == [2, PIECES.index("a"), 3, 0, 0]
    assert all(one.dtype == np.int64 for one in laid)


@pytest.mark.parametrize(
    ("habits", "expected"),
    [({"do_lower_case": True}, "[UNK]"), ({"do_lower_case": False}, "é"), ({"strip_accents": False}, "é")],
)
def test_the_habits_of_the_folder_are_kept(folder: Path, habits: dict[str, bool], expected: str):
    (folder / "tokenizer_config.json").write_text(json.dumps(habits), encoding="utf-8")
    found = spelled(folder, "é")[1]
    assert found == ("[UNK]" if expected == "[UNK]" and "e" not in PIECES else expected if expected == "é" else "e")


def test_a_written_tokenizer_is_the_same_one(folder: Path, tmp_path: Path):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "tokenizer.json").write_text(WordPiece.load(folder).text(), encoding="utf-8")
    for text in ("The ab 中文 x.", ("a", "b"), "", "[MASK] a [SEP]"):
        assert spelled(copy, text) == spelled(folder, text)


def test_missing_special_tokens_are_all_named(folder: Path):
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[SEP]\na\n", encoding="utf-8")
    with pytest.raises(ManyheadsError, match=r"no \[CLS\], \[MASK\]"):
        WordPiece.load(folder)


def test_a_folder_without_a_tokenizer_is_told(tmp_path: Path):
    with pytest.raises(ManyheadsError, match=r"neither tokenizer\.json nor vocab\.txt"):
        WordPiece.load(tmp_path)


def test_a_damaged_tokenizer_is_told(tmp_path: Path):
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ManyheadsError, match="this is not a tokenizer"):
        WordPiece.load(tmp_path)


def test_without_the_library_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ManyheadsError, match=r"manyheads\[huggingface\]"):
        WordPiece.load(folder)


def test_a_real_vocabulary_gives_the_same_tokens_from_either_file(tmp_path: Path):
    real = minilm()
    for name in ("vocab.txt", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((real / name).read_bytes())
    for text in ("Naïve café, don't!", "东京 2020", "a\u200bb 😀", ("unaffable", "[MASK] me")):
        assert spelled(tmp_path, text) == spelled(real, text)


def test_a_trained_tokenizer_knows_its_words_and_is_the_same_every_time():
    texts = ["Mary went to the kitchen.", "John went to the garden.", "the the the"]
    one, two = (WordPiece.train(texts, vocabulary=70) for _ in range(2))
    assert one.text() == two.text()
    assert len(one) <= 70
    pieces = one.pieces(one.encode(["The kin mary"], longest=20)[0].ids)
    assert pieces[1] == "the" and "[UNK]" not in pieces
