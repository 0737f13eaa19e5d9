"""Adam with the paper's constants; stopped, saved and restored it goes on bit by bit as if nothing had happened."""

import numpy as np
import pytest
import torch
from torch import nn

from helpers import SPECIAL, VOCABULARY, batch_of, tiny_settings
from manyheads.config.models.recurrent import RecurrentSettings
from manyheads.config.training import TrainingSettings
from manyheads.errors import ManyheadsError
from manyheads.models.recurrent import Recurrent
from manyheads.models.transformer import Transformer
from manyheads.runs.weights import Arrays, read_weights, weights_bytes
from manyheads.tasks.teacher_forcing import PairTensors, TranslationObjective
from manyheads.training.optimisation.muon import orthogonal
from manyheads.training.optimisation.optimiser import MOMENTS, make_optimiser, optimiser_arrays, restore_optimiser

SETTINGS = TrainingSettings(weight_decay=0.01)


def fresh(seed: int) -> tuple[Transformer, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    shape = tiny_settings(dropout=0.2)
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    return model, make_optimiser(model, SETTINGS)


def update(model: Transformer, optimiser: torch.optim.Optimizer, step: int) -> None:
    """Take one update whose batch, dropout and rate follow from the step."""
    torch.manual_seed(step)
    rows = torch.randint(4, VOCABULARY, (3, 5)).tolist()
    source, target = batch_of(rows), batch_of(rows[::-1]).ids
    target_in = target.roll(1, dims=1)
    target_in[:, 0] = SPECIAL.start
    loss, count = TranslationObjective(model, smoothing=0.1)(
        PairTensors(source, target_in, target, torch.arange(target.numel()))
    )
    optimiser.zero_grad(set_to_none=True)
    (loss / count).backward()
    for group in optimiser.param_groups:
        group["lr"] = 0.01 * (step + 1)
    optimiser.step()


def weights(model: torch.nn.Module) -> Arrays:
    return {name: parameter.detach().numpy().copy() for name, parameter in model.named_parameters()}


def test_the_count_of_updates_stands_where_its_parameter_does():
    """The fused kernel of an accelerator wants it there; `meta` is the one other device that is everywhere."""
    model = torch.nn.Linear(2, 3, device="meta")
    optimiser = make_optimiser(model, SETTINGS)
    arrays = {f"{moment}.{name}": np.zeros(p.shape) for name, p in model.named_parameters() for moment in MOMENTS}
    restore_optimiser(model, optimiser, arrays, step=3, where="here")
    assert {state["step"].device.type for state in optimiser.state.values()} == {"meta"}


def test_three_updates_saved_restored_and_three_more_are_six(tmp_path):
    straight, optimiser = fresh(1)
    for step in range(6):
        update(straight, optimiser, step)

    first, optimiser = fresh(1)
    for step in range(3):
        update(first, optimiser, step)
    (tmp_path / "model").write_bytes(weights_bytes(weights(first)))
    (tmp_path / "optimiser").write_bytes(weights_bytes(optimiser_arrays(first, optimiser)))

    second, optimiser = fresh(2)  # another draw, which is overwritten
    second.load_state_dict(
        {name: torch.from_numpy(array) for name, array in read_weights(tmp_path / "model").items()}, strict=False
    )
    restore_optimiser(second, optimiser, read_weights(tmp_path / "optimiser"), step=3, where="here")
    for step in range(3, 6):
        update(second, optimiser, step)

    expected, found = weights(straight), weights(second)
    assert expected.keys() == found.keys()
    for name in expected:
        assert np.array_equal(expected[name], found[name]), name
    assert any(not np.array_equal(expected[name], array) for name, array in weights(first).items())


@pytest.mark.parametrize("lost", ["moments", "step"])
def test_without_its_moments_or_its_step_it_would_go_another_way(lost):
    """The law above could not fail if Adam's state did not matter."""
    straight, optimiser = fresh(1)
    for step in range(4):
        update(straight, optimiser, step)
    second, optimiser = fresh(1)
    for step in range(3):
        update(second, optimiser, step)
    arrays = optimiser_arrays(second, optimiser)
    if lost == "moments":
        arrays = {name: np.zeros_like(array) for name, array in arrays.items()}
    other = make_optimiser(second, SETTINGS)
    restore_optimiser(second, other, arrays, step=1 if lost == "step" else 3, where="here")
    update(second, other, 3)
    assert any(not np.array_equal(weights(straight)[name], array) for name, array in weights(second).items())


def test_the_moments_are_named_after_their_parameters():
    model, optimiser = fresh(1)
    assert optimiser_arrays(model, optimiser) == {}
    update(model, optimiser, 0)
    arrays = optimiser_arrays(model, optimiser)
    expected = {f"{moment}.{name}" for name, _ in model.named_parameters() for moment in MOMENTS}
    assert set(arrays) == expected
    assert all(arrays[f"exp_avg.{name}"].shape == tuple(p.shape) for name, p in model.named_parameters())


def test_what_is_missing_and_what_is_unknown_is_named_all_at_once():
    model, optimiser = fresh(1)
    update(model, optimiser, 0)
    arrays = optimiser_arrays(model, optimiser)
    names = sorted(arrays)
    del arrays[names[0]], arrays[names[1]]
    arrays["exp_avg.nobody"] = np.zeros(3, dtype=np.float32)
    with pytest.raises(ManyheadsError) as caught:
        restore_optimiser(model, make_optimiser(model, SETTINGS), arrays, step=1, where="checkpoint")
    message = str(caught.value)
    assert message.startswith("checkpoint: ")
    assert all(name in message for name in (*names[:2], "exp_avg.nobody"))


def test_before_the_first_update_there_is_nothing_to_restore():
    model, optimiser = fresh(1)
    restore_optimiser(model, optimiser, {}, step=0, where="here")
    assert not optimiser.state


def test_frozen_parameters_are_left_alone():
    model, _ = fresh(1)
    model.source.vectors.requires_grad_(False)  # tied: it is the only embedding
    optimiser = make_optimiser(model, SETTINGS)
    before = weights(model)
    update(model, optimiser, 0)
    after, frozen = weights(model), {id(model.source.vectors)}
    for name, parameter in model.named_parameters():
        assert np.array_equal(before[name], after[name]) == (id(parameter) in frozen), name
    arrays = optimiser_arrays(model, optimiser)
    restore_optimiser(model, make_optimiser(model, SETTINGS), arrays, step=1, where="here")


def test_without_weight_decay_it_is_adam_with_the_papers_constants():
    """Two updates of one number, by Adam's equations with β₁ = 0.9, β₂ = 0.98 and ε = 10⁻⁹ (section 5.3)."""
    model = torch.nn.Linear(1, 1, bias=False).double()
    model.weight.data.fill_(0.5)
    optimiser = make_optimiser(model, TrainingSettings())
    value, mean, square = 0.5, 0.0, 0.0
    for step, gradient in enumerate([0.3, -0.2], start=1):
        optimiser.param_groups[0]["lr"] = 0.1
        model.weight.grad = torch.full((1, 1), gradient, dtype=torch.float64)
        optimiser.step()
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.98 * square + 0.02 * gradient**2
        value -= 0.1 * (mean / (1 - 0.9**step)) / ((square / (1 - 0.98**step)) ** 0.5 + 1e-9)
        assert float(model.weight.detach()) == pytest.approx(value, rel=1e-9)


MUON = TrainingSettings(optimiser="muon", weight_decay=0.01)


def test_muon_goes_on_bit_by_bit_from_its_arrays():
    models = []
    for stop in (6, 3):
        model, _ = fresh(1)
        optimiser = make_optimiser(model, MUON)
        for step in range(6):
            if step == stop:
                arrays = optimiser_arrays(model, optimiser)
                optimiser = make_optimiser(model, MUON)
                restore_optimiser(model, optimiser, arrays, step=step, where="here")
            update(model, optimiser, step)
        models.append(weights(model))
    for name, expected in models[0].items():
        assert np.array_equal(models[1][name], expected), name


def test_muon_moves_each_projection_alone_and_leaves_the_rest_to_adam():
    model, _ = fresh(1)
    optimisers = {kind: make_optimiser(model, TrainingSettings(optimiser=kind)) for kind in ("adam", "muon")}
    before = weights(model)
    moved = {}
    for kind, optimiser in optimisers.items():
        model.load_state_dict({name: torch.from_numpy(array) for name, array in before.items()}, strict=False)
        update(model, optimiser, 0)
        moved[kind] = {name: array - before[name] for name, array in weights(model).items()}
    for name, change in moved["muon"].items():
        matrix = change.ndim == 2 and (".attention" in name or "_attention" in name or "feed_forward" in name)
        assert np.array_equal(change, moved["adam"][name]) != matrix, name
        if name.endswith(".inputs"):
            for part in np.split(change, 3):
                assert np.linalg.svd(part, compute_uv=False).max() < 1.3 * 0.2 * np.sqrt(part.shape[1]) * 0.01


@pytest.mark.parametrize(("cell", "blocks"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
@pytest.mark.parametrize("fused", [True, False])
def test_muon_moves_each_gate_of_a_recurrent_cell_alone(cell, blocks, fused):
    shape = RecurrentSettings(width=16, cell=cell, fused=fused, dropout=0.0)
    model = Recurrent.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    before = weights(model)
    update(model, make_optimiser(model, MUON), 0)
    matrices = {name: array - before[name] for name, array in weights(model).items() if "weight_" in name}
    assert len(matrices) == 2 * (2 * 2 + 2)  # two of each cell
    for change in matrices.values():
        for gate in np.split(change, blocks):
            size = 0.2 * np.sqrt(max(gate.shape)) * 0.01  # of an orthogonal matrix as large as Adam's updates
            assert 0.5 * size < np.linalg.svd(gate, compute_uv=False).max() < 1.3 * size


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 4, 16), (2, 16, 4)])
def test_made_orthogonal_a_matrix_keeps_its_singular_vectors(shape):
    """The quintic brings each singular value near 1 (it oscillates between about 0.7 and 1.2) and turns nothing."""
    generator = torch.Generator().manual_seed(3)
    left, right = (torch.linalg.qr(torch.randn(shape[0], n, n, generator=generator)).Q for n in shape[1:])
    small = min(shape[1:])
    values = torch.linspace(0.2, 1.0, small)
    matrices = left[:, :, :small] * values @ right[:, :small]
    found = left[:, :, :small].mT @ orthogonal(matrices) @ right[:, :small].mT
    diagonal = torch.diagonal(found, dim1=1, dim2=2)
    assert float((found - torch.diag_embed(diagonal)).abs().max()) < 1e-4
    assert float(diagonal.min()) > 0.6 and float(diagonal.max()) < 1.25


