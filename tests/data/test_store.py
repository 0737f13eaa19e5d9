"""Token ids on disk: the same as tokenising directly, built once, never half a store."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from manyheads.config.corpora import DataSettings, TokenizerSettings
from manyheads.data.batches import store as store_module
from manyheads.data.batches.store import Store, cache_folder, open_store, store_key
from manyheads.data.text.corpora import Corpus
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import END, Tokenizers, train_tokenizers
from manyheads.errors import ManyheadsError

PAIRS = [Pair(" ".join(f"w{i * j % 17}" for j in range(1, i % 9 + 2)), f"w{i % 17} w0") for i in range(100)]


class Given(Corpus):
    """A corpus of the pairs it is given, which counts how often it is read."""

    def __init__(self, pairs: list[Pair], key: str | None = None) -> None:
        self._pairs = pairs
        self._key = key or repr(pairs)
        self.read = 0

    def pairs(self) -> Iterator[Pair]:
        self.read += 1
        return iter(self._pairs)

    def key(self) -> str:
        return self._key

    def origin(self) -> str:
        return "the test's pairs"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is empty before each test."""
    monkeypatch.setenv("MANYHEADS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    return train_tokenizers(PAIRS, TokenizerSettings(kind="symbols"))


def settings(**values: object) -> DataSettings:
    return DataSettings.model_validate({"train": {"task": "copy"}, **values})


def rows(store: Store, side: store_module.Side) -> list[list[int]]:
    """Return every sentence of a side without padding."""
    rectangle, lengths = store.rows(side, np.arange(len(store)), padding=999)
    assert all((row[length:] == 999).all() for row, length in zip(rectangle, lengths, strict=True))
    return [row[:length].tolist() for row, length in zip(rectangle, lengths, strict=True)]


def leftovers(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "store").glob("*"))


@pytest.mark.parametrize("chunk", [7, 100, 20_000])
def test_ids_are_those_of_the_tokenizer(tokenizers: Tokenizers, monkeypatch: pytest.MonkeyPatch, chunk: int):
    monkeypatch.setattr(store_module, "CHUNK", chunk)
    heard: list[int] = []
    store = open_store(Given(PAIRS), tokenizers, settings(), threads=2, report=heard.append)
    assert rows(store, "source") == [[*tokenizers.source.encode(pair.source), END] for pair in PAIRS]
    assert rows(store, "target") == [[*tokenizers.target.encode(pair.target), END] for pair in PAIRS]
    assert len(store) == store.tally.pairs == 100
    assert store.lengths("source").tolist() == [len(row) for row in rows(store, "source")]
    assert store.tokens("source") == sum(len(row) for row in rows(store, "source"))
    assert heard[-1] == 100


def test_rows_come_in_the_order_they_are_asked_for(tokenizers: Tokenizers):
    store = open_store(Given(PAIRS), tokenizers, settings())
    every = rows(store, "source")
    rectangle, lengths = store.rows("source", np.array([50, 3, 3, 99]), padding=0)
    assert [row[:n].tolist() for row, n in zip(rectangle, lengths, strict=True)] == [every[i] for i in (50, 3, 3, 99)]
    assert rectangle.shape[1] == lengths.max()


def test_a_store_is_built_once(tokenizers: Tokenizers, cache: Path):
    first, second = Given(PAIRS), Given(PAIRS)
    built = open_store(first, tokenizers, settings())
    found = open_store(second, tokenizers, settings())
    assert (first.read, second.read) == (1, 0)
    assert rows(built, "source") == rows(found, "source")
    assert leftovers(cache) == [store_key(first, tokenizers, settings())]
    assert found.folder == cache / "store" / store_key(first, tokenizers, settings())


def test_the_key_stands_for_everything_that_matters(tokenizers: Tokenizers):
    corpus = Given(PAIRS)
    others = train_tokenizers(PAIRS, TokenizerSettings(kind="characters"))
    apart = train_tokenizers(PAIRS, TokenizerSettings(kind="symbols", shared=False))
    keys = [
        store_key(corpus, tokenizers, settings()),
        store_key(Given(PAIRS[1:]), tokenizers, settings()),
        store_key(corpus, others, settings()),
        store_key(corpus, apart, settings()),
        store_key(corpus, tokenizers, settings(max_length=255)),
        store_key(corpus, tokenizers, settings(too_long="truncate")),
    ]
    assert len(set(keys)) == len(keys)
    same = settings(source_language="de", held_out=3)
    assert store_key(Given(PAIRS), tokenizers, same) == keys[0]


