"""Sampling draws as the seed and the distribution say, from the most probable part if asked."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW, SPECIAL, VOCABULARY, batch_of, sentences, tiny
from manyheads.decoding.search.from_source import greedy_from_source
from manyheads.decoding.search.sampling import Sampling, cut, sampler
from manyheads.errors import ManyheadsError

CPU = torch.device("cpu")
ROWS = [[4, 5, 6], [7], [8, 9, 10, 4], [5, 5]]


def draw(rows, **how) -> list[list[int]]:
    found = greedy_from_source(
        tiny(), batch_of(rows), special=SPECIAL, limits=[10] * len(rows), choose=sampler(Sampling(**how), CPU)
    )
    return [one.tokens for one in found]


def test_the_same_seed_gives_the_same_outputs_and_another_one_others():
    assert draw(ROWS, seed=1) == draw(ROWS, seed=1)
    assert draw(ROWS, seed=1) != draw(ROWS, seed=2)


def test_the_seed_alone_decides_whatever_was_drawn_before():
    torch.manual_seed(1)
    first = draw(ROWS, seed=1)
    torch.manual_seed(2)
    assert draw(ROWS, seed=1) == first


@LAW
@given(rows=st.lists(sentences, min_size=1, max_size=3), seed=st.integers(0, 1000))
def test_from_the_one_most_probable_token_sampling_is_greedy(rows, seed):
    greedy = greedy_from_source(tiny(), batch_of(rows), special=SPECIAL, limits=[10] * len(rows))
    assert draw(rows, top_k=1, seed=seed) == [one.tokens for one in greedy]


def test_a_very_low_temperature_is_greedy():
    greedy = greedy_from_source(tiny(), batch_of(ROWS), special=SPECIAL, limits=[10] * len(ROWS))
    assert draw(ROWS, temperature=1e-4) == [one.tokens for one in greedy]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_come_as_often_as_their_probability_says(temperature):
    logits = torch.tensor([0.0, 1.0, -1.0, -math.inf, 0.5])
    count = 50_000
    drawn = sampler(Sampling(temperature=temperature, seed=3), CPU)(logits.expand(count, -1))
    weights = [math.exp(value / temperature) for value in logits.tolist()]
    for token, weight in enumerate(weights):
        p = weight / sum(weights)
        found = int((drawn == token).sum())
        assert abs(found - count * p) <= 5 * math.sqrt(count * p * (1 - p))


distributions = st.lists(st.integers(-40, 40), min_size=2, max_size=8, unique=True).map(
    lambda values: [value / 10 for value in values]
)


@LAW
@given(logits=distributions, top_k=st.integers(0, 10))
def test_top_k_keeps_the_k_most_probable(logits, top_k):
    kept = cut(torch.tensor([logits]), top_k=top_k, top_p=1.0)[0]
    best = sorted(range(len(logits)), key=lambda token: -logits[token])[: top_k or len(logits)]
    assert {token for token in range(len(logits)) if not kept[token].isneginf()} == set(best)
    assert all(float(kept[token]) == pytest.approx(logits[token]) for token in best)


@LAW
@given(logits=distributions, top_p=st.floats(0.05, 0.99))
def test_top_p_keeps_the_smallest_set_with_that_much_mass(logits, top_p):
    kept = cut(torch.tensor([logits], dtype=torch.float64), top_k=0, top_p=top_p)[0]
    total = sum(math.exp(value) for value in logits)
    nucleus, mass = set(), 0.0
    for token in sorted(range(len(logits)), key=lambda token: -logits[token]):
        if mass >= top_p:
            break
        nucleus.add(token)
        mass += math.exp(logits[token]) / total
    assert {token for token in range(len(logits)) if not kept[token].isneginf()} == nucleus


def test_top_p_counts_the_mass_that_top_k_left():
    """Of 0.4, 0.3, 0.2, 0.1 the best three are 4/9, 3/9, 2/9; the first two hold 7/9 ≥ 0.75 of them, not of all."""
    logits = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    assert cut(logits, top_k=3, top_p=0.75).isneginf().tolist() == [[False, False, True, True]]
    assert cut(logits, top_k=0, top_p=0.75).isneginf().tolist() == [[False, False, False, True]]


@pytest.mark.parametrize("top_p", [0.3, 0.7])
def test_every_token_of_a_sampled_output_is_in_the_nucleus(top_p):
    model = tiny()
    ranks = []
    for seed in range(5):
        for row, tokens in zip(ROWS, draw(ROWS, top_p=top_p, seed=seed), strict=True):
            with torch.no_grad():
                before = torch.tensor([[SPECIAL.start, *tokens[:-1]]])
                logits = model.logits(model.decode(before, model.encode(batch_of([row]))).hidden)[0].double()
            logits[:, [SPECIAL.pad, SPECIAL.start]] = -math.inf  # these are no outputs
            likely = logits.softmax(dim=-1)
            for position, token in enumerate(tokens):
                ahead = likely[position][likely[position] > likely[position, token]]
                assert float(ahead.sum()) < top_p + 1e-6
                ranks.append(len(ahead))
    assert max(ranks) > 0  # it is not greedy
    assert max(ranks) < VOCABULARY - 2


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": -0.1}, "temperature must"),
        ({"temperature": math.nan}, "temperature must"),
        ({"temperature": math.inf}, "temperature must"),
        ({"top_k": -1}, "top-k must not be negative"),
        ({"top_p": 0.0}, "top-p must be above 0"),
        ({"top_p": 1.1}, "top-p must be above 0"),
    ],
)
def test_impossible_values_are_refused(values: dict[str, Any], message: str):
    with pytest.raises(ManyheadsError, match=message):
        Sampling(**values)
