"""From a recipe to what the trainer needs: tokenizers, stores, batches, and a model with fresh weights.

Every part is made once and found again: tokenizers in the run folder, token ids in the cache.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import nn

from manyheads.config.data import CorpusSettings, DataSettings
from manyheads.config.schema import ModelConfig, Recipe
from manyheads.data.batches.mixture import Mixture, Rows
from manyheads.data.batches.pairs import Batch, Batches, SpecialTokens
from manyheads.data.batches.store import Side, Store, open_store
from manyheads.data.modifiers.joining import MEAN, SMALLEST, Joined
from manyheads.data.modifiers.reading import modification
from manyheads.data.text.corpora import Corpus, Part, Weighted, Without, open_corpus, tagged, together
from manyheads.data.text.files import resolve
from manyheads.data.text.records import Pair
from manyheads.data.tokens.subword_sampling import resampling
from manyheads.data.tokens.tokenizers import (
    END,
    PAD,
    START,
    TRAINING_PAIRS,
    UNKNOWN,
    Tokenizers,
    reserved_symbols,
    tag_piece,
    train_tokenizers,
)
from manyheads.decoding.engines.torch import TorchEngine
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.exchange.vectors import load_vectors
from manyheads.models.builder import build_model
from manyheads.models.interface import SequenceToSequence
from manyheads.models.transformer import Transformer
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import fill_parameters
from manyheads.runs.weights import read_weights
from manyheads.training.machine.utilisation import BatchFlops
from manyheads.training.objectives import TranslationObjective
from manyheads.training.validation import Validator

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Preparation:
    """Everything a training run for translation starts from; it is an `Assignment`."""

    recipe: Recipe
    run: RunFolder
    tokenizers: Tokenizers
    config: ModelConfig
    corpus: Corpus
    store: Mixture
    stages: tuple[Batches, ...]
    valid_pairs: list[Pair]
    valid_batches: Batches

    @property
    def kind(self) -> str:
        """What the model is."""
        return self.recipe.model.kind

    @property
    def width(self) -> int:
        """The model's width, by which the paper's schedule goes."""
        return self.recipe.model.width

    @property
    def try_it(self) -> str:
        """The command that uses the model."""
        return shlex.join(["manyheads", "translate", "--model", str(self.run.path)])

    @property
    def batches(self) -> Batches:
        """What is learned from in the first stage."""
        return self.stages[0]

    def batches_at(self, step: int) -> Batches:
        """Return what update `step`, counted from 0, learns from."""
        return self.stages[self.recipe.training.stage_at(step)]

    def facts(self) -> dict[str, str]:
        """Return what the card says of the data."""
        return {"training data": self.corpus.origin(), "pairs": f"{self.store.tally.pairs:,}"}

    def fresh_model(self, *, device: torch.device, tell: Tell) -> SequenceToSequence:
        """Return the model as training starts with it."""
        return fresh_model(self, device=device, tell=tell)

    def bare_model(self) -> SequenceToSequence:
        """Return a model of the same shape, to be filled."""
        return build_model(self.config)

    def objective(self, model: nn.Module) -> TranslationObjective:
        """Return what is learned from a batch."""
        assert isinstance(model, SequenceToSequence)
        settings = self.recipe.training
        return TranslationObjective(model, smoothing=settings.label_smoothing, r_drop=settings.r_drop)

    def validator(self, model: nn.Module) -> Validator:
        """Return what measures a model on the validation data."""
        objective = self.objective(model)
        options = TranslationOptions.from_recipe(self.recipe)
        translator = Translator.from_parts(TorchEngine(objective.model, self.config), self.tokenizers, options)
        return Validator(self.recipe, self.valid_pairs, self.valid_batches, objective, translator)

    def flops(self, batch: Batch) -> int:
        """Return the FLOPs of learning from a batch."""
        return self._flops(batch)

    @cached_property
    def _flops(self) -> BatchFlops:
        """The formula for this model."""
        return BatchFlops(self.config, views=2 if self.recipe.training.r_drop else 1)

    def first_text(self, batch: Batch) -> str:
        """Return the first source of a batch."""
        return self.tokenizers.source.decode(batch.source[0, : batch.source_lengths[0]].tolist())


def prepare(recipe: Recipe, run: RunFolder, *, threads: int, tell: Tell, begun: bool = False) -> Preparation:
    """Read the corpora, train the tokenizers and build the stores, or find them where they were built before.

    Where another process has `begun` the run, nothing is written into its folder.
    """
    corpora, valid = open_corpora(recipe)
    train = together(corpora)
    if not begun:
        changed = run.begin(recipe)
        if changed:
            tell(f"Changed since this run was last started: {', '.join(changed)}.")
    tokenizers = _tokenizers(recipe, run, corpora, tell)
    config = _config(recipe, tokenizers)
    if not begun:
        run.write_config(config)
    stores = [
        open_store(corpus, tokenizers, recipe.data, threads=threads, report=_milestones(tell)) for corpus in corpora
    ]
    store = Mixture(stores, [1.0] * len(stores))
    valid_store = open_store(valid, tokenizers, recipe.data, threads=threads)
    _tell_tally(store, valid_store, tell)
    if isinstance(valid, Part) and (remark := valid.remark()):
        tell(f"{'Corpus 1: ' if len(corpora) > 1 else ''}{remark}")
    special = SpecialTokens(pad=config.pad, start=config.start)
    return Preparation(
        recipe=recipe,
        run=run,
        tokenizers=tokenizers,
        config=config,
        corpus=train,
        store=store,
        stages=_stages(recipe, stores, tokenizers, special),
        valid_pairs=[pair for pair in valid.pairs() if _is_usable(pair, tokenizers, recipe.data.max_length)],
        valid_batches=Batches(valid_store, tokens=recipe.training.batch_tokens, seed=recipe.seed, special=special),
    )


def _stages(
    recipe: Recipe, stores: Sequence[Store], tokenizers: Tokenizers, special: SpecialTokens
) -> tuple[Batches, ...]:
    """Return the batches of each stage of the training; corpora of weight 0 are left out of a stage."""
    data = recipe.data
    whole = [*map(tag_piece, data.tags), *reserved_symbols(recipe.tokenizer)]
    sampled = resampling(tokenizers, recipe.tokenizer, longest=data.max_length, whole=whole)
    parts = list(_parts(data, stores, tokenizers))
    stages = []
    for stage in range(len(recipe.training.stages) + 1):
        present = [part for part in parts if part.corpus.weight_in(stage)]
        mixture = Mixture(
            [part.rows for part in present], [part.share * part.corpus.weight_in(stage) for part in present]
        )
        corpora = [part.corpus for part in present]
        changes = modification(data.modify, corpora, tokenizers, longest=data.max_length)
        stages.append(
            Batches(
                mixture,
                tokens=recipe.training.batch_tokens,
                seed=recipe.seed,
                special=special,
                modification=changes,
                resampling=sampled,
            )
        )
    return tuple(stages)


class _Part(NamedTuple):
    """Rows to learn from, the corpus that they are of, and how often they are seen relative to its weight."""

    rows: Rows
    corpus: CorpusSettings
    share: float


def _parts(data: DataSettings, stores: Sequence[Store], tokenizers: Tokenizers) -> Iterator[_Part]:
    """Yield each corpus as it is and, if neighbouring pairs are to be joined, as a view with joined ones."""
    joined = data.modify.joined
    for corpus, store in zip(data.corpora, stores, strict=True):
        yield _Part(store, corpus, 1.0)
        if joined and corpus.modified and len(store) >= SMALLEST:
            languages: dict[Side, str | None] = {
                "source": corpus.source_language or data.source_language,
                "target": corpus.target_language or data.target_language,
            }
            prefix = " ".join(corpus.tags)
            rows = Joined(store, tokenizers, prefix=prefix, languages=languages, longest=data.max_length)
            yield _Part(rows, corpus, MEAN * joined / (1.0 - joined))


def _milestones(tell: Tell, *, every: int = 1_000_000) -> Callable[[int], None]:
    """Return a listener that says now and then how far the tokenising of a large corpus has come."""
    begin = time.monotonic()
    told = 0

    def report(pairs: int) -> None:
        """Hear the number of pairs read so far."""
        nonlocal told
        if pairs // every > told:
            told = pairs // every
            tell(f"Tokenised {pairs:,} pairs, {pairs / (time.monotonic() - begin):,.0f} a second.")

    return report


def _is_usable(pair: Pair, tokenizers: Tokenizers, longest: int) -> bool:
    """Whether a validation pair has two sides, neither of which is too long to be worth translating again and again."""
    lengths = len(tokenizers.source.encode(pair.source)), len(tokenizers.target.encode(pair.target))
    return min(lengths) > 0 and max(lengths) <= longest


def open_corpora(recipe: Recipe) -> tuple[list[Corpus], Corpus]:
    """Return the training corpora, with their tags, and the validation corpus."""
    train, valid = _split(recipe.data)
    return [tagged(corpus, own.tags) for corpus, own in zip(train, recipe.data.corpora, strict=True)], valid


def _split(settings: DataSettings) -> tuple[list[Corpus], Corpus]:
    """Return the training corpora and the validation corpus, cut off the first of them where the recipe says so."""
    train = [open_corpus(corpus, split="train") for corpus in settings.corpora]
    if settings.valid is not None:
        return train, together([tagged(open_corpus(one, split="valid"), one.tags) for one in settings.valid_corpora])
    if settings.held_out == 0:
        raise ManyheadsError(
            "there is no validation data, so progress could not be measured.",
            where="data",
            cure="Give data.valid, or cut some pairs off the training data with data.held_out: 1000",
        )
    first, *others = train
    valid = Part(first, held_out=settings.held_out, validation=True)
    return [valid.complement(), *(Without(other, valid) for other in others)], valid


def _tokenizers(recipe: Recipe, run: RunFolder, corpora: Sequence[Corpus], tell: Tell) -> Tokenizers:
    """Return the run's tokenizers, training them the first time."""
    if Tokenizers.are_in(run.tokenizer_folder):
        return run.tokenizers()
    if recipe.start_from is not None:
        tokenizers = RunFolder.open(recipe.start_from).tokenizers()
        run.write_tokenizers(tokenizers)
        return tokenizers
    weights = [corpus.weight_in(0) for corpus in recipe.data.corpora]
    sample = Weighted(corpora, weights, most=TRAINING_PAIRS) if recipe.tokenizer.weighted else together(corpora)
    tokenizers = train_tokenizers(sample.pairs(), recipe.tokenizer, recipe.data.tags)
    run.write_tokenizers(tokenizers)
    sizes = f"{len(tokenizers.source):,}"
    if not tokenizers.shared:
        sizes += f" and {len(tokenizers.target):,}"
    tell(f"Trained the tokenizer: {sizes} pieces.")
    return tokenizers


