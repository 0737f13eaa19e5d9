"""Each device computes as suits it; bfloat16 learns like float32, and leaves weights and gradients float32."""

import pytest
import torch
import torch.nn.functional as F

from helpers import VOCABULARY, tiny_settings
from manyheads.config.training import TrainingSettings
from manyheads.errors import ManyheadsError
from manyheads.models.interface import Tokens
from manyheads.models.transformer import Transformer
from manyheads.tasks.loss import fused_loss, smoothed_loss
from manyheads.tasks.teacher_forcing import PairTensors, TranslationObjective
from manyheads.training.machine import bfloat16_probe, precision
from manyheads.training.machine.bfloat16_probe import INSTRUCTIONS, bfloat16_crashes, products_work
from manyheads.training.machine.precision import choose_precision
from manyheads.training.optimisation.optimiser import make_optimiser

CPU, CUDA, MPS = torch.device("cpu"), torch.device("cuda"), torch.device("mps")

needs_safe_bfloat16 = pytest.mark.skipif(
    bfloat16_crashes(),
    reason=f"bfloat16 kills the process on this processor unless {INSTRUCTIONS} is set",
)


@pytest.fixture
def plain_processor(monkeypatch):
    monkeypatch.setattr(precision, "processor_flags", lambda: {"avx2"})


def bfloat16_supported(monkeypatch, supported: bool) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: supported)


@pytest.mark.usefixtures("plain_processor")
@pytest.mark.parametrize(("threads", "place"), [(1, "1 thread"), (2, "2 threads")])
def test_a_processor_computes_in_float32_and_says_why(monkeypatch, threads, place):
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    chosen = choose_precision(TrainingSettings(), CPU)
    assert (chosen.dtype, chosen.compiled) == (torch.float32, False)
    why = "bfloat16 is slower on a processor without instructions for it"
    assert chosen.sentence() == f"float32 on {place}: {why}."
    with chosen.autocast():
        assert not torch.is_autocast_enabled("cpu")


@pytest.mark.usefixtures("plain_processor")
@pytest.mark.parametrize(("asked", "peak"), [("float32", 7.0), ("bfloat16", 7.0)])
def test_the_peak_is_that_of_the_faster_type(monkeypatch, asked, peak):
    speeds = {torch.float32: 7.0, torch.bfloat16: 3.0}
    monkeypatch.setattr(precision, "matrix_product_peak", lambda device, dtype: speeds[dtype])
    assert choose_precision(TrainingSettings(precision=asked), CPU).peak() == peak
    speeds[torch.bfloat16] = 20.0
    assert choose_precision(TrainingSettings(precision="bfloat16"), CPU).peak() == 20.0


def test_cuda_takes_bfloat16_where_there_is_and_tf32_where_not(monkeypatch):
    bfloat16_supported(monkeypatch, True)
    modern = choose_precision(TrainingSettings(), CUDA)
    assert (modern.dtype, modern.tensor_float) == (torch.bfloat16, False)
    bfloat16_supported(monkeypatch, False)
    older = choose_precision(TrainingSettings(), CUDA)
    assert (older.dtype, older.tensor_float) == (torch.float32, True)
    assert older.sentence().startswith("float32 (TF32) on cuda, compiled: ")
    exact = choose_precision(TrainingSettings(precision="float32"), CUDA)
    assert (exact.dtype, exact.tensor_float) == (torch.float32, False)


@pytest.mark.parametrize(
    ("device", "steps", "compile_", "compiled"),
    [
        (CUDA, precision.WORTH_COMPILING, "auto", True),
        (CUDA, precision.WORTH_COMPILING - 1, "auto", False),
        (CUDA, 1, "on", True),
        (CUDA, 10**6, "off", False),
        (CPU, 10**6, "auto", False),
        (MPS, 10**6, "auto", False),
    ],
)
def test_a_model_is_compiled_where_it_pays(monkeypatch, device, steps, compile_, compiled):
    bfloat16_supported(monkeypatch, True)
    assert choose_precision(TrainingSettings(steps=steps, compile=compile_), device).compiled == compiled


def test_yaml_reads_on_and_off_as_truth_values():
    assert [TrainingSettings(compile=value).compile for value in (True, False, "auto")] == ["on", "off", "auto"]


@pytest.mark.parametrize(
    ("flags", "limit", "works", "crashes"),
    [
        ({"avx2"}, None, False, False),
        ({"avx512f", "amx_bf16"}, None, False, True),
        ({"avx512f", "amx_bf16"}, None, True, False),
        ({"amx_bf16"}, "AVX512_CORE_BF16", False, False),
        ({"amx_bf16"}, "avx2", False, False),
        ({"amx_bf16"}, "AVX512_CORE_AMX", False, True),
        ({"amx_bf16"}, "ALL", False, True),
        ({"amx_bf16"}, "ALL", True, False),
    ],
)
def test_bfloat16_is_refused_where_amx_crashes_and_may_be_used(monkeypatch, flags, limit, works, crashes):
    monkeypatch.setattr(bfloat16_probe, "processor_flags", lambda: flags)
    monkeypatch.setattr(bfloat16_probe, "products_work", lambda: works)
    if limit is None:
        monkeypatch.delenv(INSTRUCTIONS, raising=False)
    else:
        monkeypatch.setenv(INSTRUCTIONS, limit)
    asked = TrainingSettings(precision="bfloat16")
    if crashes:
        with pytest.raises(ManyheadsError, match="Start again with ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"):
            choose_precision(asked, CPU)
    else:
        assert choose_precision(asked, CPU).dtype == torch.bfloat16


