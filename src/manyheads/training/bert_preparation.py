"""From a recipe for a BERT to what the trainer needs: tokenizer, batches, and a model, fresh or another run's.

A run that starts from another takes its tokenizer and its shape; a run of its own trains a tokenizer on its texts.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from manyheads.config.bert import BertConfig, BertRecipe, BertSettings
from manyheads.data.batches.examples import (
    BertBatch,
    BertBatches,
    Layout,
    Task,
    labelled,
    located,
    masked_layout,
    plain_layout,
    unlabelled,
)
from manyheads.data.text.examples import origin_of, read_examples
from manyheads.data.text.records import Example
from manyheads.data.tokens.wordpiece import FILE, FIRST, MASK, PAD, SEPARATOR, UNKNOWN, WordPiece
from manyheads.encoding.bert import Bert
from manyheads.errors import ManyheadsError
from manyheads.models.bert import BertModel
from manyheads.runs.atomic import new_folder
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import copy_arrays
from manyheads.runs.weights import read_weights
from manyheads.training.bert_objectives import (
    BertObjective,
    ClassificationObjective,
    MaskedLanguageModelObjective,
    QuestionAnsweringObjective,
)
from manyheads.training.bert_validation import BertValidator
from manyheads.training.machine.utilisation import OPERATIONS, PASSES

Tell = Callable[[str], None]

HEADS = ("pooler.", "word_head.", "task_head.")
OBJECTIVES: dict[str, type[BertObjective]] = {
    "masked_language_model": MaskedLanguageModelObjective,
    "classification": ClassificationObjective,
    "question_answering": QuestionAnsweringObjective,
}


@dataclass(frozen=True)
class BertPreparation:
    """Everything a training run of a BERT starts from; it is an `Assignment`."""

    recipe: BertRecipe
    run: RunFolder
    tokenizer: WordPiece
    config: BertConfig
    task: Task
    batches: BertBatches
    valid_task: Task
    valid_batches: BertBatches

    @property
    def kind(self) -> str:
        """What the model is."""
        return f"bert for {self.recipe.task.replace('_', ' ')}"

    @property
    def width(self) -> int:
        """The model's width, by which the paper's schedule goes."""
        return self.config.model.width

    @property
    def try_it(self) -> str:
        """The command that uses the model."""
        verb = {"classification": "classify", "question_answering": "answer"}.get(self.recipe.task, "encode")
        return shlex.join(["manyheads", verb, "--model", str(self.run.path)])

    def batches_at(self, step: int) -> BertBatches:
        """Return what every update learns from."""
        return self.batches

    def facts(self) -> dict[str, str]:
        """Return what the card says of the data and of what the run started from."""
        recipe = self.recipe
        started = "fresh weights" if recipe.start_from is None or recipe.fresh else recipe.start_from
        return {
            "training data": origin_of(recipe.data.train, split="train"),
            "examples": f"{len(self.task):,}",
            "labels": ", ".join(self.config.labels) or "none",
            "started from": started,
        }

    def fresh_model(self, *, device: torch.device, tell: Tell) -> BertModel:
        """Build the model with weights that depend on the seed alone, or start from another run's."""
        torch.manual_seed(self.recipe.seed)
        model = self.bare_model()
        if self.recipe.start_from is not None and not self.recipe.fresh:
            _start_from(RunFolder.open(self.recipe.start_from), model, self.config, tell)
        return model.to(device)

    def bare_model(self) -> BertModel:
        """Return a model of the same shape."""
        return BertModel.from_settings(self.config.model, vocabulary=self.config.vocabulary)

    def objective(self, model: nn.Module) -> BertObjective:
        """Return what is learned from a batch."""
        assert isinstance(model, BertModel)
        return OBJECTIVES[self.recipe.task](model, smoothing=self.recipe.training.label_smoothing)

    def validator(self, model: nn.Module) -> BertValidator:
        """Return what measures a model on the validation data."""
        objective = self.objective(model)
        bert = Bert(objective.model, self.tokenizer, self.config)
        return BertValidator(self.recipe, self.valid_task, self.valid_batches, objective, bert)

    def flops(self, batch: BertBatch) -> int:
        """Return the FLOPs of learning from a batch: the products of the encoder and of the word head."""
        model = self.config.model
        rows, length = batch.inputs.input_ids.shape
        per_token = 4 * model.width**2 + 2 * model.width * model.feed_forward + 2 * length * model.width
        products = int(rows * length) * model.layers * per_token
        if model.word_head:
            products += int((batch.targets >= 0).sum()) * model.width * (self.config.vocabulary + model.width)
        return int(OPERATIONS * PASSES * products)

    def first_text(self, batch: BertBatch) -> str:
        """Return the first text of a batch."""
        return self.task.examples[int(batch.pairs[0])].source