def _config(recipe: Recipe, tokenizers: Tokenizers) -> ModelConfig:
    """Return what the model is built from."""
    return ModelConfig(
        model=recipe.model,
        source_vocabulary=len(tokenizers.source),
        target_vocabulary=len(tokenizers.target),
        pad=PAD,
        unknown=UNKNOWN,
        start={"start": START, "end": END, "pad": PAD}[recipe.tokenizer.start],
        end=END,
    )


def _tell_tally(mixture: Mixture, valid: Store, tell: Tell) -> None:
    """Say how much data there is and what was left out of it."""
    tell(
        f"{len(mixture):,} training pairs with {mixture.tokens('source'):,} + {mixture.tokens('target'):,} tokens, "
        f"{valid.tally.pairs:,} for validation."
    )
    for number, store in enumerate(mixture.stores, start=1):
        tally = store.tally
        corpus = f"Corpus {number}: " if len(mixture.stores) > 1 else ""
        if tally.empty:
            tell(
                f"{corpus}{tally.empty:,} pairs with an empty side were skipped "
                f"(the first at line {tally.first_empty:,})."
            )
        if tally.too_long:
            tell(
                f"{corpus}{tally.too_long:,} pairs were longer than data.max_length "
                f"(the first at line {tally.first_too_long:,})."
            )


