"""Running text: a tokenizer that keeps every character, and its ids on disk."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from manyheads.data.batches.text_store import open_text, text_lines
from manyheads.data.public.catalogue import find
from manyheads.data.text.files import read_lines, resolve
from manyheads.data.tokens.running_text import BYTES_VOCABULARY, LINE_BREAK, train_text_tokenizer
from manyheads.data.tokens.tokenizers import SPACE, UNKNOWN

SPECIAL_TOKENS = 4
WIKITEXT = resolve("data:lm/wikitext-2.train.txt.gz")
LINES = ["ROMEO:", "  But, soft!  what light —", "", "\tthrough yonder window breaks?", "½ ﬁ Å"] * 20


@pytest.fixture(params=["characters", "bpe", "unigram", "bytes"])
def tokenizer(request):
    return train_text_tokenizer(LINES, kind=request.param, vocabulary=300 if request.param == "bpe" else None)


def test_every_character_is_kept(tokenizer):
    text = "".join(f"{line}\n" for line in LINES[:5])
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("kind", ["bpe", "bytes"])
def test_characters_that_were_never_seen_are_kept(kind: str):
    tokenizer = train_text_tokenizer(LINES, kind=kind, vocabulary=300 if kind == "bpe" else None)
    assert tokenizer.decode(tokenizer.encode("愛 Ω\n")) == "愛 Ω\n"


def test_bytes_are_the_same_whatever_was_read():
    one, other = (train_text_tokenizer(lines, kind="bytes", vocabulary=None) for lines in (LINES, ["another"]))
    assert len(one) == len(other) == BYTES_VOCABULARY
    for text in ("plain", "é", "愛"):
        assert one.encode(text) == other.encode(text)
        assert len(one.encode(text)) == len(text.encode())


WORDS = [" = Robert Boulter = ", "", " the <unk> is a film , the film ", " a  film\tis the"]


def test_words_are_what_white_space_separates_and_line_breaks():
    tokenizer = train_text_tokenizer(WORDS, kind="words", vocabulary=None)
    different = {word for line in WORDS for word in line.split()} - {"<unk>"}
    assert len(tokenizer) == SPECIAL_TOKENS + len({LINE_BREAK} | different)
    for line in WORDS:
        ids = tokenizer.encode(f"{line}\n")
        assert len(ids) == len(line.split()) + 1
        assert tokenizer.decode(ids) == f"{' '.join(line.split())}\n"


def test_words_that_are_not_in_the_list_are_unknown_as_in_wikitext():
    tokenizer = train_text_tokenizer(WORDS, kind="words", vocabulary=SPECIAL_TOKENS + 1 + 2)
    kept = {"film", "the"}  # the most frequent, beside the line break
    ids = tokenizer.encode("the <unk> Boulter film\n")
    assert [token == UNKNOWN for token in ids] == [False, True, True, False, False]
    assert {piece.strip(SPACE) for piece in tokenizer.vocabulary()} >= kept
    assert tokenizer.decode(ids) == "the <unk> <unk> film\n"


@pytest.mark.skipif(not WIKITEXT.exists(), reason="MANYHEADS_DATA has no WikiText-2: manyheads data get wikitext-2")
def test_the_words_of_wikitext_are_those_that_are_counted_everywhere():
    corpus = find("wikitext-2")
    tokenizer = train_text_tokenizer(read_lines(WIKITEXT), kind="words", vocabulary=None)
    words = len(tokenizer) - SPECIAL_TOKENS + 1  # the unknown word is one of WikiText's
    counts = [f"vocabulary {words:,}"]
    for file in corpus.files[1:]:
        lines = [f"{line}\n" for line in read_lines(resolve(f"data:{file.path}"))]
        counts.append(f"{sum(map(len, tokenizer.encode_all(lines))):,}")
    assert all(count in corpus.description for count in counts)


def test_lines_of_words_are_decoded_as_they_are_written_token_by_token():
    tokenizer = train_text_tokenizer(WORDS, kind="words", vocabulary=None)
    ids = tokenizer.encode("the film\n= a =\n\nis\n")
    texts = [tokenizer.decode(ids[:count]) for count in range(len(ids) + 1)]
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(texts))
    assert texts[-1] == "the film\n= a =\n\nis\n"


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
