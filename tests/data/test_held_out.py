"""What is held out of training stays out of it, is the same at every start, and is found without much reading."""

import hashlib
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW
from manyheads.config.corpora import CorpusSettings, DataSettings
from manyheads.data.text.corpora import Corpus, open_corpus
from manyheads.data.text.cut import Cut
from manyheads.data.text.held_out import Corpora, HeldOut, Rest, open_corpora
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError


class Given(Corpus):
    """A corpus of the pairs it is given, which counts how often it is read."""

    def __init__(self, pairs: list[Pair]) -> None:
        self._pairs = pairs
        self.reads = 0

    def pairs(self) -> Iterator[Pair]:
        self.reads += 1
        return iter(self._pairs)

    def key(self) -> str:
        return repr(self._pairs)

    def origin(self) -> str:
        return "the test"


def parts(pairs: list[Pair], held_out: int) -> tuple[list[Pair], list[Pair]]:
    """Return what remains for training, and what is held out."""
    valid = HeldOut(Given(pairs), held_out)
    return list(Rest(valid).pairs()), list(valid.pairs())


# Few different sentences, so that many repeat, on one side or on both.
REPETITIVE = st.lists(st.builds(Pair, st.sampled_from("abcdefghij"), st.sampled_from("ABCDEFGHIJ")), min_size=2)


@given(REPETITIVE, st.data())
def test_no_sentence_of_either_side_is_in_both_parts(pairs: list[Pair], data: st.DataObject):
    held_out = data.draw(st.integers(1, len(pairs) - 1))
    training, validation = parts(pairs, held_out)
    assert not {pair.source for pair in training} & {pair.source for pair in validation}
    rest = iter(pairs)
    assert all(pair in rest for pair in training), "the order of the whole is kept"
    rest = iter(pairs)
    assert all(pair in rest for pair in validation), "the order of the whole is kept"
    assert parts(pairs, held_out) == (training, validation)


@given(REPETITIVE, st.data())
def test_pairs_that_share_a_held_out_target_are_left_out_unless_they_are_many(pairs: list[Pair], data: st.DataObject):
    held_out = data.draw(st.integers(1, len(pairs) - 1))
    training, validation = parts(pairs, held_out)
    sources, targets = {pair.source for pair in validation}, {pair.target for pair in validation}
    others = [pair for pair in pairs if pair.source not in sources]
    unshared = [pair for pair in others if pair.target not in targets]
    many = 10 * (len(others) - len(unshared)) > len(others)
    valid = HeldOut(Given(pairs), held_out)
    assert training == (others if many else unshared)
    assert (valid.cut.by_source_alone, valid.cut.shared) == (many, len(others) - len(unshared))
    assert Rest(valid).count() == len(training)


def test_labels_are_cut_by_text_alone():
    pairs = [Pair(f"text {i}", ("good", "bad", "neither")[i % 3]) for i in range(300)]
    training, validation = parts(pairs, 15)
    assert len(training) == 285 and len(validation) == 15
    valid = HeldOut(Given(pairs), 15)
    assert valid.remark().startswith("Training pairs that share their target with validation data: 285, too many")
    assert valid.key() == f"held out 15 by source of {pairs!r}"
    assert Rest(valid).key() == f"without 15 by source of {pairs!r}"


def test_a_few_shared_targets_are_left_out_and_counted_and_the_key_is_as_ever():
    pairs = [Pair(f"source {i}", f"target {i}") for i in range(200)]
    held_out = parts(pairs, 10)[1][0]
    pairs += [Pair("another source", held_out.target)]
    training, validation = parts(pairs, 10)
    valid = HeldOut(Given(pairs), 10)
    assert held_out in validation
    assert not {pair.target for pair in training} & {pair.target for pair in validation}
    assert valid.remark() == "Left out of training, since validation data has their target: 1."
    assert Rest(valid).key() == f"without 10 of {pairs!r}"
    assert HeldOut(Given(pairs[:-1]), 10).remark() == ""


