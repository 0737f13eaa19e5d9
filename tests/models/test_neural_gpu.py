"""The Neural GPU against its equations, written out cell by cell, and what it can learn and cannot write."""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from helpers import SPECIAL, VOCABULARY, batch_of, greatest_difference, prepared, stir
from manyheads.config.models.neural_gpu import NeuralGPUSettings
from manyheads.config.reading import build_recipe
from manyheads.config.tasks.translation import TranslationConfig
from manyheads.decoding.engines.torch import TorchEngine
from manyheads.decoding.options import TranslationOptions
from manyheads.errors import ManyheadsError
from manyheads.inspection.inspector import Inspector
from manyheads.models.interface import Tokens
from manyheads.models.neural_gpu import CGRU, NeuralGPU, Steps, gate
from manyheads.runs.folder import RunFolder
from manyheads.tasks.teacher_forcing import PairTensors, TranslationObjective
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

DECODERS = ("independent", "active_memory")
SMALL = {"width": 8, "columns": 3, "dropout": 0.0}
RECIPE = {
    "name": "gpu",
    "data": {"train": {"task": "copy", "count": 40}, "valid": {"task": "copy", "count": 8}},
    "tokenizer": {"kind": "symbols"},
    "model": {"kind": "neural_gpu", "width": 8, "columns": 2},
    "training": {"steps": 1, "batch_tokens": 128},
    "validation": {"every": 1, "metric": "loss", "samples": 0},
}


def model_of(*, vocabulary: int = VOCABULARY, seed: int | None = 3, **changes) -> NeuralGPU:
    settings = NeuralGPUSettings(**{**SMALL, **changes})
    model = NeuralGPU.from_settings(settings, source_vocabulary=vocabulary, target_vocabulary=vocabulary)
    return model.eval() if seed is None else stir(model, seed=seed, gain=1.5).eval()


