"""The memory network against the equations of its paper, written out with loops."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from helpers import LAW, greatest_difference, stir
from manyheads.config.models.memory_network import MemoryNetworkSettings
from manyheads.models.interface import MemoryInputs
from manyheads.models.memory_network import MemoryNetwork

WORDS, WIDTH, HOPS, MEMORY = 9, 6, 3, 4
CLOSE = 1e-5


def network(**keys) -> MemoryNetwork:
    settings = MemoryNetworkSettings(**{"width": WIDTH, "hops": HOPS, "memory": MEMORY, **keys})
    return stir(MemoryNetwork.from_settings(settings, vocabulary=WORDS), seed=3).eval()


def weight(dimension: int, place: int, length: int) -> float:
    """Return l_kj of the paper, where places and dimensions are counted from 1."""
    return (1 - place / length) - (dimension / WIDTH) * (1 - 2 * place / length)


def sentence(words: list[int], table, *, encoded: bool) -> list[float]:
    """Return Σ_j l_j ∘ E·x_j."""
    return [
        sum(
            (weight(k + 1, j + 1, len(words)) if encoded else 1.0) * float(table[word, k])
            for j, word in enumerate(words)
        )
        for k in range(WIDTH)
    ]


def softmax(scores: list[float]) -> list[float]:
    total = sum(math.exp(score) for score in scores)
    return [math.exp(score) / total for score in scores]


@torch.no_grad()
def answered(model: MemoryNetwork, facts: list[list[int]], question: list[int], *, linear: bool) -> list[float]:
    """Return the logits by equations (1) to (4) for one story, the most recent fact first."""
    encoded, adjacent = model.position_encoding, model.question is None
    tables = [*model.embeddings]
    asked, answers = (tables[0], tables[-1]) if adjacent else (model.question, model.answer)
    state = sentence(question, asked, encoded=encoded)
    for hop in range(HOPS):
        first = hop if adjacent else 0
        m, c = (
            [
                [
                    value + (float(model.times[which][i, k]) if len(model.times) else 0.0)
                    for k, value in enumerate(sentence(fact, tables[which], encoded=encoded))
                ]
                for i, fact in enumerate(facts)
            ]
            for which in (first, first + 1)
        )
        scores = [sum(a * b for a, b in zip(state, memory, strict=True)) for memory in m]
        empty = [0.0] * (MEMORY - len(facts)) if model.hops[0].cross_attention.places else []
        p = scores if linear else softmax([*scores, *empty])[: len(scores)]
        output = [sum(share * memory[k] for share, memory in zip(p, c, strict=True)) for k in range(WIDTH)]
        if not adjacent:
            between = model.between.weight
            state = [sum(float(between[k, i]) * state[i] for i in range(WIDTH)) for k in range(WIDTH)]
        state = [a + b for a, b in zip(state, output, strict=True)]
        state = [max(0.0, value) for value in state] if model.relu else state
    return [sum(float(answers[word, k]) * state[k] for k in range(WIDTH)) for word in range(WORDS)]


words = st.integers(1, WORDS - 1)
sentences = st.lists(words, min_size=1, max_size=5)


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"position_encoding": False},
        {"temporal": False},
        {"tying": "layer_wise"},
        {"tying": "layer_wise", "relu": True, "position_encoding": False},
        {"empty_places": True},
        {"linear_start_until": 5},
    ],
    ids=str,
)
@LAW
@given(facts=st.lists(sentences, min_size=1, max_size=MEMORY), question=sentences)
def test_it_computes_the_equations_of_the_paper(keys, facts, question):
    model = network(**keys)
    longest = max(map(len, facts))
    inputs = MemoryInputs(
        torch.tensor([fact + [0] * (longest - len(fact)) for fact in facts]),
        torch.arange(len(facts))[None],
        torch.tensor([len(facts)]),
        torch.tensor([question]),
    )
    with torch.inference_mode():
        found = model(inputs)[0]
    expected = torch.tensor(answered(model, facts, question, linear="linear_start_until" in keys))
    assert greatest_difference(found, expected) < CLOSE * max(1.0, float(expected.abs().max()))


def test_the_softmax_is_inserted_at_its_step_and_is_part_of_the_weights():
    model = network(linear_start_until=2)
    for step, linear in ((0, 1.0), (1, 1.0), (2, 0.0), (7, 0.0)):
        for hop in model.hops:
            hop.at_step(step)
        assert [float(hop.linear) for hop in model.hops] == [linear] * HOPS
    assert model.state_dict()["hops.0.linear"].tolist() == [0.0]
    assert not any("linear" in name for name in network().state_dict())


@pytest.mark.parametrize("tying", ["adjacent", "layer_wise"])
def test_the_settings_know_the_number_of_weights(tying):
    settings = MemoryNetworkSettings(width=WIDTH, hops=HOPS, memory=MEMORY, tying=tying)
    model = MemoryNetwork.from_settings(settings, vocabulary=WORDS)
    assert settings.weights(WORDS, WORDS) == sum(parameter.numel() for parameter in model.parameters())


def test_a_memory_without_facts_adds_nothing():
    model = network()
    inputs = MemoryInputs(
        torch.tensor([[3, 4]]), torch.zeros(1, 2, dtype=torch.long), torch.tensor([0]), torch.tensor([[5]])
    )
    with torch.inference_mode():
        found = model(inputs)
        state = torch.tensor(sentence([5], model.embeddings[0], encoded=True))
        assert greatest_difference(found[0], model.embeddings[-1] @ state) < CLOSE