def test_muon_in_short_factors_moves_almost_the_same_way():
    moves = {}
    for factors in (torch.float32, torch.bfloat16):
        model, _ = fresh(1)
        before = weights(model)
        update(model, make_optimiser(model, MUON, factors=factors), 0)
        moves[factors] = {name: array - before[name] for name, array in weights(model).items()}
    for name, exact in moves[torch.float32].items():
        short = moves[torch.bfloat16][name]
        assert short.dtype == np.float32
        assert (short * exact).sum() > 0.99 * np.linalg.norm(short) * np.linalg.norm(exact), name
    assert any((moves[torch.bfloat16][name] != exact).any() for name, exact in moves[torch.float32].items())


def test_muon_refuses_matrices_that_are_cut():
    with pytest.raises(ValueError, match="muon needs whole matrices"):
        TrainingSettings(optimiser="muon", sharding="full")


def test_plain_descent_follows_the_gradient():
    layer = nn.Linear(3, 2)
    before = [parameter.detach().clone() for parameter in layer.parameters()]
    optimiser = make_optimiser(layer, TrainingSettings(optimiser="sgd"))
    optimiser.param_groups[0]["lr"] = 0.5
    layer(torch.ones(1, 3)).square().sum().backward()
    optimiser.step()
    for parameter, old in zip(layer.parameters(), before, strict=True):
        assert torch.equal(parameter.detach(), old - 0.5 * parameter.grad)
    assert optimiser_arrays(layer, optimiser) == {}
    restore_optimiser(layer, optimiser, {}, step=1, where="test")
