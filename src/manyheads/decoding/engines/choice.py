"""Which engine translates: CTranslate2 wherever it can do what is asked, PyTorch for everything else."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol

from manyheads.config.tasks.translation import TranslationConfig
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.search.hypothesis import Hypothesis
from manyheads.errors import ManyheadsError, did_you_mean
from manyheads.runs.folder import RunFolder

if TYPE_CHECKING:
    from manyheads.decoding.engines.torch import TorchEngine

EngineName = Literal["auto", "torch", "ctranslate2"]
Precision = Literal["float32", "int16", "int8"]
ENGINES: tuple[EngineName, ...] = ("auto", "torch", "ctranslate2")
PRECISIONS: tuple[Precision, ...] = ("float32", "int16", "int8")


class Engine(Protocol):
    """What turns token ids into hypotheses."""

    def search(
        self, sources: Sequence[Sequence[int]], options: TranslationOptions, *, prefix: Sequence[int] = ()
    ) -> list[list[Hypothesis]]:
        """Return hypotheses, best first, for source ids without special tokens."""
        ...

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token of given targets, the end token included."""
        ...


def open_engine(run: RunFolder, *, engine: str = "auto", device: str = "auto", precision: str = "float32") -> Engine:
    """Return the engine of a name for a run's model; `auto` decides anew for each call what it needs."""
    if engine not in ENGINES:
        raise ManyheadsError(f"there is no engine '{engine}'.", where="--engine", cure=did_you_mean(engine, ENGINES))
    if precision not in PRECISIONS:
        raise ManyheadsError(
            f"there is no precision '{precision}'.", where="--precision", cure=did_you_mean(precision, PRECISIONS)
        )
    if engine == "torch":
        return torch_engine(run, device, precision)
    return Chooser(run, device=device, precision=precision, strict=engine == "ctranslate2")


class Chooser:
    """Takes CTranslate2 wherever it can do what is asked; otherwise PyTorch, saying why, or it refuses (`strict`)."""

    def __init__(self, run: RunFolder, *, device: str, precision: Precision, strict: bool) -> None:
        self._run = run
        self._device = device
        self._precision = precision
        self._strict = strict
        self._said: set[str] = set()
        if (reason := self._obstacle(None)) is None:
            _ = self.fast  # a damaged run is told of at once, not at the first text
        else:
            self._fall_back(reason)

    def search(
        self, sources: Sequence[Sequence[int]], options: TranslationOptions, *, prefix: Sequence[int] = ()
    ) -> list[list[Hypothesis]]:
        """Return hypotheses, best first, for source ids without special tokens."""
        return self._engine(options).search(sources, options, prefix=prefix)

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token of given targets, the end token included."""
        return self._engine(None).score(sources, targets)

    @cached_property
    def fast(self) -> Engine:
        """The run's model in CTranslate2."""
        from manyheads.decoding.engines.ctranslate2 import CTranslate2Engine

        return CTranslate2Engine(self._run, precision=self._precision)

    @cached_property
    def general(self) -> Engine:
        """The run's model in PyTorch."""
        return torch_engine(self._run, self._device, "float32" if self._precision == "int16" else self._precision)

    def _engine(self, options: TranslationOptions | None) -> Engine:
        """Return the engine for a search with these options, or for scoring."""
        reason = self._obstacle(options)
        return self.fast if reason is None else self._fall_back(reason)

    def _fall_back(self, reason: str) -> Engine:
        """Return the other engine, and say why; or refuse."""
        if self._strict:
            raise ManyheadsError(f"CTranslate2 cannot be used: {reason}.", where="--engine", cure="Use --engine auto.")
        if reason not in self._said:
            self._said.add(reason)
            print(f"Translating with PyTorch: {reason}.", file=sys.stderr)
        return self.general

    def _obstacle(self, options: TranslationOptions | None) -> str | None:
        """Say why CTranslate2 cannot do what is asked; None if it can."""
        if find_spec("ctranslate2") is None:
            return "ctranslate2 is not installed"
        if self._device not in ("auto", "cpu") or _has_graphics_card(self._device):
            return "it is for processors, not for graphics cards"
        if self._refused:
            return f"it cannot hold {' and '.join(self._refused)}"
        vocabulary = self._run_vocabulary
        if options is not None and options.sample:
            return "only PyTorch draws samples that follow from their seed"
        if options is not None and 2 * options.beam > vocabulary:
            return f"a beam of {options.beam} is too wide for a vocabulary of {vocabulary}"
        return None

    @cached_property
    def _refused(self) -> list[str]:
        """The keys of the model's settings that CTranslate2 cannot hold."""
        from manyheads.exchange.ctranslate2 import obstacles

        return obstacles(self._run.config_for(TranslationConfig))

    @cached_property
    def _run_vocabulary(self) -> int:
        """The number of target pieces."""
        return self._run.config_for(TranslationConfig).target_vocabulary


def _has_graphics_card(device: str) -> bool:
    """Whether `auto` would find a graphics card."""
    if device != "auto":
        return False
    import ctranslate2

    return bool(ctranslate2.get_cuda_device_count())


def torch_engine(run: RunFolder, device: str, precision: Precision = "float32") -> TorchEngine:
    """Load a run's model on PyTorch."""
    from manyheads.decoding.engines.int8 import Int8Linear
    from manyheads.decoding.engines.packing import PackedLinear, can_pack, with_linears
    from manyheads.decoding.engines.torch import TorchEngine
    from manyheads.models.interface import SequenceToSequence
    from manyheads.runs.loading import choose_device, load_model

    if precision == "int16":
        raise ManyheadsError("the torch engine has no int16.", where="--precision", cure="Use int8 or float32.")
    place = choose_device(device)
    if precision == "int8" and place.type != "cpu":
        raise ManyheadsError(
            f"the torch engine has int8 on processors only, not on {place}.", where="--precision", cure="Leave it out."
        )
    model = load_model(SequenceToSequence, run, device=place)
    if precision == "int8":
        model = with_linears(model, Int8Linear)
    elif place.type == "cpu" and can_pack():
        model = with_linears(model, PackedLinear)
    return TorchEngine(model, run.config_for(TranslationConfig))
