"""Laws of every search: honest scores, no influence of company, limits, prefixes and n-grams obeyed."""

import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW, SPECIAL, VOCABULARY, batch_of, rescore, sentences, tiny, words
from manyheads.config.special import SpecialIds
from manyheads.decoding.search.constraints import Constraints
from manyheads.decoding.search.from_source import beam_from_source, greedy_from_source
from manyheads.decoding.search.hypothesis import Hypothesis, Penalty
from manyheads.decoding.search.sampling import Sampling, sampler

several = st.lists(sentences, min_size=1, max_size=4)
alphas = st.sampled_from([0.0, 0.6, 1.5])


@pytest.fixture(scope="module", params=["pre", "post"])
def model(request):
    return tiny(request.param)


def greedy(model, rows, *, limits, alpha=0.6, **options) -> list[list[Hypothesis]]:
    found = greedy_from_source(model, batch_of(rows), special=SPECIAL, limits=limits, penalty=Penalty(alpha), **options)
    return [[one] for one in found]


def beam(model, rows, *, limits, alpha=0.6, width=4, **options) -> list[list[Hypothesis]]:
    return beam_from_source(
        model, batch_of(rows), special=SPECIAL, limits=limits, beam=width, penalty=Penalty(alpha), **options
    )


def sampled(model, rows, *, limits, alpha=0.6, **options) -> list[list[Hypothesis]]:
    draw = sampler(Sampling(seed=5), torch.device("cpu"))
    return greedy(model, rows, limits=limits, alpha=alpha, choose=draw, **options)


SEARCHES = {"greedy": greedy, "beam": beam, "sampling": sampled}


@pytest.fixture(scope="module", params=list(SEARCHES))
def search(request):
    return SEARCHES[request.param]


def limits_for(rows: Sequence[Sequence[int]], extra: int = 4) -> list[int]:
    return [len(row) + extra for row in rows]


def honest(model, row: Sequence[int], hypotheses: Sequence[Hypothesis]) -> None:
    """Every log-probability is what `decode` says of the same tokens."""
    claimed = [one.log_probability for one in hypotheses]
    assert claimed == pytest.approx(rescore(model, row, hypotheses), rel=1e-5, abs=1e-5)


def test_the_model_gives_outputs_that_end_and_outputs_that_do_not():
    """The laws below would mean little for a model that always says the same."""
    rows = [[first, second] for first in range(4, VOCABULARY) for second in range(4, VOCABULARY)]
    found = [one[0] for one in greedy(tiny(), rows, limits=[12] * len(rows))]
    assert len({tuple(one.tokens) for one in found}) > 5
    assert {one.finished for one in found} == {True, False}
    assert len({len(one.tokens) for one in found if one.finished}) > 2
    best = [one[0] for one in beam(tiny(), rows, limits=[12] * len(rows))]
    assert [one.tokens for one in best] != [one.tokens for one in found]


@LAW
@given(rows=several, alpha=alphas)
def test_every_score_is_the_models_own(model, search, rows, alpha):
    for row, hypotheses in zip(rows, search(model, rows, limits=limits_for(rows), alpha=alpha), strict=True):
        assert hypotheses
        honest(model, row, hypotheses)
        for one in hypotheses:
            penalty = ((5 + len(one.tokens)) / 6) ** alpha
            assert one.score == pytest.approx(one.log_probability / penalty, rel=1e-6)


@LAW
@given(rows=several, extra=st.integers(0, 8), alpha=alphas)
def test_limits_are_kept_and_what_did_not_end_says_so(model, search, rows, extra, alpha):
    limits = limits_for(rows, extra)
    for limit, hypotheses in zip(limits, search(model, rows, limits=limits, alpha=alpha), strict=True):
        for one in hypotheses:
            assert 1 <= len(one.tokens) <= limit
            assert one.finished == (one.tokens[-1] == SPECIAL.end)
            assert one.finished or len(one.tokens) == limit
            assert SPECIAL.end not in one.tokens[:-1]
            assert SPECIAL.pad not in one.tokens and SPECIAL.start not in one.tokens


@LAW
@given(
    rows=st.lists(sentences, min_size=2, max_size=4), name=st.sampled_from(["greedy", "beam"]), width=st.integers(1, 5)
)
def test_padding_and_company_change_no_output(model, rows, name, width):
    options = {"width": width} if name == "beam" else {}
    together = SEARCHES[name](model, rows, limits=limits_for(rows), **options)
    for row, hypotheses in zip(rows, together, strict=True):
        (alone,) = SEARCHES[name](model, [row], limits=limits_for([row]), **options)
        assert [one.tokens for one in hypotheses] == [one.tokens for one in alone]
        assert [one.log_probability for one in hypotheses] == pytest.approx(
            [one.log_probability for one in alone], rel=1e-5, abs=1e-5
        )


@LAW
@given(rows=several, alpha=alphas)
def test_a_beam_of_one_is_greedy(model, rows, alpha):
    limits = limits_for(rows, 8)
    narrow = beam(model, rows, limits=limits, alpha=alpha, width=1)
    for one, other in zip(narrow, greedy(model, rows, limits=limits, alpha=alpha), strict=True):
        assert [found.tokens for found in one] == [found.tokens for found in other]
        assert one[0].finished == other[0].finished
        assert one[0].score == pytest.approx(other[0].score, rel=1e-5, abs=1e-5)


@LAW
@given(rows=several)
def test_greedy_takes_the_most_probable_token_that_is_one(model, rows):
    for row, (one,) in zip(rows, greedy(model, rows, limits=limits_for(rows)), strict=True):
        with torch.no_grad():
            before = torch.tensor([[SPECIAL.start, *one.tokens[:-1]]])
            logits = model.logits(model.decode(before, model.encode(batch_of([row]))).hidden)[0]
        logits[:, [SPECIAL.pad, SPECIAL.start]] = -math.inf
        assert one.tokens == logits.argmax(dim=-1).tolist()


