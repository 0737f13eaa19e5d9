"""What a BERT is built from, and the recipe of what it learns: words, labels or answers.

A BERT is the encoder half of the Transformer, with learned positions and segments.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.model import AttentionSettings
from manyheads.config.schema import TrainingSettings
from manyheads.config.values import Name, Natural, Positive, Probability, Settings

BertTask = Literal["masked_language_model", "classification", "question_answering"]


class BertSettings(Settings):
    """The sizes and habits of one BERT; the defaults are those of BERT-base."""

    width: Positive = Field(768, description="d_model, the width of every layer.")
    heads: Positive = Field(12, description="h, the number of attention heads; the width must be divisible by it.")
    layers: Positive = Field(12, description="Layers of the encoder.")
    feed_forward: Positive = Field(3072, description="d_ff, the inner width of the feed-forward networks.")
    positions: Positive = Field(512, description="Longest sequence, special tokens included.")
    segments: Positive = Field(2, description="How many texts one sequence may hold: 2 for pairs.")
    dropout: Probability = Field(0.1, description="Dropout of every sublayer's output and of the embeddings.")
    attention_dropout: Probability = Field(0.1, description="Dropout of the attention weights.")
    attention: AttentionSettings = Field(
        default_factory=AttentionSettings, description="The self-attention in every head."
    )
    activation: Literal["relu", "gelu", "swish"] = Field("gelu", description="Activation of the feed-forward networks.")
    norm_epsilon: float = Field(1e-12, gt=0.0, description="ε of every LayerNorm.")
    pooler: bool = Field(True, description="A layer with tanh on the first token's state, for whole sequences.")
    word_head: bool = Field(False, description="The head that predicts masked tokens.")
    outputs: Natural = Field(0, description="Outputs of the task's own head: one per label, or 2 for start and end.")

    @model_validator(mode="after")
    def _heads_divide_width(self) -> Self:
        """d_k = d_model / h must be whole, and a sequence no longer than Linformer's projections."""
        if self.attention.kind == "linformer" and self.attention.length < self.positions:
            raise ValueError(f"attention.length {self.attention.length} is below the {self.positions} positions")
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not divisible by {self.heads} heads")
        return self


class BertConfig(Settings):
    """What is needed to rebuild a BERT: its settings, its vocabulary and its special tokens."""

    kind: Literal["bert"] = "bert"
    task: BertTask | None = None  # what it was trained for here
    labels: tuple[str, ...] = ()  # of classification, in the order of the outputs
    model: BertSettings
    vocabulary: Positive
    pad: Natural = 0
    unknown: Natural = 100
    first: Natural = 101  # [CLS], which opens every sequence
    separator: Natural = 102  # [SEP], which closes every text
    mask: Natural = 103


class ExamplesSettings(Settings):
    """Where examples come from: a file, or a generated task.

    A path is relative to the current folder, or to the data folder (`MANYHEADS_DATA`, or ./data) if it starts with
    `data:`; .gz is unpacked. What a line holds depends on the recipe's task: data/text/examples.py has the table.
    """

    file: str | None = Field(None, description="A file with one example per line: TSV, JSONL or plain text.")
    task: str | None = Field(None, description="A generated task instead of a file: kinds, listops, whereabouts.")
    count: Positive = Field(2000, description="Number of examples to generate.")
    seed: int = Field(1, description="Seed of the generated examples.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the generated task.")

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        """Exactly one of the two origins is named."""
        if (self.file is None) == (self.task is None):
            raise ValueError("give exactly one of: file, task")
        return self


class BertDataSettings(Settings):
    """The examples of a run."""

    train: ExamplesSettings = Field(description="What the model learns from.")
    valid: ExamplesSettings = Field(description="What its progress is measured on.")
    max_length: Positive = Field(128, description="Longest sequence in tokens; what is longer is cut off.")


class BertValidationSettings(Settings):
    """How progress is measured."""

    every: Positive = Field(100, description="Steps between two validations.")
    metric: Literal["auto", "loss", "accuracy", "exact_match", "f1"] = Field(
        "auto", description="What decides which model is best; auto: accuracy, or exact_match of answers."
    )
    patience: Natural = Field(
        0, description="Validations without a better score before training stops; 0 never stops early."
    )
    samples: Natural = Field(2, description="Sample outputs shown at each validation.")


class MaskingSettings(Settings):
    """What is hidden from a masked language model."""

    share: float = Field(0.15, gt=0.0, lt=1.0, description="Share of the tokens that are to be predicted.")
    masked: float = Field(0.8, ge=0.0, le=1.0, description="Share of these that become [MASK].")
    random: float = Field(0.1, ge=0.0, le=1.0, description="Share of these that become any token; the rest stays.")

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        """No more than all can be replaced."""
        if self.masked + self.random > 1.0:
            raise ValueError(f"masked {self.masked} and random {self.random} are more than all")
        return self


class BertRecipe(Settings):
    """Everything that decides what a run of a BERT becomes."""

    name: Name = Field("run", description="A name for tables, cards and the run folder, runs/NAME.")
    task: BertTask = Field(description="What is learned: masked_language_model, classification or question_answering.")
    seed: int = Field(1, description="Seed of everything random: weights, order of the data, dropout, masks.")
    data: BertDataSettings = Field(description="The examples.")
    start_from: str | None = Field(
        None, description="A run folder with a BERT (manyheads import makes one) whose model this run starts from."
    )
    fresh: bool = Field(
        False, description="Take the shape and the tokenizer of start_from, but draw its weights anew: to compare."
    )
    vocabulary: Positive = Field(
        4000, le=8000, description="Pieces of the tokenizer at most, where it is trained on the data."
    )
    model: BertSettings | None = Field(None, description="The model's shape, where nothing is started from.")
    masking: MaskingSettings = Field(default_factory=MaskingSettings, description="What a language model must guess.")
    training: TrainingSettings = Field(default_factory=TrainingSettings, description="How it learns.")
    validation: BertValidationSettings = Field(
        default_factory=BertValidationSettings, description="How progress is measured."
    )

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        """The model's shape comes from one place."""
        if (self.start_from is None) == (self.model is None):
            raise ValueError("give either start_from or model, which says the shape of a new one")
        if self.fresh and self.start_from is None:
            raise ValueError("fresh needs start_from: a new model is fresh anyway")
        if self.training.r_drop:
            raise ValueError("training.r_drop is for translation")
        return self

    @model_validator(mode="after")
    def _metric_fits(self) -> Self:
        """Labels are right or wrong; answers may overlap."""
        metric, known = self.validation.metric, METRICS[self.task]
        if metric != "auto" and metric not in known:
            raise ValueError(f"validation.metric: {metric} is not for {self.task}; use {', '.join(known)}")
        return self

    @property
    def metric(self) -> str:
        """The metric that decides."""
        return METRICS[self.task][0] if self.validation.metric == "auto" else self.validation.metric


METRICS: dict[BertTask, tuple[str, ...]] = {
    "masked_language_model": ("loss", "accuracy"),
    "classification": ("accuracy", "loss"),
    "question_answering": ("exact_match", "f1", "loss"),
}
