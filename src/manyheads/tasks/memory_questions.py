"""Questions about facts that a memory holds: the answer is one word of the run's vocabulary."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import ClassVar, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from manyheads.config.messages import build
from manyheads.config.model_config import ConfigBase
from manyheads.config.tasks.memory_questions import (
    MemoryQuestionsConfig,
    MemoryQuestionsRecipe,
    StoriesSettings,
)
from manyheads.data.batches.memories import NO_ANSWER, MemoryBatch, MemoryBatches, MemoryRows
from manyheads.data.text.files import text_files
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.data.text.stories import StoryQuestion, origin_of, stories_of
from manyheads.data.tokens.word_list import FILE, WordList, answer_word
from manyheads.encoding.fact_reader import BATCH, FactReader, inputs_of
from manyheads.errors import ManyheadsError, Notice
from manyheads.metrics.scores import Score
from manyheads.metrics.task_errors import task_errors
from manyheads.models.build import build_model
from manyheads.models.interface import Answers, FactModel, MemoryInputs
from manyheads.runs.folder import RunFolder
from manyheads.runs.inputs import Input
from manyheads.tasks.interface import (
    EvaluationOptions,
    Machine,
    Measurement,
    Objective,
    Plan,
    Sample,
    Task,
    Tell,
    TestData,
    Validation,
)
from manyheads.tasks.loss import smoothed_loss

ASSUMED_WORDS, ASSUMED_LENGTH = 200, 8  # where the data decides


class MemoryTensors(NamedTuple):
    """A batch on its device, and the answers [B]."""

    inputs: MemoryInputs
    answers: Tensor


class MemoryObjective(Objective[MemoryBatch]):
    """Predict the answer."""

    model: FactModel

    def __init__(self, model: FactModel, *, smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.smoothing = smoothing

    def move(self, batch: MemoryBatch, device: torch.device) -> MemoryTensors:
        """Copy a batch of arrays to a device."""
        return MemoryTensors(inputs_of(batch).to(device), torch.from_numpy(batch.answers).to(device))

    def count(self, batch: MemoryBatch) -> int:
        """Return the number of questions."""
        return len(batch.answers)

    def forward(self, batch: MemoryTensors) -> tuple[Tensor, int]:
        """Return the summed loss over the questions, and their number; it is smoothed while training alone."""
        smoothing = self.smoothing if self.training else 0.0
        found = self.answers(batch.inputs)
        loss = smoothed_loss(found.logits.float(), batch.answers, smoothing=smoothing)
        return loss if found.penalty is None else loss + found.penalty.sum(), len(batch.answers)

    def answers(self, inputs: MemoryInputs) -> Answers:
        """Return the logits of the answers [B, V], and a penalty [B] where the model has one."""
        return self.model.answers(inputs)

    def multiplications(self, batch: MemoryBatch) -> int:
        """Return those of the hops and of the answer layer."""
        return self.model.multiplications(*batch.facts.shape)

    def compile_stacks(self) -> None:
        """Compile the model, for any shape."""
        self.answers = torch.compile(self.answers, dynamic=True)  # type: ignore[method-assign]


class MemoryQuestionsTask(Task[MemoryQuestionsRecipe, MemoryBatch]):
    """A prepared run of a model that answers questions about facts."""

    name: ClassVar[str] = "memory_questions"

    config: MemoryQuestionsConfig
    words: WordList
    rows: MemoryRows
    valid_rows: MemoryRows
    batches: MemoryBatches

    @classmethod
    def prepare(cls, recipe: MemoryQuestionsRecipe, run: RunFolder, machine: Machine, tell: Tell) -> Self:
        """Read the questions and list the words, or find the list that was made before."""
        task, fingerprints = cls(recipe, run), Fingerprints()
        task.check_inputs(machine, tell, fingerprints)
        train, valid = _parts(recipe, fingerprints)
        task.start_run(machine, tell)
        task.words = _words(recipe, run, train, valid, write=machine.is_first)
        task.config = MemoryQuestionsConfig(model=recipe.model, vocabulary=len(task.words))
        if machine.is_first:
            run.write_config(task.config)
        task.rows, task.valid_rows = MemoryRows.of(train, task.words), MemoryRows.of(valid, task.words)
        _require_known_answers(task.valid_rows, where="data.valid")
        model = recipe.model
        task.batches = MemoryBatches(
            task.rows, size=recipe.data.batch, memory=model.memory, noise=model.noise_share, seed=recipe.seed
        )
        tell(f"{len(train):,} training questions, {len(valid):,} for validation, {len(task.words) - 1:,} words.")
        if longer := sum(one.dropped > 0 for one in (*train, *valid)):
            tell(
                f"{longer:,} of them are about more facts than the memory holds: the {model.memory} most recent are "
                "kept (model.memory)."
            )
        task.finish_start(machine, fingerprints)
        return task

    @classmethod
    def inputs(cls, recipe: MemoryQuestionsRecipe) -> list[Input]:
        """Return the files of the questions."""
        data = recipe.data
        valid = [] if data.valid is None else _inputs(data.valid, "validation")
        return [*_inputs(data.train, "training"), *valid]

    @classmethod
    def check_files(cls, recipe: MemoryQuestionsRecipe) -> None:
        """Read every question."""
        _parts(recipe, Fingerprints())

    @classmethod
    def plan(cls, recipe: MemoryQuestionsRecipe, config: ConfigBase | None = None) -> Plan[MemoryBatch]:
        """Return what training would compute for a full memory of different facts."""
        planned = config or MemoryQuestionsConfig(model=recipe.model, vocabulary=ASSUMED_WORDS)
        model = build_model(planned, device="meta")
        assert isinstance(model, FactModel)
        rows, memory = recipe.data.batch, recipe.model.memory
        shapes = (rows * memory, ASSUMED_LENGTH), (rows, memory), (rows,), (rows, ASSUMED_LENGTH), (rows,)
        *inputs, answers = (torch.zeros(shape, dtype=torch.long, device="meta") for shape in shapes)
        objective = MemoryObjective(model, smoothing=recipe.training.label_smoothing)
        return Plan(planned, objective, MemoryTensors(MemoryInputs(*inputs), answers), assumed=config is None)

    @classmethod
    def measure(cls, run: RunFolder, data: TestData, options: EvaluationOptions) -> Measurement:
        """Return the answers of a run's model to test questions, and the errors of all tasks."""
        options.refuse_search(run, data)
        recipe = run.recipe_for(MemoryQuestionsRecipe)
        reader = FactReader.from_folder(run.path, device=options.device)
        asked = stories_of(_test_settings(recipe, data), memory=reader.model.memory, split="test")
        outputs = [one.text for one in reader.answer(asked)]
        impossible = sum(one.answer is not None and reader.words.answer_id(one.answer) is None for one in asked)
        if impossible:
            text = f"{impossible:,} answers are no words of the run's vocabulary, so it cannot give them."
            warnings.warn(text, Notice, stacklevel=2)
        return Measurement(outputs, _errors(asked, outputs), len(asked))

    def batches_at(self, step: int) -> MemoryBatches:
        """Return the batches, which are the same for every update."""
        return self.batches

    def objective(self, model: nn.Module) -> MemoryObjective:
        """Return what is learned from a batch."""
        assert isinstance(model, FactModel)
        return MemoryObjective(model, smoothing=self.recipe.training.label_smoothing)

    def validator(self, model: nn.Module) -> MemoryValidator:
        """Return what measures a model on the validation questions."""
        return MemoryValidator(self, self.objective(model))

    @property
    def kind(self) -> str:
        """What the model is, and for which task."""
        return f"{self.config.model.kind} for questions about facts"

    def facts(self) -> dict[str, str]:
        """Return where the questions come from, and how many words they have."""
        return {
            "training data": origin_of(self.recipe.data.train, split="train"),
            "questions": f"{len(self.rows):,}",
            "words": f"{len(self.words) - 1:,}",
        }

    def describe(self, batch: MemoryBatch) -> str:
        """Return the size of a batch and its first question."""
        text = self.rows.examples[int(batch.examples[0])].question
        return f"a batch of {len(batch.answers)} questions, the first of which is {text[:80]!r}"