@given(st.integers(2, 400), st.data())
def test_something_is_held_out_and_something_remains(count: int, data: st.DataObject):
    held_out = data.draw(st.integers(1, min(count - 1, count // 20 + 1)))
    offset = data.draw(st.integers(0, 10**6))
    pairs = [Pair(f"source {i + offset}", f"target {i + offset}") for i in range(count)]
    training, validation = parts(pairs, held_out)
    assert validation, f"nothing of {count} pairs was held out, though {held_out} were asked for"
    assert training
    assert sorted(training + validation) == sorted(pairs)


def test_about_as_many_are_held_out_as_were_asked_for():
    pairs = [Pair(f"source {i}", f"target {i}") for i in range(20_000)]
    training, validation = parts(pairs, 1000)
    assert 900 < len(validation) < 1100
    assert len(training) + len(validation) == 20_000


def test_what_is_held_out_does_not_depend_on_the_order():
    pairs = [Pair(f"source {i}", f"target {i}") for i in range(1000)]
    assert sorted(parts(pairs, 100)[1]) == sorted(parts(pairs[::-1], 100)[1])


def test_both_parts_have_keys_of_their_own():
    pairs = [Pair(f"source {i}", f"target {i}") for i in range(100)]
    whole = Given(pairs)
    keys = {part.key() for count in (10, 20) for valid in [HeldOut(whole, count)] for part in (valid, Rest(valid))}
    assert len(keys | {whole.key()}) == 5


@pytest.mark.parametrize("held_out", [3, 4])
def test_no_more_can_be_held_out_than_there_is(held_out: int):
    with pytest.raises(ManyheadsError, match=r"there are only 3.*data\.held_out"):
        HeldOut(Given([Pair("a", "A"), Pair("b", "B"), Pair("c", "C")]), held_out)


# --- The same at every start -----------------------------------------------------------------------------------------


def hashed(pair: Pair) -> bytes:
    """Return what decides whether a pair is held out; in another version too, or runs could not be continued."""
    return hashlib.blake2b(pair.source.encode(), digest_size=8).digest()


MANY = st.lists(st.builds(Pair, st.integers(0, 99).map(str), st.just("target")), min_size=2, max_size=200)


@given(MANY, st.data())
def test_the_sources_with_the_smallest_hashes_are_held_out(pairs: list[Pair], data: st.DataObject):
    count = data.draw(st.integers(1, len(pairs) - 1))
    largest = sorted(map(hashed, pairs))[count - 1]
    valid = HeldOut(Given(pairs), count)
    assert list(valid.numbered()) == [
        (line, pair) for line, pair in enumerate(pairs, start=1) if hashed(pair) <= largest
    ]


SENTENCES = [Pair(f"Satz {i}", f"“sentence” \\ {i}\u2028") for i in range(100)]


def test_a_corpus_is_read_twice_to_be_cut_and_not_again_for_what_is_held_out():
    whole = Given(SENTENCES)
    valid = HeldOut(whole, 10)
    assert whole.reads == 2
    assert len(list(valid.pairs())) == len(list(valid.numbered())) == 10
    assert Rest(valid).count() == 90
    assert whole.reads == 2


def test_a_cut_that_was_stored_is_made_again_without_reading():
    first = HeldOut(Given(SENTENCES), 10)
    stored = Cut.model_validate_json(first.cut.model_dump_json())
    whole = Given(SENTENCES)
    again = HeldOut(whole, 10, stored)
    assert whole.reads == 0
    assert list(again.numbered()) == list(first.numbered())
    assert (again.key(), Rest(again).key()) == (first.key(), Rest(first).key())
    assert list(Rest(again).numbered()) == list(Rest(first).numbered())


@pytest.mark.parametrize(("pairs", "count"), [(SENTENCES[:-1], 10), (SENTENCES, 11)])
def test_another_corpus_or_another_number_is_cut_again(pairs: list[Pair], count: int):
    before = HeldOut(Given(SENTENCES), 10).cut
    again = HeldOut(Given(pairs), count, before)
    assert list(again.pairs()) == parts(pairs, count)[1]
    assert again.cut.asked == count
    assert again.cut.corpus == repr(pairs)


def test_memory_does_not_grow_with_the_corpus():
    class Large(Given):
        def pairs(self) -> Iterator[Pair]:
            return (Pair(f"source {i}", f"target {i}") for i in range(30_000))

    tracemalloc.start()
    try:
        HeldOut(Large([]), 10)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30_000 * 10, "less than ten bytes a pair: none but the smallest can have been kept"


# --- A corpus in both directions -------------------------------------------------------------------------------------


def both_directions(folder: Path, pairs: list[Pair], *, held_out: int = 5, before: Cut | None = None) -> Corpora:
    """Return the training and validation data of a corpus that is read in both directions."""
    (folder / "pairs.tsv").write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs), encoding="utf-8")
    train = {"pairs": str(folder / "pairs.tsv"), "source_language": "en", "target_language": "de", "both_ways": True}
    return open_corpora(DataSettings.model_validate({"train": train, "held_out": held_out}), before)


def untagged(corpus: Corpus) -> list[Pair]:
    """Return the pairs of a corpus without the tags before their sources."""
    return [Pair(pair.source.partition(" ")[2], pair.target) for pair in corpus.pairs()]


REPEATED = [Pair(f"house {number}", f"Haus {number}") for number in range(100)]


def test_what_is_held_out_is_in_neither_direction_of_training(tmp_path: Path):
    first, *_ = (one for _, one in HeldOut(Given(REPEATED), 5).cut.pairs)
    extra = [
        Pair(first.source, "another translation"),
        Pair("another source", first.target),
        Pair("the target as a source", first.source),
        Pair(first.target, "the source as a target"),
    ]
    corpora = both_directions(tmp_path, REPEATED + extra)
    assert corpora.held_out is not None
    held_out = {text for pair in corpora.held_out.pairs() for text in pair}
    assert {*first} <= held_out
    _, other_direction = map(untagged, corpora.train)
    assert other_direction, "something remains"
    assert held_out.isdisjoint(text for pair in other_direction for text in pair)
    assert {Pair(pair.target, pair.source) for pair in other_direction} < {*REPEATED, *extra}


@LAW
@given(pairs=REPETITIVE, data=st.data())
def test_the_other_direction_never_has_a_held_out_sentence(
    pairs: list[Pair], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
):
    held_out = data.draw(st.integers(1, len(pairs) - 1))
    corpora = both_directions(tmp_path_factory.mktemp("both"), pairs, held_out=held_out)
    assert corpora.held_out is not None
    sources = {pair.source for pair in corpora.held_out.pairs()}
    targets = set() if corpora.held_out.cut.by_source_alone else {pair.target for pair in corpora.held_out.pairs()}
    _, other_direction = map(untagged, corpora.train)
    assert (sources | targets).isdisjoint(text for pair in other_direction for text in pair)


def test_validation_is_in_both_directions(tmp_path: Path):
    corpora = both_directions(tmp_path, REPEATED)
    assert corpora.held_out is not None
    expected = [
        one
        for pair in corpora.held_out.pairs()
        for one in (Pair(f"<2de> {pair.source}", pair.target), Pair(f"<2en> {pair.target}", pair.source))
    ]
    assert list(corpora.valid.pairs()) == expected


def test_a_cut_of_before_the_other_direction_was_heeded_keeps_its_data(tmp_path: Path):
    cut = both_directions(tmp_path, REPEATED).held_out.cut.model_dump(exclude={"both_ways"})
    corpora = both_directions(tmp_path, REPEATED, before=Cut.model_validate(cut))
    assert list(corpora.valid.pairs()) == [Pair(f"<2de> {one.source}", one.target) for one in corpora.held_out.pairs()]
    assert corpora.train[1].key().endswith(f"without what is {corpora.held_out.key()}")


def test_keys_of_corpora_in_one_direction_are_as_ever(tmp_path: Path):
    both_directions(tmp_path, REPEATED)  # writes the file
    one, other = ({"pairs": str(tmp_path / "pairs.tsv"), "source_column": column} for column in (0, 1))
    corpora = open_corpora(DataSettings.model_validate({"train": [one, {**other, "target_column": 0}], "held_out": 5}))
    whole, mirrored = (
        open_corpus(CorpusSettings.model_validate(settings), split="train").key()
        for settings in (one, {**other, "target_column": 0})
    )
    assert corpora.valid.key() == f"held out 5 of {whole}"
    assert [corpus.key() for corpus in corpora.train] == [
        f"without 5 of {whole}",
        f"{mirrored} without what is held out 5 of {whole}",
    ]
    forward, _ = both_directions(tmp_path, REPEATED).train
    assert forward.key() == f"tagged <2de> without 5 of {whole}"
