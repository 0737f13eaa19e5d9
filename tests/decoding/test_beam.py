"""Beam search equals enumeration where it holds every prefix, and the same search written plainly where not."""

import itertools
import math
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from helpers import LAW, SPECIAL, VOCABULARY, sentences, stir, tiny, tiny_settings
from manyheads.config.special import SpecialIds
from manyheads.decoding.search.from_source import beam_from_source, greedy_from_source
from manyheads.decoding.search.hypothesis import Penalty
from manyheads.decoding.search.rescoring import token_log_probabilities
from manyheads.models.interface import Decoded, SequenceToSequence, Tokens
from manyheads.models.transformer import Transformer

TOY = SpecialIds(start=1, end=2, pad=0)
CONTENT = (3, 4, 5)
TOY_VOCABULARY = 6
LIMIT = 4
SOURCES = 8


@dataclass(frozen=True)
class TableState:
    origin: Tensor  # [B] which source
    prefix: Tensor  # [B] the target read so far as a number in base V + 1

    def __len__(self) -> int:
        return len(self.origin)

    def select(self, rows: Tensor) -> "TableState":
        return TableState(self.origin[rows], self.prefix[rows])


class TableModel(SequenceToSequence):
    """Every prefix of every source has a distribution of its own; the source is known by its first token."""

    def __init__(self, seed: int, *, spread: float = 1.5) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        prefixes = (TOY_VOCABULARY + 1) ** LIMIT  # the start token and up to three words
        self.table = spread * torch.randn(SOURCES, prefixes, TOY_VOCABULARY, generator=generator)

    @property
    def output_vectors(self) -> Tensor:
        return torch.eye(TOY_VOCABULARY)

    def encode(self, source: Tokens) -> Tensor:
        return source.ids[:, 0]

    def begin(self, context: Tensor) -> TableState:
        return TableState(context, torch.zeros_like(context))

    def step(self, tokens: Tensor, state: TableState) -> tuple[Tensor, TableState]:
        after = TableState(state.origin, state.prefix * (TOY_VOCABULARY + 1) + tokens + 1)
        return self.table[after.origin, after.prefix], after

    def decode(self, target: Tensor, memory: Tensor) -> Decoded:
        state, rows = self.start(memory), []
        for tokens in target.T:
            logits, state = self.step(tokens, state)
            rows.append(logits)
        return Decoded(torch.stack(rows, dim=1))


# Before the last token 3³ prefixes live, each with 3 words or the end to follow: the most there are at any time.
EVERY_PREFIX = len(CONTENT) ** (LIMIT - 1) * (len(CONTENT) + 1)
ALPHAS = [0.0, 0.6, 1.0, 2.0]


def toy_transformer() -> SequenceToSequence:
    shape = tiny_settings(tie="none", output_bias=True)
    model = Transformer.from_settings(shape, source_vocabulary=TOY_VOCABULARY, target_vocabulary=TOY_VOCABULARY)
    return stir(model, seed=4, gain=1.5).eval()


MODELS = {"table 1": TableModel(1), "table 2": TableModel(2), "transformer": toy_transformer()}


def every_output(longest: int) -> list[list[int]]:
    """Return every output that ends within so many tokens, the end token included."""
    return [[*row, TOY.end] for length in range(longest) for row in itertools.product(CONTENT, repeat=length)]


def ranking(model: SequenceToSequence, source: list[int], alpha: float) -> list[tuple[float, list[int]]]:
    """Return every output with its score, best first."""
    outputs = every_output(LIMIT)
    sources = Tokens.pad([source] * len(outputs), padding=TOY.pad)
    targets = Tokens.pad(outputs, padding=TOY.pad)
    likely = token_log_probabilities(model, sources, targets, start=TOY.start).double().sum(dim=1)
    scored = [
        (total / ((5 + len(tokens)) / 6) ** alpha, tokens)
        for total, tokens in zip(likely.tolist(), outputs, strict=True)
    ]
    return sorted(scored, reverse=True)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", list(MODELS))
def test_a_beam_that_holds_everything_ranks_every_output(name, alpha):
    model = MODELS[name]
    sources = [[3, TOY.end], [4, 5, TOY.end]]
    found = beam_from_source(
        model,
        Tokens.pad(sources, padding=TOY.pad),
        special=TOY,
        limits=[LIMIT] * 2,
        beam=EVERY_PREFIX,
        penalty=Penalty(alpha),
    )
    for source, hypotheses in zip(sources, found, strict=True):
        expected = ranking(model, source, alpha)
        assert len(hypotheses) == len(expected) == sum(len(CONTENT) ** length for length in range(LIMIT))
        assert sorted(one.tokens for one in hypotheses) == sorted(tokens for _, tokens in expected)
        assert [one.score for one in hypotheses] == pytest.approx([score for score, _ in expected], abs=1e-5)
        assert hypotheses[0].tokens == expected[0][1]
        assert all(one.finished for one in hypotheses)


