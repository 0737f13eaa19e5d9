"""The engine picks the search the options name; the translator keeps number and order of texts; loops are seen."""

import dataclasses
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW, SPECIAL, VOCABULARY, batch_of, rescore, tiny, tiny_settings
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.decoding.engines.torch import TorchEngine, in_batches
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.search.from_source import beam_from_source, greedy_from_source
from manyheads.decoding.search.hypothesis import Hypothesis, Penalty
from manyheads.decoding.translator import Translator
from manyheads.decoding.unfinished import repeated_tail
from manyheads.errors import ManyheadsError

ROWS = [[4, 5, 6], [7], [8, 9, 10, 4, 4]]


@pytest.fixture(scope="module")
def engine() -> TorchEngine:
    config = TranslationConfig(
        model=tiny_settings(),
        source_vocabulary=VOCABULARY,
        target_vocabulary=VOCABULARY,
        pad=SPECIAL.pad,
        start=SPECIAL.start,
        end=SPECIAL.end,
    )
    return TorchEngine(tiny(), config)


def test_sources_get_their_end_token_and_limits_follow_their_lengths(engine):
    limits = [len(row) + 3 for row in ROWS]
    options = TranslationOptions(beam=3, length_penalty=1.0, extra_length=3)
    assert engine.search(ROWS, options) == beam_from_source(
        tiny(), batch_of(ROWS), special=SPECIAL, limits=limits, beam=3, penalty=Penalty(1.0)
    )
    one = dataclasses.replace(options, beam=1)
    expected = greedy_from_source(tiny(), batch_of(ROWS), special=SPECIAL, limits=limits, penalty=Penalty(1.0))
    assert engine.search(ROWS, one) == [[found] for found in expected]


def test_the_prefix_and_the_ngrams_reach_every_search(engine):
    for changes in ({"beam": 1}, {"beam": 3}, {"sample": True, "n_best": 3}):
        options = TranslationOptions(**changes, extra_length=6, no_repeat_ngram=1)
        for hypotheses in engine.search(ROWS, options, prefix=[5, 6]):
            for one in hypotheses:
                assert one.tokens[:2] == [5, 6]
                assert len(set(one.tokens)) == len(one.tokens)


def test_samples_come_best_first_as_many_as_asked_for(engine):
    options = TranslationOptions(sample=True, n_best=5, seed=4, extra_length=4)
    found = engine.search(ROWS, options)
    assert found == engine.search(ROWS, options)
    for row, hypotheses in zip(ROWS, found, strict=True):
        assert len(hypotheses) == 5
        assert len({tuple(one.tokens) for one in hypotheses}) > 1
        scores = [one.score for one in hypotheses]
        assert scores == sorted(scores, reverse=True)
        claimed = [one.log_probability for one in hypotheses]
        assert claimed == pytest.approx(rescore(tiny(), row, hypotheses), rel=1e-5, abs=1e-5)


def test_scoring_gives_each_token_and_the_end_whatever_the_company(engine):
    targets = [[6, 5], [], [9, 9, 9, 4]]
    together = engine.score(ROWS, targets)
    assert [len(row) for row in together] == [3, 1, 5]
    for row, target, scores in zip(ROWS, targets, together, strict=True):
        (alone,) = engine.score([row], [target])
        assert scores == pytest.approx(alone, rel=1e-5, abs=1e-5)
        whole = Hypothesis([*target, SPECIAL.end], 0.0, 0.0, finished=True)
        assert [sum(scores)] == pytest.approx(rescore(tiny(), row, [whole]), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"beam": 0}, "beam must be at least 1"),
        ({"length_penalty": -0.1}, "length penalty must not be negative"),
        ({"n_best": 5, "beam": 4}, r"n-best cannot exceed the beam \(4\)"),
        ({"temperature": 0.0}, "temperature must be above 0"),
        ({"top_p": 0.0}, "top-p"),
        ({"top_p": 1.5}, "top-p"),
        ({"top_k": -1}, "top-k"),
        ({"batch_sentences": 0}, "batch size"),
        ({"no_repeat_ngram": -1}, "must not be negative"),
        ({"extra_length": -1}, "must not be negative"),
        ({"beams": 3}, "no option 'beams'"),
    ],
)
def test_impossible_options_are_refused_with_a_sentence(changes, message):
    with pytest.raises(ManyheadsError, match=message):
        TranslationOptions().changed(changes)


def test_options_come_from_the_runs_settings_and_callers_changes_win():
    recipe = TranslationRecipe.model_validate(
        {
            "data": {"train": {"task": "copy"}, "max_length": 70},
            "decoding": {"beam": 2, "length_penalty": 0.1, "extra_length": 9, "no_repeat_ngram": 3},
        }
    )
    options = TranslationOptions.from_recipe(recipe).changed({"beam": 7, "extra_length": None})
    assert (options.beam, options.length_penalty, options.extra_length, options.no_repeat_ngram) == (7, 0.1, 9, 3)
    assert options.split_above == 70