class MemoryValidator:
    """Measures a model on a fixed set of questions."""

    def __init__(self, task: MemoryQuestionsTask, objective: MemoryObjective) -> None:
        self._task, self._objective = task, objective

    def run(self) -> Validation:
        """Validate the model with its present weights."""
        task, recipe = self._task, self._task.recipe
        asked = task.valid_rows.examples
        self._objective.eval()
        try:
            outputs = [one.text for one in FactReader(self._objective.model, task.words).answer(asked)]
            found = [*_errors(asked, outputs), self._loss()]
        finally:
            self._objective.train()
        scores = {score.name: score for score in found}
        shown = zip(asked[: recipe.validation.samples], outputs, strict=False)
        samples = [Sample(one.source, output, one.answer or "") for one, output in shown]
        return Validation(scores.pop(recipe.metric), list(scores.values()), samples)

    @torch.inference_mode()
    def _loss(self) -> Score:
        """Return the mean loss over the whole set."""
        rows, total = self._task.valid_rows, 0.0
        for begin in range(0, len(rows), BATCH):
            batch = rows.lay_out(np.arange(begin, min(begin + BATCH, len(rows))))
            total += float(self._objective(self._objective.move(batch, self._objective.model.device))[0])
        return Score("loss", total / len(rows), higher_is_better=False)


