"""The objective equals teacher forcing written out; padding carries no loss; batches add up; R-Drop sees one twice."""

import numpy as np
import pytest
import torch

from helpers import SPECIAL, VOCABULARY, stir, tiny_settings
from manyheads.data.batches.pairs import PairBatch
from manyheads.models.interface import Tokens
from manyheads.models.transformer import Transformer
from manyheads.tasks.loss import smoothed_loss
from manyheads.tasks.teacher_forcing import PairTensors, TranslationObjective

SOURCES = [[4, 5, 6, 3], [7, 3], [8, 9, 10, 4, 3], [5, 3]]
TARGETS = [[6, 5, 4, 3], [7, 7, 7, 7, 3], [3], [10, 3]]


def rectangle(rows: list[list[int]], padding: int) -> np.ndarray:
    width = max(map(len, rows))
    return np.array([[*row, *[padding] * (width - len(row))] for row in rows])


def make_batch(sources=SOURCES, targets=TARGETS, *, padding: int = SPECIAL.pad) -> PairTensors:
    arrays = PairBatch(
        source=rectangle(sources, padding),
        source_lengths=np.array([len(row) for row in sources]),
        target_in=rectangle([[SPECIAL.start, *row[:-1]] for row in targets], padding),
        target_out=rectangle(targets, padding),
        target_lengths=np.array([len(row) for row in targets]),
        pairs=np.arange(len(sources)),
    )
    return PairTensors.move(arrays, torch.device("cpu"))


@pytest.fixture(params=["all", "none"])
def model(request) -> Transformer:
    shape = tiny_settings(tie=request.param, output_bias=True)
    built = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    return stir(built, seed=1)


def gradients(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    found = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad(set_to_none=True)
    return found


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> None:
    for name in first:
        scale = max(1.0, float(first[name].abs().max()))
        assert torch.allclose(first[name], second[name], rtol=1e-4, atol=1e-5 * scale), name
    assert any(gradient.abs().max() > 1e-3 for gradient in first.values())


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_loss_and_gradients_equal_the_sentences_taken_one_by_one_through_the_logits(model, smoothing):
    loss, count = TranslationObjective(model, smoothing=smoothing)(make_batch())
    loss.backward()
    found = gradients(model)
    plain = torch.zeros(())
    for source, target in zip(SOURCES, TARGETS, strict=True):
        memory = model.encode(Tokens(torch.tensor([source]), torch.tensor([len(source)])))
        logits = model.logits(model.decode(torch.tensor([[SPECIAL.start, *target[:-1]]]), memory).hidden)
        plain = plain + smoothed_loss(logits[0], torch.tensor(target), smoothing=smoothing)
    plain.backward()
    assert count == sum(map(len, TARGETS))
    assert float(loss.detach()) == pytest.approx(float(plain.detach()), rel=1e-5)
    same(found, gradients(model))


def test_padding_carries_no_loss_whatever_it_is(model):
    objective = TranslationObjective(model, smoothing=0.1)
    loss, count = objective(make_batch())
    other, other_count = objective(make_batch(padding=9))
    assert count == other_count
    assert float(loss.detach()) == pytest.approx(float(other.detach()), rel=1e-6)


def test_real_positions_are_those_before_each_length():
    batch = make_batch()
    assert batch.target_out.flatten()[batch.real].tolist() == [token for row in TARGETS for token in row]


def test_two_half_batches_accumulate_to_the_whole_one(model):
    objective = TranslationObjective(model, smoothing=0.1)
    loss, count = objective(make_batch())
    (loss / count).backward()
    whole = gradients(model)
    halves = [objective(make_batch(SOURCES[part], TARGETS[part])) for part in (slice(0, 2), slice(2, 4))]
    for half, _ in halves:
        (half / count).backward()
    assert sum(number for _, number in halves) == count
    assert float(sum(half.detach() for half, _ in halves)) == pytest.approx(float(loss.detach()), rel=1e-5)
    same(whole, gradients(model))


def test_dropout_acts_while_training_and_not_while_validating():
    shape = tiny_settings(dropout=0.3)
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    objective, batch = TranslationObjective(stir(model, seed=1), smoothing=0.1), make_batch()
    torch.manual_seed(1)
    training = [float(objective(batch)[0].detach()) for _ in range(2)]
    assert training[0] != training[1]
    objective.eval()
    with torch.no_grad():
        assert float(objective(batch)[0]) == float(objective(batch)[0])


def paired_objective(*, dropout: float, r_drop: float) -> TranslationObjective:
    shape = tiny_settings(dropout=dropout)
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    return TranslationObjective(stir(model, seed=1), smoothing=0.1, r_drop=r_drop)


def test_without_dropout_both_passes_agree_and_each_token_counts_once():
    (once, tokens), (twice, same_tokens) = (paired_objective(dropout=0.0, r_drop=r)(make_batch()) for r in (0.0, 5.0))
    assert tokens == same_tokens
    assert float(twice.detach()) == pytest.approx(float(once.detach()), rel=1e-5)


def test_under_dropout_the_passes_differ_and_their_divergence_costs():
    losses = []
    for alpha in (1e-9, 1.0, 3.0):
        torch.manual_seed(1)
        losses.append(float(paired_objective(dropout=0.3, r_drop=alpha)(make_batch())[0].detach()))
    plain, one, three = losses
    assert one - plain > 0.1
    assert three - plain == pytest.approx(3 * (one - plain), rel=1e-4)


def test_validation_sees_a_batch_once_whatever_r_drop_is():
    plain, paired = (paired_objective(dropout=0.3, r_drop=r).eval() for r in (0.0, 5.0))
    with torch.no_grad():
        assert float(plain(make_batch())[0]) == float(paired(make_batch())[0])