def test_a_table_of_learned_positions_leaves_room_for_the_end_token():
    recipe = TranslationRecipe.model_validate(
        {"data": {"train": {"task": "copy"}}, "model": {"positions": {"kind": "learned", "maximum": 30}}}
    )
    assert TranslationOptions.from_recipe(recipe).split_above == 29


class Letters:
    """A tokenizer whose tokens are letters."""

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text.strip()]

    def encode_all(self, texts: Sequence[str], *, threads: int = 1) -> list[list[int]]:
        return [self.encode(text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(chr(one) for one in ids if one != SPECIAL.end)

    def decode_all(self, rows: Sequence[Sequence[int]], *, threads: int) -> list[str]:
        return [self.decode(ids) for ids in rows]


class Both:
    source = target = Letters()


class Doubler:
    """An engine that writes each source twice, and does not end if the source begins with an x."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def search(self, sources, options, *, prefix=()):
        self.batches.append([len(ids) for ids in sources])
        return [[self._double(ids)] for ids in sources]

    def _double(self, ids: Sequence[int]) -> Hypothesis:
        unfinished = chr(ids[0]) == "x"
        tokens = [*ids, *ids, *([] if unfinished else [SPECIAL.end])]
        return Hypothesis(tokens, -1.0, -1.0, finished=not unfinished)

    def score(self, sources, targets):
        return [[float(len(source)), float(len(target))] for source, target in zip(sources, targets, strict=True)]


def doubling(**options) -> tuple[Translator, Doubler]:
    engine = Doubler()
    return Translator.from_parts(engine, Both(), TranslationOptions(**options)), engine


@LAW
@given(texts=st.lists(st.text(alphabet="ab ", max_size=5), max_size=9))
def test_as_many_texts_come_out_in_the_same_order_empty_ones_too(texts):
    translator, _ = doubling()
    assert translator.translate(texts) == [text.strip() * 2 for text in texts]


@LAW
@given(lengths=st.lists(st.integers(0, 9), max_size=9), size=st.integers(1, 4))
def test_batches_are_of_similar_length_and_results_in_order(lengths, size):
    batches = []

    def work(rows: list[int]) -> list[int]:
        batches.append([lengths[row] for row in rows])
        return rows

    assert in_batches(work, lengths=lengths, size=size) == list(range(len(lengths)))
    assert [length for batch in batches for length in batch] == sorted(lengths, reverse=True)
    assert all(len(batch) <= size for batch in batches)


def test_a_text_beyond_the_limit_is_translated_sentence_by_sentence():
    translator, engine = doubling(split_above=6)
    assert translator.translate(["Abc.  De!", "fg"]) == ["Abc.Abc.  De!De!", "fgfg"]
    assert max(length for batch in engine.batches for length in batch) <= 6
    assert translator.translate("Abc.  De!", split_above=0) == "Abc.  De!" * 2


def test_a_warning_about_a_part_is_a_warning_about_the_whole():
    translator, _ = doubling(split_above=6)
    (found,) = translator.translations(["abc. xYZ."])
    assert found.text == "abc.abc. xYZ.xYZ." and "in one of 2 parts" in found.warning


def test_one_text_gives_one_text():
    translator, _ = doubling()
    assert translator.translate("ab") == "abab"
    assert translator.translate("") == ""


def test_an_output_that_was_cut_off_carries_a_warning():
    translator, _ = doubling()
    fine, cut, loop = translator.translations(["ab", "xyz", "xx"])
    assert fine.warning is None
    assert "6 tokens without an end" in cut.warning and "repeats" not in cut.warning
    assert "repeats the same token" in loop.warning


def test_scores_keep_the_order_of_the_pairs_and_need_as_many_of_each():
    translator, _ = doubling(batch_sentences=2)
    scores = translator.score(["abc", "a", "ab"], ["a", "abcd", "ab"])
    assert scores == [[3.0, 1.0], [1.0, 4.0], [2.0, 2.0]]
    with pytest.raises(ManyheadsError, match="3 sources but 1 targets"):
        translator.score(["a", "b", "c"], ["a"])


@LAW
@given(
    before=st.lists(st.integers(0, 2), max_size=6),
    unit=st.lists(st.integers(0, 2), min_size=1, max_size=4),
    repeats=st.integers(1, 5),
    times=st.integers(2, 4),
)
def test_the_repeated_tail_is_the_shortest_that_repeats(before, unit, repeats, times):
    tokens = [*before, *unit * repeats]
    found = repeated_tail(tokens, times=times)
    loops = [
        length
        for length in range(1, len(tokens) + 1)
        if length * times <= len(tokens) and tokens[-length:] * times == tokens[-length * times :]
    ]
    assert found == (loops[0] if loops else 0)
    if repeats >= times:
        assert 0 < found <= len(unit)


def test_nothing_repeats_in_nothing():
    assert repeated_tail([]) == 0
    assert repeated_tail([7, 7]) == 0
    assert repeated_tail([7, 7, 7]) == 1
    assert repeated_tail([1, 2, 1, 2, 1, 2]) == 2
    assert repeated_tail([1, 2, 1, 2, 1, 2, 3]) == 0
