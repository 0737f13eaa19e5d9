"""The recipe of a translation task, and what is needed to rebuild its model."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from manyheads.config.alignment import AlignmentSettings
from manyheads.config.corpora import DataSettings, TokenizerSettings
from manyheads.config.model_config import WritingConfig
from manyheads.config.models import TranslationModel
from manyheads.config.models.base import check_size
from manyheads.config.models.transformer import TransformerSettings
from manyheads.config.recipe import RecipeBase, ValidationBase
from manyheads.config.values import Metric, Natural, Positive, Settings, check_beam
from manyheads.errors import ManyheadsError


class TranslationValidation(ValidationBase):
    """How progress is measured."""

    metric: Metric = Field("bleu", description="What decides which model is best, and when to stop early.")
    sentences: Positive = Field(1000, description="Validation sentences that are translated for the metric.")
    batch_sentences: Positive = Field(64, description="Sentences translated at once.")
    lowercase: bool = Field(False, description="Ignore case in BLEU, chrF, chrF++ and TER.")
    bleu_tokenizer: Literal["auto", "13a", "none", "char", "zh", "intl", "ja-mecab", "ko-mecab"] = Field(
        "13a",
        description="sacreBLEU's tokenizer; none for text that is tokenised already, auto for the one that suits the "
        "target's language, or its script where no language is given.",
    )


class DecodingSettings(Settings):
    """How translations are searched for."""

    beam: Annotated[Positive, AfterValidator(check_beam)] = Field(
        4, description="Hypotheses kept at each step; 1 is greedy."
    )
    length_penalty: float = Field(0.6, ge=0.0, description="α in the paper's ((5 + |y|) / 6)^α.")
    extra_length: Natural = Field(50, description="A translation may be this much longer than its source, in tokens.")
    no_repeat_ngram: Natural = Field(0, description="Forbid repeating any run of this many tokens; 0 allows it.")
    alignment: AlignmentSettings = Field(
        default_factory=AlignmentSettings, description="Which attention aligns the words (--alignments)."
    )


class TranslationRecipe(RecipeBase):
    """Learn to turn one sequence into another."""

    task: Literal["translation"] = Field("translation", description="What is learned: one sequence into another.")
    data: DataSettings = Field(description="The corpora.")
    tokenizer: TokenizerSettings = Field(default_factory=TokenizerSettings, description="How text becomes tokens.")
    model: TranslationModel = Field(default_factory=TransformerSettings, description="The model.")
    validation: TranslationValidation = Field(
        default_factory=TranslationValidation, description="How progress is measured."
    )
    decoding: DecodingSettings = Field(
        default_factory=DecodingSettings, description="How translations are searched for."
    )

    @property
    def longest(self) -> int:
        """The longest sequence, in tokens, that is trained on."""
        return self.data.max_length

    @property
    def metric(self) -> Metric:
        """The metric that decides which model is best."""
        return self.validation.metric

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        """Check that the tokenizer is shared if all embeddings are tied."""
        if self.model.one_vocabulary and not self.tokenizer.shared:
            raise ValueError(
                "model.tie: all needs tokenizer.shared: true; with a tokenizer per side use tie: target or none"
            )
        return self

    @model_validator(mode="after")
    def _vocabulary_is_possible(self) -> Self:
        """Check that the vocabulary and the beam are not too large for any machine."""
        source, target = self.tokenizer.vocabulary or 1, (self.tokenizer.target or self.tokenizer).vocabulary or 1
        check_size(self.model, source, target)
        return self

    @model_validator(mode="after")
    def _weights_for_every_stage(self) -> Self:
        """Check that each list of weights has one for each stage, and that no stage is empty."""
        stages = len(self.training.stages) + 1
        for number, corpus in enumerate(self.data.corpora):
            if isinstance(corpus.weight, tuple) and len(corpus.weight) != stages:
                raise ValueError(
                    f"corpus {number} of data.train has {len(corpus.weight)} weights, but there are {stages} stages "
                    "(training.stages has the steps between them)"
                )
        for stage in range(stages):
            if not any(corpus.weight_in(stage) for corpus in self.data.corpora):
                raise ValueError(f"every corpus has the weight 0 in stage {stage} (counted from 0)")
        return self

    @model_validator(mode="after")
    def _modifiers_need_symbols(self) -> Self:
        """Check that the tokenizer has the symbols that placeholders, tags and terms become."""
        needing = [key for key in ("placeholders", "tags", "terms") if getattr(self.data.modify, key)]
        if needing and not self.tokenizer.symbols:
            raise ValueError(f"data.modify.{needing[0]} needs tokenizer.symbols: true")
        lexicons = [corpus.lexicon for corpus in self.data.corpora]
        if needing and set(needing) & {"tags", "terms"} and not any(lexicons):
            raise ValueError(f"data.modify.{needing[-1]} needs a lexicon for at least one corpus of data.train")
        return self

    @model_validator(mode="after")
    def _model_takes_the_length(self) -> Self:
        """Check that the model can be trained on the longest sentence."""
        self.model.check_length(self.data.max_length)
        return self


class TranslationConfig(WritingConfig):
    """What is needed to rebuild a model that translates: its settings, its vocabularies and its special tokens."""

    task: Literal["translation"] = "translation"
    model: TranslationModel
    source_vocabulary: Positive
    target_vocabulary: Positive

    @property
    def verb(self) -> str:
        """The command that uses such a model."""
        return "translate"

    @property
    def vocabulary_sizes(self) -> tuple[int, int]:
        """The number of source and of target pieces."""
        return self.source_vocabulary, self.target_vocabulary

    def output_limit(self, source: int, *, extra: int) -> int:
        """Return the most tokens of an output, its end token included, for a source of `source` tokens without one.

        It may be `extra` tokens longer than its source, where the model can write that many.
        """
        most = self.model.longest_target(source + 1)
        return source + extra if most is None else min(source + extra, most)

    @property
    def transformer(self) -> TransformerSettings:
        """The settings of a Transformer, for formats that hold no other model."""
        if not isinstance(self.model, TransformerSettings):
            raise ManyheadsError(f"this is for a transformer, not for a {self.model.kind} model.", where="model.kind")
        return self.model