def test_the_format_is_part_of_the_key(tokenizers: Tokenizers, monkeypatch: pytest.MonkeyPatch):
    before = store_key(Given(PAIRS), tokenizers, settings())
    monkeypatch.setattr(store_module, "VERSION", store_module.VERSION + 1)
    assert store_key(Given(PAIRS), tokenizers, settings()) != before


# --- What is left out ------------------------------------------------------------------------------------------------


def test_pairs_with_an_empty_side_are_skipped_and_counted(tokenizers: Tokenizers):
    pairs = [PAIRS[0], Pair("", "w1"), PAIRS[1], Pair("w1", "  "), Pair("", ""), PAIRS[2]]
    store = open_store(Given(pairs), tokenizers, settings())
    assert (store.tally.pairs, store.tally.empty, store.tally.first_empty) == (3, 3, 2)
    assert rows(store, "source") == [[*tokenizers.source.encode(pair.source), END] for pair in PAIRS[:3]]


LONG = " ".join(["w1"] * 100_000)


def test_too_long_a_pair_is_skipped_and_counted(tokenizers: Tokenizers):
    store = open_store(Given([*PAIRS[:5], Pair(LONG, "w1"), *PAIRS[5:]]), tokenizers, settings(max_length=20))
    assert (store.tally.pairs, store.tally.too_long, store.tally.first_too_long) == (100, 1, 6)
    assert rows(store, "source") == [[*tokenizers.source.encode(pair.source), END] for pair in PAIRS]


def test_too_long_a_pair_is_truncated_and_counted(tokenizers: Tokenizers):
    pairs = [*PAIRS[:5], Pair(LONG, "w1"), Pair("w1", LONG)]
    store = open_store(Given(pairs), tokenizers, settings(max_length=20, too_long="truncate"))
    assert (store.tally.pairs, store.tally.too_long, store.tally.first_too_long) == (7, 2, 6)
    one = tokenizers.source.encode("w1")
    assert rows(store, "source")[5:] == [[*one * 20, END], [*one, END]]
    assert rows(store, "target")[5:] == [[*one, END], [*one * 20, END]]


def test_too_long_a_pair_stops(tokenizers: Tokenizers, cache: Path):
    pairs = [*PAIRS[:5], Pair("w1", LONG)]
    with pytest.raises(ManyheadsError, match=r"line 6 has 100,000 tokens; at most 20") as caught:
        open_store(Given(pairs), tokenizers, settings(max_length=20, too_long="stop"))
    assert "skip or truncate" in str(caught.value.cure)
    assert leftovers(cache) == []


@pytest.mark.parametrize("length", [19, 20, 21])
def test_the_longest_length_is_allowed(tokenizers: Tokenizers, length: int):
    pairs = [PAIRS[0], Pair(" ".join(["w1"] * length), "w1")]
    store = open_store(Given(pairs), tokenizers, settings(max_length=20))
    assert store.tally.too_long == (length > 20)


def test_nothing_left_is_an_error(tokenizers: Tokenizers, cache: Path):
    pairs = [Pair("", "w1"), Pair("w1", ""), Pair(LONG, "w1")]
    with pytest.raises(ManyheadsError, match=r"2 have an empty side, 1 are too long") as caught:
        open_store(Given(pairs), tokenizers, settings())
    assert caught.value.where == "the test's pairs"
    assert leftovers(cache) == []


# --- Large vocabularies ----------------------------------------------------------------------------------------------


class Numbers:
    """A tokenizer that reads numbers, with as large a vocabulary as is wanted."""

    model = b""

    def __init__(self, size: int) -> None:
        self._size = size
        self.model = str(size).encode()

    def __len__(self) -> int:
        return self._size

    def encode_all(self, texts: list[str], *, threads: int = 1) -> list[list[int]]:
        return [[int(word) for word in text.split()] for text in texts]