def fresh_model(preparation: Preparation, *, device: torch.device, tell: Tell) -> SequenceToSequence:
    """Build the model with weights that depend on the seed alone, or start from another run's, or from vectors."""
    recipe = preparation.recipe
    torch.manual_seed(recipe.seed)
    model = build_model(preparation.config)
    if recipe.start_from is not None:
        _start_from(RunFolder.open(recipe.start_from), model, preparation, tell)
    elif recipe.model.vectors is not None:
        _load_vectors(model, preparation, tell)
    return model.to(device)


def _start_from(other: RunFolder, model: SequenceToSequence, preparation: Preparation, tell: Tell) -> None:
    """Fill the model with another run's weights; a model of another shape is refused, by the names of its settings."""
    theirs, ours = other.config().model_dump(), preparation.config.model_dump()
    shape = {key for key in theirs["model"] if key not in ("preset", "dropout", "attention", "vectors")}
    different = [f"model.{key}" for key in sorted(shape) if theirs["model"][key] != ours["model"][key]]
    different += ["tokenizer.start"] if theirs["start"] != ours["start"] else []
    if different:
        raise ManyheadsError(
            f"the model of this recipe is not that of {other.path}; it differs in: {', '.join(different)}.",
            where="start_from",
            cure=f"Copy these from {other.recipe_file}.",
        )
    fill_parameters(model, read_weights(other.weights_file), where=str(other.weights_file))
    tell(f"Starting from the weights of {other.path}.")


def _load_vectors(model: SequenceToSequence, preparation: Preparation, tell: Tell) -> None:
    """Replace embeddings by pretrained vectors where a piece has one; freeze the matrices if asked."""
    settings = preparation.recipe.model.vectors
    assert settings is not None and isinstance(model, Transformer)
    sides = (
        (settings.source, model.source.vectors, preparation.tokenizers.source),
        (settings.target, model.target.vectors, preparation.tokenizers.target),
    )
    for path, parameter, tokenizer in sides:
        if path is None:
            continue
        loaded = load_vectors(resolve(path), tokenizer.vocabulary(), width=parameter.shape[1])
        found = torch.from_numpy(loaded.found)
        with torch.no_grad():
            # Pretrained vectors have a scale of their own; ours have unit variance after the √d_model of the embedding.
            known = torch.from_numpy(loaded.matrix)[found]
            parameter[found] = known / known.std() * parameter.shape[1] ** -0.5
        parameter.requires_grad_(not settings.freeze)
        tell(f"{path}: {loaded.report()}")