def test_the_penalty_changes_which_output_wins():
    """The toy models are rich enough: greedy, no penalty and a strong penalty do not all agree."""
    source = Tokens.pad([[token, TOY.end] for token in range(3, 6)], padding=TOY.pad)
    options = {"special": TOY, "limits": [LIMIT] * 3}
    greedy = greedy_from_source(MODELS["table 1"], source, **options)
    plain = beam_from_source(MODELS["table 1"], source, beam=EVERY_PREFIX, penalty=Penalty(0.0), **options)
    long = beam_from_source(MODELS["table 1"], source, beam=EVERY_PREFIX, penalty=Penalty(2.0), **options)
    assert [one[0].tokens for one in plain] != [one[0].tokens for one in long]
    assert [one.tokens for one in greedy] != [one[0].tokens for one in plain]


Live = list[tuple[float, list[int]]]


def extensions(
    model: SequenceToSequence, source: list[int], live: Live, special: SpecialIds, outputs: list[int]
) -> Live:
    """Return every prefix extended by every token, best first; all positions are decoded anew."""
    prefixes = torch.tensor([[special.start, *tokens] for _, tokens in live])
    memory = model.encode(Tokens.pad([source] * len(live), padding=special.pad))
    likely = model.logits(model.decode(prefixes, memory).hidden)[:, -1].log_softmax(dim=-1).tolist()
    found = [
        (total + likely[row][token], [*tokens, token]) for row, (total, tokens) in enumerate(live) for token in outputs
    ]
    return sorted(found, reverse=True)


@torch.no_grad()
def by_hand(
    model: SequenceToSequence,
    source: list[int],
    *,
    special: SpecialIds,
    vocabulary: int,
    limit: int,
    width: int,
    alpha: float,
) -> Live:
    """Return scored outputs, best first: one sentence, no batch, no state."""
    outputs = [token for token in range(vocabulary) if token not in (special.pad, special.start)]
    live: Live = [(0.0, [])]
    ended: Live = []
    for step in range(1, limit + 1):
        best = extensions(model, source, live, special, outputs)
        ended += [one for one in best[:width] if one[1][-1] == special.end]
        live = [one for one in best if one[1][-1] != special.end][:width]
        scores = sorted((total / ((5 + len(tokens)) / 6) ** alpha for total, tokens in ended), reverse=True)[:width]
        attainable = max((total for total, _ in live), default=-math.inf) / ((5 + step + 1) / 6) ** alpha
        if len(scores) == width and (width == 1 or attainable <= scores[-1]):
            break
    scored = [(total / ((5 + len(tokens)) / 6) ** alpha, tokens) for total, tokens in ended or live[:1]]
    return sorted(scored, reverse=True)[:width]


def agree(model: SequenceToSequence, source: list[int], *, special: SpecialIds, vocabulary: int, **how) -> None:
    expected = by_hand(model, source, special=special, vocabulary=vocabulary, **how)
    (found,) = beam_from_source(
        model,
        Tokens.pad([source], padding=special.pad),
        special=special,
        limits=[how["limit"]],
        beam=how["width"],
        penalty=Penalty(how["alpha"]),
    )
    assert [one.tokens for one in found] == [tokens for _, tokens in expected]
    assert [one.score for one in found] == pytest.approx([score for score, _ in expected], abs=1e-4)


@settings(LAW, max_examples=100)
@given(
    name=st.sampled_from(["table 1", "table 2"]),
    first=st.integers(0, SOURCES - 1),
    limit=st.integers(1, LIMIT),
    width=st.integers(1, 12),
    alpha=st.sampled_from(ALPHAS),
)
def test_every_width_finds_what_the_search_written_plainly_finds(name, first, limit, width, alpha):
    source = [first, TOY.end]
    agree(MODELS[name], source, special=TOY, vocabulary=TOY_VOCABULARY, limit=limit, width=width, alpha=alpha)


@LAW
@given(source=sentences, limit=st.integers(1, 8), width=st.integers(1, 6), alpha=st.sampled_from(ALPHAS))
def test_every_width_finds_what_the_search_written_plainly_finds_with_a_transformer(source, limit, width, alpha):
    ended = [*source, SPECIAL.end]
    agree(tiny(), ended, special=SPECIAL, vocabulary=VOCABULARY, limit=limit, width=width, alpha=alpha)


def test_the_length_penalty_equals_the_papers():
    assert Penalty(0.0).of(7) == 1.0
    assert Penalty(0.6).of(1) == 1.0  # (5 + 1) / 6
    assert Penalty(1.0).of(7) == pytest.approx(2.0)  # (5 + 7) / 6
    assert Penalty(0.5).of(19) == pytest.approx(2.0)  # √((5 + 19) / 6)
    assert Penalty(0.5, "power").of(9) == pytest.approx(3.0)  # √9


def test_the_stand_in_keeps_its_own_contract():
    model, rows = MODELS["table 1"], torch.tensor([3, 4, 3])
    target = torch.tensor([[1, 3, 4], [1, 3, 4], [1, 5, 5]])
    whole = model.logits(model.decode(target, rows).hidden)
    assert not torch.equal(whole[0], whole[1])  # another source
    assert torch.equal(whole[0, 0], whole[2, 0])  # the same source and prefix
    assert not torch.equal(whole[0, 1], whole[2, 1])