@pytest.mark.parametrize(("size", "dtype"), [(1 << 16, "uint16"), ((1 << 16) + 1, "uint32"), (300_000, "uint32")])
@pytest.mark.parametrize("side", ["source", "target"])
def test_ids_take_as_many_bytes_as_they_need(size: int, dtype: str, side: str):
    large, small = Numbers(size), Numbers(10)
    both = Tokenizers(large, small) if side == "source" else Tokenizers(small, large)  # type: ignore[arg-type]
    pair = Pair(f"{size - 1} 5", "6") if side == "source" else Pair("6", f"{size - 1} 5")
    store = open_store(Given([pair]), both, settings())
    assert rows(store, side) == [[size - 1, 5, END]]
    assert json.loads((store.folder / "store.json").read_text())["dtype"] == dtype


# --- Accidents -------------------------------------------------------------------------------------------------------

BUILDER = """
import os, resource, signal, sys
from collections.abc import Iterator
from pathlib import Path
from manyheads.config.corpora import DataSettings
from manyheads.data.batches import store
from manyheads.data.text.corpora import Corpus
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import Tokenizers

class Fatal(Corpus):
    def pairs(self):
        for i in range(100):
            if i == int(sys.argv[2]):
                os.kill(os.getpid(), signal.SIGKILL)
            yield Pair("w1 w2", "w3")
    def key(self): return "fatal"
    def origin(self): return "fatal"

store.CHUNK = 10
store.open_store(Fatal(), Tokenizers.load(Path(sys.argv[1])), DataSettings(train={"task": "copy"}))
"""


@pytest.mark.parametrize("moment", [0, 55, 99])
def test_half_a_store_is_never_taken_for_one(tokenizers: Tokenizers, tmp_path: Path, cache: Path, moment: int):
    (tmp_path / "shared.model").write_bytes(tokenizers.source.model)
    killed = subprocess.run([sys.executable, "-c", BUILDER, str(tmp_path), str(moment)])
    assert killed.returncode == -signal.SIGKILL
    assert not any(not name.startswith(".") for name in leftovers(cache))
    corpus = Given([Pair("w1 w2", "w3")] * 100, key="fatal")
    store = open_store(corpus, tokenizers, settings())
    assert corpus.read == 1
    assert rows(store, "source") == [[*tokenizers.source.encode("w1 w2"), END]] * 100


class Failing(Given):
    """A corpus that breaks off in the middle."""

    def pairs(self) -> Iterator[Pair]:
        yield from self._pairs
        raise ManyheadsError("this line is not UTF-8.", where="text:101")


def test_an_error_of_the_corpus_leaves_nothing_behind(tokenizers: Tokenizers, cache: Path):
    with pytest.raises(ManyheadsError, match="not UTF-8"):
        open_store(Failing(PAIRS), tokenizers, settings())
    assert leftovers(cache) == []


def test_a_full_disk_is_told_and_leaves_nothing_behind(tokenizers: Tokenizers, cache: Path):
    corpus = Given([Pair("w1 w2 w3 w4", "w3 w4")] * 5000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))  # Python turns its signal into an OSError
    try:
        with pytest.raises(ManyheadsError, match=r"token store cannot be written: File too large") as caught:
            open_store(corpus, tokenizers, settings())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "MANYHEADS_CACHE" in str(caught.value.cure)
    assert leftovers(cache) == []
    assert len(open_store(corpus, tokenizers, settings())) == 5000


def test_a_cache_that_is_no_folder_is_told(tokenizers: Tokenizers, cache: Path):
    cache.write_text("a file")
    with pytest.raises(ManyheadsError, match="cannot be written") as caught:
        open_store(Given(PAIRS), tokenizers, settings())
    assert "MANYHEADS_CACHE" in str(caught.value.cure)
    assert cache.read_text() == "a file"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to the superuser")
def test_a_read_only_cache_is_told(tokenizers: Tokenizers, cache: Path):
    cache.mkdir(mode=0o500)
    with pytest.raises(ManyheadsError, match="cannot be written"):
        open_store(Given(PAIRS), tokenizers, settings())


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("MANYHEADS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "manyheads"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "manyheads"