def prepare_bert(recipe: BertRecipe, run: RunFolder, *, tell: Tell, begun: bool = False) -> BertPreparation:
    """Read the examples and make the tokenizer, or find it where it was made before.

    Where another process has `begun` the run, nothing is written into its folder.
    """
    train = read_examples(recipe.data.train, recipe.task, split="train")
    valid = read_examples(recipe.data.valid, recipe.task, split="valid")
    base = None if recipe.start_from is None else RunFolder.open(recipe.start_from)
    shape = _shape(recipe, base)
    labels = tuple(sorted({one.answer for one in train})) if recipe.task == "classification" else ()
    if not begun:
        changed = run.begin(recipe)
        if changed:
            tell(f"Changed since this run was last started: {', '.join(changed)}.")
    tokenizer = _tokenizer(recipe, run, base, train, begun=begun)
    config = _config(recipe, shape, tokenizer, base, labels)
    if not begun:
        run.write_config(config)
    task, batches = _batches(recipe, train, tokenizer, labels, where="data.train")
    valid_task, valid_batches = _batches(recipe, valid, tokenizer, labels, where="data.valid")
    _tell_tally(task, valid_task, labels, tell)
    return BertPreparation(recipe, run, tokenizer, config, task, batches, valid_task, valid_batches)


def _shape(recipe: BertRecipe, base: RunFolder | None) -> BertSettings:
    """Return the model's settings, of the recipe or of the run it starts from, checked against the data's."""
    shape = recipe.model if base is None else base.bert_config().model
    assert shape is not None
    if recipe.data.max_length > shape.positions:
        raise ManyheadsError(
            f"{recipe.data.max_length} tokens are more than the model's {shape.positions} positions.",
            where="data.max_length",
            cure=f"Set it to {shape.positions} or less.",
        )
    return shape


def _config(
    recipe: BertRecipe, shape: BertSettings, tokenizer: WordPiece, base: RunFolder | None, labels: tuple[str, ...]
) -> BertConfig:
    """Return what the model is built from: the shape, and the heads that the task needs and no others.

    A head that is never asked would have no gradient, and nothing that is trained may be without.
    """
    heads = {
        "pooler": shape.pooler and recipe.task == "classification",
        "word_head": recipe.task == "masked_language_model",
        "outputs": {"classification": len(labels), "question_answering": 2}.get(recipe.task, 0),
    }
    special = tokenizer.special
    return BertConfig(
        task=recipe.task,
        labels=labels,
        model=shape.model_copy(update=heads),
        vocabulary=len(tokenizer) if base is None else base.bert_config().vocabulary,
        pad=special[PAD],
        unknown=special[UNKNOWN],
        first=special[FIRST],
        separator=special[SEPARATOR],
        mask=special[MASK],
    )


def _tokenizer(
    recipe: BertRecipe, run: RunFolder, base: RunFolder | None, train: list[Example], *, begun: bool
) -> WordPiece:
    """Return the run's tokenizer: another run's, or one trained the first time."""
    if (run.tokenizer_folder / FILE).exists():
        return WordPiece.load(run.tokenizer_folder)
    if base is not None:
        tokenizer = WordPiece.load(base.tokenizer_folder)
    else:
        texts = (text for one in train for text in (one.text, one.second) if text)
        tokenizer = WordPiece.train(texts, vocabulary=recipe.vocabulary)
    if not begun:
        with new_folder(run.tokenizer_folder) as draft:
            (draft / FILE).write_text(tokenizer.text(), encoding="utf-8")
    return tokenizer


def _batches(
    recipe: BertRecipe, examples: list[Example], tokenizer: WordPiece, labels: tuple[str, ...], *, where: str
) -> tuple[Task, BertBatches]:
    """Return examples as rows with what is to be found in them, and in batches."""
    longest = recipe.data.max_length
    if recipe.task == "masked_language_model":
        task = unlabelled(examples, tokenizer, longest=longest)
        layout: Layout = masked_layout(task, tokenizer, recipe.masking, seed=recipe.seed)
    else:
        task = (
            labelled(examples, tokenizer, labels, longest=longest, where=where)
            if recipe.task == "classification"
            else located(examples, tokenizer, longest=longest, where=where)
        )
        layout = plain_layout(task, tokenizer)
    return task, BertBatches(task, layout, tokens=recipe.training.batch_tokens, seed=recipe.seed)


def _tell_tally(task: Task, valid: Task, labels: tuple[str, ...], tell: Tell) -> None:
    """Say how much there is to learn from, and what was left out of it."""
    names = f", {len(labels)} labels" if labels else ""
    tell(f"{len(task):,} training examples, {len(valid):,} for validation{names}.")
    truncated = sum(row.truncated for row in task.rows)
    if truncated:
        tell(f"{truncated:,} of them were longer than data.max_length and cut off.")
    if task.lost or valid.lost:
        tell(f"{task.lost + valid.lost:,} questions were left out: their answers stand behind data.max_length.")


def _start_from(other: RunFolder, model: BertModel, config: BertConfig, tell: Tell) -> None:
    """Fill the encoder with another run's weights, and those heads that both have."""
    weights = read_weights(other.weights_file)
    theirs, ours = other.bert_config(), dict(model.named_parameters())
    same_task = (theirs.task, theirs.labels) == (config.task, config.labels)
    shared = tuple(head for head in HEADS if head != "task_head." or same_task)
    kept = {name for name in weights if not name.startswith(HEADS) or (name.startswith(shared) and name in ours)}
    wanted = {name: one for name, one in ours.items() if not name.startswith(HEADS) or name in kept}
    copy_arrays({name: weights[name] for name in kept}, wanted, where=str(other.weights_file))
    fresh = sorted({name.split(".")[0] for name in ours if name not in wanted})
    new = f"; new: {', '.join(fresh)}" if fresh else ""
    tell(f"Starting from the weights of {other.path}{new}.")