@pytest.mark.parametrize("products", ["raise SystemExit(1)", "import os; os.kill(os.getpid(), 4)", "assert 1 + 1 == 3"])
def test_products_that_crash_or_are_wrong_do_not_work(monkeypatch, products):
    monkeypatch.setattr(bfloat16_probe, "_PRODUCTS", products)
    products_work.cache_clear()
    try:
        assert not products_work()
    finally:
        products_work.cache_clear()


@needs_safe_bfloat16
def test_products_work_where_bfloat16_does():
    products_work.cache_clear()
    assert products_work()


def test_a_device_without_bfloat16_refuses_it(monkeypatch):
    bfloat16_supported(monkeypatch, False)
    for device in (CUDA, MPS):
        with pytest.raises(ManyheadsError, match="does not support bfloat16"):
            choose_precision(TrainingSettings(precision="bfloat16"), device)


@needs_safe_bfloat16
@pytest.mark.parametrize("hidden_dtype", [torch.float32, torch.bfloat16])
def test_the_fused_loss_under_autocast_equals_the_equation_on_rounded_factors(hidden_dtype):
    torch.manual_seed(1)
    hidden, vectors, bias = torch.randn(40, 32).to(hidden_dtype), torch.randn(50, 32), torch.randn(50)
    targets = torch.randint(50, (40,))
    parts = [part.clone().requires_grad_() for part in (hidden, vectors, bias)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = fused_loss(*parts, targets, smoothing=0.1)
    loss.backward()
    rounded = [part.detach().bfloat16().float().requires_grad_() for part in parts]
    exact = smoothed_loss(F.linear(*rounded), targets, smoothing=0.1)
    exact.backward()
    assert loss.dtype == torch.float32
    assert float(loss.detach()) == pytest.approx(float(exact.detach()), rel=0.005)
    for found, wanted in zip(parts, rounded, strict=True):
        assert found.grad.dtype == found.dtype
        assert torch.linalg.norm(found.grad - wanted.grad) < 0.02 * torch.linalg.norm(wanted.grad)


def losses_of_copying(settings: TrainingSettings, *, steps: int = 30) -> list[float]:
    """Train a tiny model to copy, and return the loss per token of each step."""
    torch.manual_seed(1)
    shape = tiny_settings(width=32, heads=2, dropout=0.1)
    model = Transformer.from_settings(shape, source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    objective, optimiser = TranslationObjective(model, smoothing=0.0), make_optimiser(model, settings)
    chosen, losses = choose_precision(settings, CPU), []
    for group in optimiser.param_groups:
        group["lr"] = 0.01
    for step in range(steps):
        torch.manual_seed(step)
        ids = torch.randint(4, VOCABULARY, (32, 6))
        batch = PairTensors(Tokens(ids, torch.full((32,), 6)), ids.roll(1, dims=1), ids, torch.arange(ids.numel()))
        optimiser.zero_grad()
        with chosen.autocast():
            loss, count = objective(batch)
        (loss / count).backward()
        optimiser.step()
        losses.append(float(loss.detach()) / count)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    return losses


@needs_safe_bfloat16
def test_bfloat16_learns_like_float32():
    exact, short = (losses_of_copying(TrainingSettings(precision=kind)) for kind in ("float32", "bfloat16"))
    assert short != exact
    assert short[0] == pytest.approx(exact[0], rel=0.01)
    assert short[-1] < 0.8 * short[0]
    assert short[-1] == pytest.approx(exact[-1], rel=0.1)


def test_what_is_compiled_is_what_runs_and_the_parameters_keep_their_names(monkeypatch):
    shapes = []

    def compiled(hidden, *, dynamic):
        assert dynamic, "else every shape of a batch would be compiled anew"
        return lambda batch: shapes.append(tuple(batch.target_in.shape)) or hidden(batch)

    monkeypatch.setattr(torch, "compile", compiled)
    model = Transformer.from_settings(tiny_settings(), source_vocabulary=VOCABULARY, target_vocabulary=VOCABULARY)
    objective = TranslationObjective(model, smoothing=0.1)
    names = list(objective.state_dict())
    ids = torch.randint(4, VOCABULARY, (3, 5))
    batch = PairTensors(Tokens(ids, torch.full((3,), 5)), ids, ids, torch.arange(15))
    plain = objective(batch)
    objective.compile_stacks()
    assert torch.equal(objective(batch)[0], plain[0])
    assert shapes == [(3, 5)]
    assert list(objective.state_dict()) == names
