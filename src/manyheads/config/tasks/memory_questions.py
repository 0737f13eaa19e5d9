"""The recipe of questions about facts that a memory holds, and what is needed to rebuild its model."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from manyheads.config.model_config import ConfigBase
from manyheads.config.models import MemoryModel
from manyheads.config.models.memory_network import MemoryNetworkSettings
from manyheads.config.recipe import RecipeBase, ValidationBase, without_smoothing
from manyheads.config.values import Positive, Seed, Settings

BABI_TASKS = 20
ARCHIVES = (".tar.gz", ".tgz")


class StoriesSettings(Settings):
    """Where questions about facts come from: files, tasks of bAbI in its archive, or a generated task.

    A path is relative to the current folder, or to the data folder (`MANYHEADS_DATA`, or ./data) if it starts with
    `data:`; .gz is unpacked. data/text/stories.py has the formats. In place of the section, a path or a list of paths
    can be given; one that ends in .tar.gz is an archive of bAbI.
    """

    files: tuple[str, ...] = Field((), description="Files of facts and questions, or folders of them.")
    babi: str | None = Field(None, description="The archive of bAbI (.tar.gz) instead of files.")
    numbers: tuple[Annotated[int, Field(ge=1, le=BABI_TASKS)], ...] = Field(
        tuple(range(1, BABI_TASKS + 1)), min_length=1, description="Tasks of bAbI to read from its archive."
    )
    split: Literal["train", "test"] = Field("train", description="Which part of the archive is read.")
    task: str | None = Field(None, description="A generated task instead: whereabouts.")
    count: Positive = Field(2000, description="Number of questions to generate.")
    seed: Seed = Field(1, description="Seed of the generated questions.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the generated task.")

    @model_validator(mode="before")
    @classmethod
    def _paths_alone(cls, values: Any) -> Any:  # noqa: ANN401
        """Take a path, or a list of paths, for the section."""
        if isinstance(values, str):
            return {"babi": values} if values.endswith(ARCHIVES) else {"files": [values]}
        return {"files": values} if isinstance(values, (list, tuple)) else values

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        """Check that exactly one of the origins is given."""
        if sum((bool(self.files), self.babi is not None, self.task is not None)) != 1:
            raise ValueError("give exactly one of: files, babi, task")
        return self


class MemoryDataSettings(Settings):
    """The questions of a run."""

    train: StoriesSettings = Field(description="What the model learns from.")
    valid: StoriesSettings | None = Field(
        None, description="What its progress is measured on; by default the end of each task or file of `train`."
    )
    held_out: float = Field(
        0.1, gt=0.0, lt=1.0, description="Share of `train` that is measured on where `valid` is missing."
    )
    batch: Positive = Field(32, description="Questions in a batch; `training.batch_tokens` has no effect.")


class MemoryValidation(ValidationBase):
    """How progress is measured."""

    metric: Literal["error", "loss"] = Field(
        "error", description="What decides which model is best: the mean error of the tasks in percent, or the loss."
    )


class MemoryQuestionsRecipe(RecipeBase):
    """Learn to answer questions about facts that a memory holds."""

    metrics: ClassVar[tuple[str, ...]] = ("error", "loss")

    task: Literal["memory_questions"] = Field(
        "memory_questions", description="What is learned: answers to questions about facts that a memory holds."
    )
    data: MemoryDataSettings = Field(description="The questions and their facts.")
    model: MemoryModel = Field(default_factory=MemoryNetworkSettings, description="The model.")
    validation: MemoryValidation = Field(default_factory=MemoryValidation, description="How progress is measured.")

    @model_validator(mode="before")
    @classmethod
    def _truth_alone(cls, values: Any) -> Any:  # noqa: ANN401
        """Set label smoothing to 0 by default, as in the paper."""
        return without_smoothing(values)

    @model_validator(mode="after")
    def _only_what_it_has(self) -> Self:
        """Check that nothing is asked for that this task does not have."""
        if self.start_from is not None:
            raise ValueError("start_from is not for memory_questions, whose words are those of its own data")
        if self.training.r_drop:
            raise ValueError("training.r_drop is for translation")
        return self

    @property
    def longest(self) -> int:
        """The longest memory, in facts."""
        return self.model.memory

    @property
    def metric(self) -> str:
        """The metric that decides which model is best."""
        return self.validation.metric


class MemoryQuestionsConfig(ConfigBase):
    """What is needed to rebuild a memory network: its settings and its vocabulary."""

    task: Literal["memory_questions"] = "memory_questions"
    model: MemoryModel
    vocabulary: Positive

    @property
    def verb(self) -> str:
        """The command that uses such a model."""
        return "answer"

    @property
    def special_ids(self) -> dict[str, int]:
        """There are no special tokens; id 0 is no word in every vocabulary."""
        return {}

    @property
    def vocabulary_sizes(self) -> tuple[int, int]:
        """The number of words, which are the same for reading and answering."""
        return self.vocabulary, self.vocabulary
