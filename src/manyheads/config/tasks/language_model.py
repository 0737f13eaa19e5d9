"""The recipe of a language model, and what is needed to rebuild it."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.model_config import WritingConfig
from manyheads.config.models import LanguageModelChoice
from manyheads.config.models.base import check_size
from manyheads.config.models.language_model import LanguageModelSettings
from manyheads.config.recipe import RecipeBase, ValidationBase, without_smoothing
from manyheads.config.values import Natural, Positive, Settings

TextTokenizerKind = Literal["bpe", "unigram", "characters", "words", "bytes"]


class TextDataSettings(Settings):
    """The text of a run. A path may be a folder, or begin with `data:`; .gz is unpacked."""

    train: str = Field(description="The text to learn from: a file or a folder.", examples=["train.txt"])
    valid: str | None = Field(None, description="The text that progress is measured on; by default the end of `train`.")
    held_out: float = Field(
        0.1, gt=0.0, lt=1.0, description="Share of `train`, at its end, that is measured on where `valid` is missing."
    )
    length: Positive = Field(128, description="Tokens that are read at once, and so the longest context in training.")


class TextTokenizerSettings(Settings):
    """How text becomes tokens; only words do not keep every character."""

    kind: TextTokenizerKind = Field(
        "bpe", description="bpe, unigram, characters, words (what white space separates) or bytes."
    )
    vocabulary: Positive | None = Field(
        None, description="Number of pieces; by default 8,000, or every character or word that occurs."
    )

    @model_validator(mode="after")
    def _bytes_are_given(self) -> Self:
        """Check that no number of pieces is set for bytes."""
        if self.kind == "bytes" and self.vocabulary is not None:
            raise ValueError("tokenizer.vocabulary is not for bytes, of which there are 256")
        return self


class TextValidation(ValidationBase):
    """How progress is measured."""

    metric: Literal["loss", "bits_per_byte"] = Field("loss", description="What decides which model is best.")
    samples: Natural = Field(1, description="Sample continuations shown at each validation.")


class LanguageModelRecipe(RecipeBase):
    """Learn to continue a text."""

    task: Literal["language_model"] = Field("language_model", description="What is learned: to continue a text.")
    data: TextDataSettings = Field(description="The text.")
    tokenizer: TextTokenizerSettings = Field(
        default_factory=TextTokenizerSettings, description="How text becomes tokens."
    )
    model: LanguageModelChoice = Field(default_factory=LanguageModelSettings, description="The model.")
    validation: TextValidation = Field(default_factory=TextValidation, description="How progress is measured.")

    @model_validator(mode="before")
    @classmethod
    def _truth_alone(cls, values: Any) -> Any:  # noqa: ANN401
        """Set label smoothing to 0 by default, so that the loss measures the probability of the text."""
        return without_smoothing(values)

    @model_validator(mode="after")
    def _length_fits(self) -> Self:
        """Check that the vocabulary is possible, a batch holds one lane, and the model can read all of it."""
        check_size(self.model, self.tokenizer.vocabulary or 1, self.tokenizer.vocabulary or 1)
        longest = self.model.longest
        if longest is not None and self.data.length > longest:
            raise ValueError(f"data.length {self.data.length} is above the model's {longest} positions")
        if self.training.batch_tokens < self.data.length:
            raise ValueError(f"training.batch_tokens must be at least data.length, {self.data.length}")
        if self.training.r_drop:
            raise ValueError("training.r_drop is for translation")
        return self

    @property
    def longest(self) -> int:
        """The longest sequence, in tokens, that is trained on."""
        return self.data.length

    @property
    def metric(self) -> str:
        """The metric that decides which model is best."""
        return self.validation.metric


class LanguageModelConfig(WritingConfig):
    """What is needed to rebuild a language model: its settings, its vocabulary and its special tokens."""

    task: Literal["language_model"] = "language_model"
    model: LanguageModelChoice
    vocabulary: Positive

    @property
    def verb(self) -> str:
        """The command that uses such a model."""
        return "generate"

    @property
    def vocabulary_sizes(self) -> tuple[int, int]:
        """The number of pieces, which are the same for reading and writing."""
        return self.vocabulary, self.vocabulary
