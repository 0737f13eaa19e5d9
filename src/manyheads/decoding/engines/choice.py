"""The engine interface, and the choice of an engine: CTranslate2 where it supports the request, PyTorch otherwise."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol

from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.search.hypothesis import Hypothesis
from manyheads.errors import ManyheadsError, Notice, did_you_mean
from manyheads.extras import naming_extras
from manyheads.runs.folder import RunFolder

if TYPE_CHECKING:
    from manyheads.decoding.engines.torch import TorchEngine

EngineName = Literal["auto", "torch", "ctranslate2"]
Precision = Literal["float32", "int16", "int8"]
ENGINES: tuple[EngineName, ...] = ("auto", "torch", "ctranslate2")
PRECISIONS: tuple[Precision, ...] = ("float32", "int16", "int8")


class Engine(Protocol):
    """Turns token ids into hypotheses."""

    @property
    def calls_at_once(self) -> int:
        """How many searches, from several threads, are faster together than one after the other."""
        ...

    @property
    def aligns(self) -> bool:
        """Whether a search can return the attention of its outputs to their sources."""
        ...

    def search(
        self, sources: Sequence[Sequence[int]], options: TranslationOptions, *, prefix: Sequence[int] = ()
    ) -> list[list[Hypothesis]]:
        """Return hypotheses, best first, for source ids without special tokens."""
        ...

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token of given targets, the end token included."""
        ...


def open_engine(run: RunFolder, *, engine: str = "auto", device: str = "auto", precision: str = "float32") -> Engine:
    """Return an engine for a run's model. With `auto`, the engine is chosen for each call by its options."""
    if engine not in ENGINES:
        raise ManyheadsError(f"there is no engine '{engine}'.", where="--engine", cure=did_you_mean(engine, ENGINES))
    if precision not in PRECISIONS:
        raise ManyheadsError(
            f"there is no precision '{precision}'.", where="--precision", cure=did_you_mean(precision, PRECISIONS)
        )
    if engine == "torch":
        return load_torch_engine(run, device, precision)
    return AutoEngine(run, device=device, precision=precision, strict=engine == "ctranslate2")


class AutoEngine:
    """Uses CTranslate2 where it supports a call, and PyTorch otherwise.

    A fallback to PyTorch warns of its reason once. With `strict`, it raises an error instead.
    """

    def __init__(self, run: RunFolder, *, device: str, precision: Precision, strict: bool) -> None:
        self._run = run
        self._device = device
        self._precision = precision
        self._strict = strict
        self._noted_reasons: set[str] = set()
        if (reason := self._unsupported_reason(None)) is None:
            _ = self.ctranslate2_engine  # load it now, so that a damaged run fails here and not at the first text
        else:
            self._fall_back(reason)

    @property
    def aligns(self) -> bool:
        """Whether a search can return the attention of its outputs to their sources."""
        return self._engine(None).aligns

    def search(
        self, sources: Sequence[Sequence[int]], options: TranslationOptions, *, prefix: Sequence[int] = ()
    ) -> list[list[Hypothesis]]:
        """Return hypotheses, best first, for source ids without special tokens."""
        return self._engine(options).search(sources, options, prefix=prefix)

    def score(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability of each token of given targets, the end token included."""
        return self._engine(None).score(sources, targets)

    @property
    def calls_at_once(self) -> int:
        """As many as the engine that is used computes at once."""
        engine = self.torch_engine if self._unsupported_run else self.ctranslate2_engine
        return engine.calls_at_once

    @cached_property
    def ctranslate2_engine(self) -> Engine:
        """The run's model in CTranslate2."""
        from manyheads.decoding.engines.ctranslate2 import CTranslate2Engine

        return CTranslate2Engine(self._run, precision=self._precision)

    @cached_property
    def torch_engine(self) -> Engine:
        """The run's model in PyTorch."""
        precision: Precision = "float32" if self._precision == "int16" else self._precision  # PyTorch has no int16
        return load_torch_engine(self._run, self._device, precision)

    def _engine(self, options: TranslationOptions | None) -> Engine:
        """Return the engine for a search with these options, or for scoring (None)."""
        reason = self._unsupported_reason(options)
        return self.ctranslate2_engine if reason is None else self._fall_back(reason)

    def _fall_back(self, reason: str) -> Engine:
        """Return the PyTorch engine and warn of the reason once; with `strict`, raise an error."""
        if self._strict:
            raise ManyheadsError(f"CTranslate2 cannot be used: {reason}.", where="--engine", cure="Use --engine auto.")
        if reason not in self._noted_reasons:
            self._noted_reasons.add(reason)
            warnings.warn(f"Translating with PyTorch: {reason}.", Notice, stacklevel=2)
        return self.torch_engine

    def _unsupported_reason(self, options: TranslationOptions | None) -> str | None:
        """Return why CTranslate2 does not support a search with these options, or scoring (None); None if it does."""
        if options is None or self._unsupported_run:
            return self._unsupported_run
        if options.sample:
            return "only PyTorch draws samples that are reproducible from the seed"
        if 2 * options.beam > self._target_vocabulary:
            return f"a beam of {options.beam} is too wide for a vocabulary of {self._target_vocabulary}"
        return None

    @cached_property
    def _unsupported_run(self) -> str | None:
        """Why CTranslate2 does not support this run or this device, with any options; None if it does."""
        if find_spec("ctranslate2") is None:
            return "ctranslate2 is not installed"
        if self._device not in ("auto", "cpu") or _has_graphics_card(self._device):
            return "it is for processors, not for graphics cards"
        from manyheads.exchange.ctranslate2 import unsupported_by_ctranslate2

        keys = unsupported_by_ctranslate2(self._run.config_for(TranslationConfig))
        return f"it does not support {' and '.join(keys)}" if keys else None

    @cached_property
    def _target_vocabulary(self) -> int:
        """The size of the target vocabulary."""
        return self._run.config_for(TranslationConfig).target_vocabulary


def _has_graphics_card(device: str) -> bool:
    """Return whether the device is `auto` and there is a graphics card."""
    if device != "auto":
        return False
    import ctranslate2

    return bool(ctranslate2.get_cuda_device_count())


def load_torch_engine(run: RunFolder, device: str, precision: Precision = "float32") -> TorchEngine:
    """Load a run's model into the PyTorch engine."""
    with naming_extras("the torch engine"):
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
            f"the torch engine has int8 on the CPU only, not on {place}.", where="--precision", cure="Leave it out."
        )
    model = load_model(SequenceToSequence, run, device=place)
    if precision == "int8":
        model = with_linears(model, Int8Linear)
    elif place.type == "cpu" and can_pack():
        model = with_linears(model, PackedLinear)
    alignment = run.recipe_for(TranslationRecipe).decoding.alignment
    return TorchEngine(model, run.config_for(TranslationConfig), alignment=alignment)