def convolved(unit: torch.nn.Conv2d, image: torch.Tensor) -> torch.Tensor:
    return F.conv2d(image, unit.weight, unit.bias, padding=unit.kernel_size[0] // 2)


def naive(unit: CGRU, s: torch.Tensor, *p: torch.Tensor) -> torch.Tensor:
    """Return CGRU(s) or CGRU^d(s, p), with a kernel for each of u, r and the candidate, and for s and p."""
    width = s.shape[1]

    def both(weight: torch.Tensor, bias: torch.Tensor, image: torch.Tensor) -> torch.Tensor:
        total = F.conv2d(image, weight[:, :width], bias, padding=weight.shape[-1] // 2)
        return total + F.conv2d(p[0], weight[:, width:], padding=weight.shape[-1] // 2) if p else total

    gates, biases = unit.gates.weight, unit.gates.bias
    u = torch.clamp(1.2 / (1 + torch.exp(-both(gates[:width], biases[:width], s))) - 0.1, 0, 1)
    r = torch.clamp(1.2 / (1 + torch.exp(-both(gates[width:], biases[width:], s))) - 0.1, 0, 1)
    return u * s + (1 - u) * torch.tanh(both(unit.candidate.weight, unit.candidate.bias, r * s))


def test_the_gates_reach_zero_and_one():
    logit = math.log(11.0)  # where 1.2·σ(x) − 0.1 is 1
    assert gate(torch.tensor([-logit - 0.01, 0.0, logit + 0.01])).tolist() == [0.0, 0.5, 1.0]
    assert 0.0 < float(gate(torch.tensor(-logit + 0.01))) < float(gate(torch.tensor(logit - 0.01))) < 1.0


@pytest.mark.parametrize("tape", [False, True])
@pytest.mark.parametrize("kernel", [3, 5])
def test_a_cgru_is_its_equations(kernel, tape):
    torch.manual_seed(1)
    unit = stir(CGRU(6, kernel, tape=tape), seed=2)
    images = [torch.randn(2, 6, 7, 4) for _ in range(1 + tape)]
    assert greatest_difference(unit(*images), naive(unit, *images)) < 1e-6


def first_image(model: NeuralGPU, source: list[int], length: int) -> torch.Tensor:
    image = torch.zeros(1, model.output.shape[1], length, model.columns)
    image[0, :, : len(source), 0] = model.source(torch.tensor(source)).T
    return image


@pytest.mark.parametrize(("stretch", "shortest"), [(1, 1), (2, 1), (1, 9)])
def test_an_image_takes_as_many_steps_as_it_has_positions_with_the_sets_in_turn(stretch, shortest):
    model = model_of(relaxation=3, stretch=stretch, shortest=shortest)
    rows = [[4, 5, 6, 7, SPECIAL.end], [8, SPECIAL.end]]
    with torch.inference_mode():
        image = model.encode(Tokens.pad(rows, padding=SPECIAL.pad))
        for row, source in enumerate(rows):
            length = max(shortest, stretch * len(source))
            state = first_image(model, source, length)
            for step in range(length):
                for unit in model.steps.sets[step % 3]:
                    state = naive(unit, state)
            assert greatest_difference(image.cells[row, :, :length], state[0]) < 1e-5
            assert not image.cells[row, :, length:].any()


def test_the_active_memory_decoder_is_its_equations():
    model, source, target = model_of(decoder="active_memory"), [4, 5, 6, 7, 8, SPECIAL.end], [SPECIAL.start, 9, 4, 6]
    with torch.inference_mode():
        hidden = model.decode(torch.tensor([target]), model.encode(batch_of([source], ended=False))).hidden[0]
        d = model.encode(batch_of([source], ended=False)).cells
        p = torch.zeros_like(d)
        for k, written in enumerate([*target[1:], None]):
            for unit in model.decoder.steps.sets[0]:
                d = naive(unit, d, p)
            assert greatest_difference(hidden[k], d[0, :, k, 0]) < 1e-5
            if written is not None:
                p[0, :, k, 0] = model.decoder.embedding(torch.tensor(written))


@pytest.mark.parametrize("decoder", DECODERS)
def test_beyond_its_image_a_model_says_the_same_for_every_source(decoder):
    model = model_of(decoder=decoder)
    with torch.inference_mode():
        hidden = model.decode(torch.full((2, 6), 5), model.encode(batch_of([[4, 5, 6], [7]]))).hidden
    assert hidden[0, :4].abs().sum(dim=1).all() and not hidden[0, 4:].any()
    assert hidden[1, :2].abs().sum(dim=1).all() and not hidden[1, 2:].any()


# --- Relaxation ------------------------------------------------------------------------------------------------------


def test_the_pull_is_zero_for_equal_sets_and_moves_different_ones_towards_their_mean():
    steps = stir(Steps(4, 3, layers=2, sets=3, dropout=0.0), seed=1)
    before = [torch.stack(same).detach() for same in zip(*(one.parameters() for one in steps.sets), strict=True)]
    distance = steps.distance()
    expected = sum(float((stack - stack.mean(dim=0)).square().sum()) for stack in before)
    assert distance.item() == pytest.approx(expected, rel=1e-5) and expected > 1.0
    distance.backward()
    with torch.no_grad():
        for parameter in steps.parameters():
            parameter -= 0.25 * parameter.grad  # the gradient is twice the way to the mean
    for stack, now in zip(before, zip(*(one.parameters() for one in steps.sets), strict=True), strict=True):
        mean = stack.mean(dim=0)
        assert greatest_difference(torch.stack(now), mean + 0.5 * (stack - mean)) < 1e-6
    for one in steps.sets:
        one.load_state_dict(steps.sets[0].state_dict())
    assert steps.distance().item() == pytest.approx(0.0, abs=1e-9)


def test_the_pull_is_in_the_loss_of_training_alone():
    model = model_of(relaxation=2, pull=0.1)
    source, target = batch_of([[4, 5]]), torch.tensor([[SPECIAL.start, 6, 7]])
    batch = PairTensors(source, target, torch.tensor([[6, 7, SPECIAL.end]]), torch.arange(3))
    objective = TranslationObjective(model, smoothing=0.0)
    without, count = objective.eval()(batch)
    assert model.decode(target, model.encode(source)).penalty is None
    with_pull, _ = objective.train()(batch)
    assert ((with_pull - without) / count).item() == pytest.approx(0.1 * model.steps.distance().item(), rel=1e-4)


def test_one_set_has_no_pull():
    model = model_of(relaxation=1).train()
    assert model.decode(torch.tensor([[SPECIAL.start]]), model.encode(batch_of([[4]]))).penalty is None


def test_dropout_changes_every_step_but_no_row_that_is_finished():
    model, states = model_of(dropout=0.5).train(), []
    hook = model.steps.register_forward_hook(lambda _, inputs, output: states.append((inputs[1:3], output)))
    image = model.encode(batch_of([[4, 5, 6, 7, 8], [9]]))  # of 6 and 2 positions, and as many steps
    hook.remove()
    assert len(states) == 6
    for number, ((before, changing), after) in enumerate(states):
        without = model.steps.eval()(number, before, changing)
        assert greatest_difference(after[0], without[0]) > 1e-3
        assert torch.equal(after[1], image.cells[1]) if number >= 2 else not torch.equal(after[1], without[1])
    assert image.cells[1].any() and not image.cells[1, :, 2:].any()


def test_dropout_is_in_the_decoder_of_the_extended_model_too():
    model, target = model_of(decoder="active_memory", dropout=0.5), torch.tensor([[SPECIAL.start, 4, 5]])
    with torch.inference_mode():
        image = model.encode(batch_of([[4, 5, 6]]))
        without = model.decode(target, image).hidden
        assert greatest_difference(model.train().decode(target, image).hidden, without) > 1e-3


# --- Costs and distances ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decoder", DECODERS)
def test_multiplications_weights_and_sequential_steps_are_those_that_happen(decoder):
    changes = {"decoder": decoder, "relaxation": 2, "stretch": 2}
    model, settings = model_of(**changes), NeuralGPUSettings(**{**SMALL, **changes})
    source, target, calls = batch_of([[4, 5, 6], [7, 8, 9]]), torch.full((2, 4), 5), []
    for part in model.modules():
        if isinstance(part, torch.nn.Conv2d):
            part.register_forward_hook(lambda *_: calls.append(1))
    with torch.inference_mode(), FlopCounterMode(display=False) as flops:
        model.decode(target, model.encode(source))
    assert flops.get_total_flops() == 2 * model.multiplications(2, 4, 4)
    assert len(calls) == settings.distances(4).sequential
    matrices = sum(parameter.numel() for parameter in model.parameters() if parameter.dim() > 1)
    assert settings.weights(VOCABULARY, VOCABULARY) == matrices


@pytest.mark.parametrize("kernel", [3, 5])
def test_a_signal_crosses_the_image_in_as_many_convolutions_as_its_path_has(kernel):
    length = 9
    path = NeuralGPUSettings(kernel=kernel).distances(length).path
    unit = stir(CGRU(6, kernel), seed=2)
    one = torch.randn(1, 6, length, 2, generator=torch.Generator().manual_seed(1))
    two = one.clone()
    two[:, :, 0] += 1.0
    crossed = 0  # each unit has two convolutions, one after the other
    with torch.inference_mode():
        while torch.equal(one[:, :, -1], two[:, :, -1]):
            one, two, crossed = unit(one), unit(two), crossed + 1
    assert crossed == math.ceil(path / 2)


# --- Learning --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decoder", DECODERS)
def test_it_learns_to_reverse(decoder):
    torch.manual_seed(7)
    model = model_of(seed=None, vocabulary=8, width=24, columns=3, decoder=decoder).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    objective = TranslationObjective(model, smoothing=0.0)
    for _ in range(250):
        length = int(torch.randint(1, 5, ()))
        rows = torch.randint(4, 8, (32, length)).tolist()
        written = torch.tensor([[*reversed(row), SPECIAL.end] for row in rows])
        shifted = torch.cat((torch.full((32, 1), SPECIAL.start), written[:, :-1]), dim=1)
        loss, count = objective(PairTensors(batch_of(rows), shifted, written, torch.arange(written.numel())))
        optimiser.zero_grad()
        (loss / count).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    engine = TorchEngine(model.eval(), config_of(decoder))
    sources = [[4, 5, 6, 7], [7, 7, 5], [6, 4], [5], [4, 6, 7, 4]]
    found = engine.search(sources, TranslationOptions(beam=1))
    assert [best.tokens for (best,) in found] == [[*reversed(source), SPECIAL.end] for source in sources]


# --- What it cannot do -----------------------------------------------------------------------------------------------


def config_of(decoder: str = "independent", **changes) -> TranslationConfig:
    model = NeuralGPUSettings(decoder=decoder, **changes)
    ids = {"pad": SPECIAL.pad, "unknown": 1, "start": SPECIAL.start, "end": SPECIAL.end}
    return TranslationConfig(model=model, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY, **ids)


@pytest.mark.parametrize("beam", [1, 3])
def test_an_output_ends_where_its_image_does(beam):
    config = config_of(**SMALL)
    model = model_of()
    with torch.no_grad():
        model.bias[SPECIAL.end] = -100.0  # it never ends by itself
    found = TorchEngine(model, config).search([[4, 5, 6], [7]], TranslationOptions(beam=beam))
    assert [len(best[0].tokens) for best in found] == [4, 2]
    assert not any(best[0].finished for best in found)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [("kernel", 4, "kernel 4 has no cell in its middle"), ("kernel", 1, "make it 3, 5, 7"), ("columns", 0, "columns")],
)
def test_impossible_sizes_are_refused(key, value, message):
    with pytest.raises(ManyheadsError, match=message):
        build_recipe({**RECIPE, "model": {**RECIPE["model"], key: value}})


def test_a_target_longer_than_its_image_is_refused_before_training(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYHEADS_CACHE", str(tmp_path / "cache"))
    values = copy.deepcopy(RECIPE)
    values["data"] = {part: {"task": "duplicate", "count": 9} for part in ("train", "valid")}
    with pytest.raises(
        ManyheadsError, match=r"longer than its image\. Raise model\.shortest or model\.stretch"
    ) as caught:
        prepared(build_recipe(values), RunFolder(tmp_path / "run"))
    assert str(caught.value).startswith("duplicate task, 9 train pairs")
    values["model"]["stretch"] = 2
    assert prepared(build_recipe(values), RunFolder(tmp_path / "other"))


def test_there_is_no_attention_to_look_at(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYHEADS_CACHE", str(tmp_path / "cache"))
    run = RunFolder(tmp_path / "run")
    Trainer(prepared(build_recipe(RECIPE), run), device=torch.device("cpu"), reporter=Reporter(quiet=True)).train()
    inspector = Inspector(run.path)
    for look in (
        lambda: inspector.everything("a b"),
        lambda: inspector.attention("a b", kind="cross"),
        lambda: list(inspector.steps("a b")),
        lambda: inspector.main_kind,
    ):
        with pytest.raises(ManyheadsError, match="this model has no attention"):
            look()
    assert inspector.beam("a b", beam=2).nodes
    with pytest.raises(ManyheadsError, match="no alignments"):
        engine = TorchEngine(inspector.model, run.config_for(TranslationConfig))
        engine.search([[4, 5]], TranslationOptions(beam=1, alignments=True))