def _parts(
    recipe: MemoryQuestionsRecipe, fingerprints: Fingerprints
) -> tuple[list[StoryQuestion], list[StoryQuestion]]:
    """Return the questions to learn from and those to measure on: the last ones of each task if no others are given."""
    data, memory = recipe.data, recipe.model.memory
    train = stories_of(data.train, memory=memory, split="train", fingerprints=fingerprints)
    if data.valid is not None:
        return train, stories_of(data.valid, memory=memory, split="valid", fingerprints=fingerprints)
    tasks: dict[str, list[StoryQuestion]] = {}
    for one in train:
        tasks.setdefault(one.task, []).append(one)
    kept: list[StoryQuestion] = []
    held_out: list[StoryQuestion] = []
    for task, asked in tasks.items():
        cut = len(asked) - math.ceil(data.held_out * len(asked))
        if not cut:
            what = f"of {task} " if task else ""
            raise ManyheadsError(
                f"the {len(asked)} questions {what}are too few to hold out some of them.",
                where="data.train",
                cure="Give others with data.valid.",
            )
        kept += asked[:cut]
        held_out += asked[cut:]
    return kept, held_out


def _words(
    recipe: MemoryQuestionsRecipe,
    run: RunFolder,
    train: Sequence[StoryQuestion],
    valid: Sequence[StoryQuestion],
    *,
    write: bool,
) -> WordList:
    """Return the run's words: those of its training data, what is held out of it included."""
    if (run.tokenizer_folder / FILE).exists():
        return WordList.load(run.tokenizer_folder)
    known = [*train, *(valid if recipe.data.valid is None else ())]
    sentences = (sentence for one in known for sentence in (*one.facts, one.question))
    words = WordList.collect(dict.fromkeys(sentences), {one.answer for one in known if one.answer})
    if write:
        run.write_tokenizer_files({FILE: words.text().encode("utf-8")})
    return words


def _require_known_answers(rows: MemoryRows, *, where: str) -> None:
    """Raise an error if an answer is no word of the vocabulary, since its loss would be infinite."""
    unknown = sorted(
        {one.answer or "" for one, known in zip(rows.examples, rows.answers, strict=True) if known == NO_ANSWER}
    )
    if unknown:
        raise ManyheadsError(
            f"these answers are no words of the training data: {', '.join(unknown)}.",
            where=where,
            cure="Leave their questions out, or add them to the training data.",
        )


def _errors(asked: Sequence[StoryQuestion], outputs: Sequence[str]) -> list[Score]:
    """Return the errors of all tasks, in percent."""
    pairs = zip(asked, outputs, strict=True)
    return task_errors((one.task, output == answer_word(one.answer or "")) for one, output in pairs)


def _inputs(settings: StoriesSettings, role: str) -> list[Input]:
    """Return the files that questions come from."""
    files = [Input(role, given, path) for given in settings.files for path in text_files(given, role="questions")]
    if settings.babi is not None:
        files += [
            Input(role, settings.babi, path, is_text=False) for path in text_files(settings.babi, role="questions")
        ]
    return files


def _test_settings(recipe: MemoryQuestionsRecipe, data: TestData) -> StoriesSettings:
    """Return where test questions come from: what was named, or the test part of what the run learned from."""
    trained_on = recipe.data.train
    values: object
    if data.pairs is not None:
        section = StoriesSettings.model_validate(data.pairs)
        values = section.model_copy(update={"split": "test"})
    elif name := data.task or trained_on.task:
        options = trained_on.options if name == trained_on.task else {}
        values = {"task": name, "count": data.count, "seed": 0, "options": options}
    elif trained_on.babi is not None:
        values = trained_on.model_copy(update={"split": "test"})
    else:
        raise ManyheadsError("it was not said what to measure the run on.", cure="Name a file with --pairs.")
    return values if isinstance(values, StoriesSettings) else build(StoriesSettings, values, origin="the test data")
