"""Running text: a tokenizer that keeps every character, and its ids on disk."""

from pathlib import Path

import numpy as np
import pytest

from manyheads.data.batches.text_store import open_text, text_lines
from manyheads.data.tokens.running_text import train_text_tokenizer

LINES = ["ROMEO:", "  But, soft!  what light —", "", "\tthrough yonder window breaks?", "½ ﬁ Å"] * 20


@pytest.fixture(params=["characters", "bpe", "unigram"])
def tokenizer(request):
    return train_text_tokenizer(LINES, kind=request.param, vocabulary=300 if request.param == "bpe" else None)


def test_every_character_is_kept(tokenizer):
    text = "".join(f"{line}\n" for line in LINES[:5])
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_subwords_keep_characters_that_were_never_seen():
    tokenizer = train_text_tokenizer(LINES, kind="bpe", vocabulary=300)
    assert tokenizer.decode(tokenizer.encode("愛 Ω\n")) == "愛 Ω\n"


def test_ids_are_written_once_and_follow_the_content(tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MANYHEADS_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "text.txt"
    file.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    ids = open_text([file], tokenizer)
    assert tokenizer.decode(ids.tolist()) == file.read_text(encoding="utf-8")
    assert list(text_lines([file])) == LINES
    (written,) = (tmp_path / "cache" / "text").iterdir()
    before = written.stat().st_mtime_ns
    assert np.array_equal(open_text([file], tokenizer), ids)
    assert written.stat().st_mtime_ns == before
    file.write_text("another text\n", encoding="utf-8")
    assert len(open_text([file], tokenizer)) != len(ids)
    assert len(list((tmp_path / "cache" / "text").iterdir())) == 2