@LAW
@given(rows=several, width=st.integers(2, 6), alpha=alphas)
def test_a_beam_returns_different_outputs_best_first(model, rows, width, alpha):
    for hypotheses in beam(model, rows, limits=limits_for(rows, 8), width=width, alpha=alpha):
        assert 1 <= len(hypotheses) <= width
        assert len({tuple(one.tokens) for one in hypotheses}) == len(hypotheses)
        scores = [one.score for one in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len(hypotheses) == 1 or all(one.finished for one in hypotheses)


@LAW
@given(
    rows=several,
    prefixes=st.lists(st.lists(words, max_size=4), min_size=4, max_size=4),
)
def test_a_forced_prefix_is_obeyed_and_the_score_stays_the_models_own(model, search, rows, prefixes):
    prefixes = prefixes[: len(rows)]
    found = search(model, rows, limits=limits_for(rows, 5), constraints=Constraints(prefixes))
    for row, prefix, hypotheses in zip(rows, prefixes, found, strict=True):
        assert hypotheses
        assert all(one.tokens[: len(prefix)] == prefix for one in hypotheses)
        honest(model, row, hypotheses)


@LAW
@given(rows=several)
def test_forcing_what_greedy_writes_anyway_changes_nothing(model, rows):
    limits = limits_for(rows)
    free = greedy(model, rows, limits=limits)
    prefixes = [one.tokens[: len(one.tokens) // 2] for (one,) in free]
    forced = greedy(model, rows, limits=limits, constraints=Constraints(prefixes))
    assert [one.tokens for (one,) in forced] == [one.tokens for (one,) in free]
    assert [one.score for (one,) in forced] == pytest.approx([one.score for (one,) in free], rel=1e-5)


def ngrams(tokens: Sequence[int], n: int) -> list[tuple[int, ...]]:
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


@LAW
@given(rows=several, n=st.integers(1, 3))
def test_no_ngram_is_written_twice(model, search, rows, n):
    found = search(model, rows, limits=limits_for(rows, 8), constraints=Constraints(no_repeat_ngram=n))
    for row, hypotheses in zip(rows, found, strict=True):
        assert all(len(set(ngrams(one.tokens, n))) == len(ngrams(one.tokens, n)) for one in hypotheses)
        honest(model, row, hypotheses)


def test_left_free_the_model_does_repeat_itself():
    rows = [[first] for first in range(4, VOCABULARY)]
    found = [one[0].tokens for one in greedy(tiny(), rows, limits=[12] * len(rows))]
    for n in (1, 2, 3):
        assert any(len(set(ngrams(tokens, n))) < len(ngrams(tokens, n)) for tokens in found)


@LAW
@given(
    written=st.integers(0, 8).flatmap(
        lambda length: st.lists(st.lists(words, min_size=length, max_size=length), min_size=1, max_size=3)
    ),
    n=st.integers(0, 4),
)
def test_exactly_the_tokens_that_would_repeat_an_ngram_are_forbidden(written, n):
    likely = torch.zeros(len(written), VOCABULARY)
    allowed = Constraints(no_repeat_ngram=n).apply(
        likely, torch.tensor(written, dtype=torch.long), torch.arange(len(written)), never=(0, 2)
    )
    for row, tokens in enumerate(written):
        for token in range(VOCABULARY):
            repeats = n > 0 and tuple([*tokens, token][-n:]) in ngrams(tokens, n)
            forbidden = token in (0, 2) or repeats
            assert float(allowed[row, token]) == (-math.inf if forbidden else 0.0)
    assert not likely.any()  # what was passed in is not changed


PREFIX_THAT_REPEATS = Constraints([[5, 5, 5]], no_repeat_ngram=1)


def test_a_prefix_that_repeats_itself_is_obeyed_although_ngrams_may_not_be_repeated(search):
    hypotheses = search(tiny(), [[4, 6]], limits=[8], constraints=PREFIX_THAT_REPEATS)[0]
    assert hypotheses
    for one in hypotheses:
        assert one.tokens[:3] == [5, 5, 5]
        assert math.isfinite(one.log_probability)


@pytest.mark.parametrize("method", [greedy_from_source, beam_from_source])
@pytest.mark.parametrize(
    "special",
    [SpecialIds(start=3, end=3, pad=0), SpecialIds(start=0, end=3, pad=0)],
    ids=["start is end", "start is pad"],
)
def test_outputs_end_whichever_token_a_target_starts_with(method, special):
    rows = [[first, second] for first in range(4, VOCABULARY) for second in range(4, VOCABULARY)]
    found = method(tiny(), batch_of(rows), special=special, limits=[12] * len(rows))
    best = [one[0] if isinstance(one, list) else one for one in found]
    assert any(one.finished for one in best)
    for row, one in zip(rows[:5], best[:5], strict=True):
        assert [one.log_probability] == pytest.approx(rescore(tiny(), row, [one], special=special), rel=1e-5)


def test_the_model_may_be_searched_while_its_gradients_are_wanted_elsewhere():
    """A search leaves no graph and no changed weights behind."""
    model = tiny()
    before = {name: parameter.clone() for name, parameter in model.named_parameters()}
    beam(model, [[4, 5]], limits=[5])
    assert all(torch.equal(before[name], parameter) for name, parameter in model.named_parameters())
    assert all(parameter.requires_grad and parameter.grad is None for parameter in model.parameters())
