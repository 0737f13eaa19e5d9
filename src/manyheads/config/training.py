"""The keys under `training`: how a model is trained, for all tasks."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.values import Natural, Number, Positive, Probability, Settings, Switch


class ScheduleSettings(Settings):
    """How the learning rate rises and falls."""

    kind: Literal["paper", "inverse_sqrt", "cosine", "linear", "constant", "warmup_constant_decay"] = Field(
        "paper",
        description="paper: d_model^-0.5 · min(step^-0.5, step · warmup^-1.5); the others rise to `rate`.",
    )
    warmup: Natural = Field(4000, description="Steps in which the rate rises from zero.")
    rate: float = Field(1.0, gt=0.0, description="Peak rate; for `paper`, a factor on the formula.")
    floor: float = Field(
        0.0, ge=0.0, description="Rate at the end of cosine, linear and warmup_constant_decay, as a share of the peak."
    )
    decay_from: Natural | None = Field(
        None,
        description="Of warmup_constant_decay: the step after which the rate falls in a straight line until the last "
        "one; until it is set, the rate stays. `train --finish-in 2h` sets it.",
    )

    @model_validator(mode="after")
    def _decay_has_its_kind(self) -> Self:
        """Check that decay_from is set only for warmup_constant_decay."""
        if self.decay_from is not None and self.kind != "warmup_constant_decay":
            raise ValueError(f"decay_from is for warmup_constant_decay, not for {self.kind}")
        return self


class TrainingSettings(Settings):
    """How the model learns."""

    steps: Positive = Field(100_000, description="Number of updates.")
    minutes: Annotated[float, Number] | None = Field(
        None,
        gt=0.0,
        description="Time that training takes: how many steps fit into it is measured at the start, and written into "
        "the run's recipe as `steps` and `schedule.decay_from`. It needs the schedule warmup_constant_decay.",
    )
    batch_tokens: Positive = Field(4096, description="Padded tokens in a batch, on its longer side.")
    accumulate: Positive = Field(1, description="Batches per update.")
    label_smoothing: Probability = Field(0.1, description="ε: 1−ε on the true token, ε/(K−1) on every other.")
    schedule: ScheduleSettings = Field(default_factory=ScheduleSettings, description="The learning rate over time.")
    stages: tuple[Natural | Literal["decay"], ...] = Field(
        (),
        description="Steps after which the next weights of the corpora are used (`data.train.weight` as a list), such "
        "as [20000]; `decay` means `schedule.decay_from`.",
    )
    optimiser: Literal["adam", "muon", "sgd"] = Field(
        "adam",
        description="adam; muon: orthogonal updates for the matrices inside the layers, Adam for all other weights; or "
        "sgd: plain gradient descent.",
    )
    momentum: Probability = Field(0.95, description="Muon's μ.")
    betas: tuple[Probability, Probability] = Field((0.9, 0.98), description="Adam's β₁ and β₂.")
    epsilon: float = Field(1e-9, gt=0.0, description="Adam's ε.")
    weight_decay: float = Field(0.0, ge=0.0, description="Decoupled weight decay.")
    clip_norm: float = Field(0.0, ge=0.0, description="Largest norm of an update's gradient; 0 does not clip.")
    gradient_noise: Annotated[float, Number] = Field(
        0.0,
        ge=0.0,
        allow_inf_nan=False,
        description="η of Gaussian noise that is added to the clipped gradients, with variance η/(1 + t)^0.55 in "
        "update t; 0 adds none.",
    )
    log_every: Positive = Field(50, description="Steps between two lines of the log.")
    checkpoint_every: Positive = Field(500, description="Steps between two checkpoints.")
    keep_checkpoints: Positive = Field(3, description="Newest checkpoints that are kept; the best one always is.")
    average: Literal["none", "last", "best"] = Field(
        "none",
        description="Publish the mean of the last or of the best checkpoints, if it scores better than the best one.",
    )
    average_checkpoints: Positive = Field(5, description="How many checkpoints are averaged.")
    threads: Natural = Field(0, description="Processor threads; 0 takes every core.")
    moving_average: Probability = Field(
        0.0,
        description="Publish the exponential moving average of the weights, with this decay such as 0.999; 0: none.",
    )
    sharding: Literal["none", "full"] = Field(
        "none",
        description="Under torchrun: every process holds the whole model (none) or a share of it (full, FSDP).",
    )
    r_drop: Annotated[float, Number] = Field(
        0.0,
        ge=0.0,
        description="α of R-Drop: every batch is computed twice with different dropout, and α times the symmetric KL "
        "divergence of the two predictions is added to the loss; needs the time and memory of a batch twice as large. "
        "0 computes it once.",
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="Type of the factors in matrix products; auto takes bfloat16 on CUDA where it is supported, and "
        "float32 elsewhere. Weights and optimiser are always float32.",
    )
    products: Literal["torch", "onednn"] = Field(
        "torch",
        description="Library of the float32 matrix products in linear layers on a processor: PyTorch's choice, or "
        "onednn, which is about twice as fast on AMD's processors with AVX-512.",
    )
    compile: Switch = Field(
        "auto", description="Compile the model before training: on, off, or auto: on CUDA if the run is long enough."
    )

    def stage_at(self, step: int) -> int:
        """Return the stage, counted from 0, of update `step`, counted from 0."""
        ends = (self.schedule.decay_from if end == "decay" else end for end in self.stages)
        return sum(end is not None and step >= end for end in ends)

    @property
    def is_open_ended(self) -> bool:
        """Whether the number of steps is still to be measured, because the recipe has a time instead."""
        return self.minutes is not None and self.schedule.decay_from is None

    @model_validator(mode="after")
    def _time_needs_an_open_end(self) -> Self:
        """Check that the schedule does not depend on the number of steps until that is measured."""
        if self.minutes is not None and self.schedule.kind != "warmup_constant_decay":
            raise ValueError("`minutes` needs schedule.kind: warmup_constant_decay, whose end can be fixed later")
        return self

    @model_validator(mode="after")
    def _stages_in_order(self) -> Self:
        """Check that the steps of the stages increase."""
        steps = [end for end in self.stages if end != "decay"]
        if steps != sorted(set(steps)) or "decay" in self.stages[:-1]:
            raise ValueError("the steps of `stages` must rise, and `decay` may only be the last")
        return self

    @model_validator(mode="after")
    def _muon_needs_whole_matrices(self) -> Self:
        """Check that muon is not used with sharded matrices, which cannot be made orthogonal."""
        if self.optimiser == "muon" and self.sharding == "full":
            raise ValueError("muon needs whole matrices, and sharding: full cuts them: set optimiser: adam")
        return self

    @model_validator(mode="after")
    def _noise_needs_whole_gradients(self) -> Self:
        """Check that there is no gradient noise with sharded weights, which no process has as a whole."""
        if self.gradient_noise and self.sharding == "full":
            raise ValueError("gradient_noise needs whole gradients, and sharding: full cuts them: set sharding: none")
        return self

    @model_validator(mode="after")
    def _one_average(self) -> Self:
        """Check that only one kind of average is used."""
        if self.moving_average and self.average != "none":
            raise ValueError("average and moving_average exclude each other: set one of them")
        return self
