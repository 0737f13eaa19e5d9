"""Translation: one sequence is turned into another."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import torch
from torch import nn

from manyheads.config.corpora import CorpusSettings, TokenizerKind
from manyheads.config.messages import build
from manyheads.config.model_config import ConfigBase
from manyheads.config.tasks.translation import TranslationConfig, TranslationRecipe
from manyheads.config.values import OVERLAP_METRICS, Metric
from manyheads.data.batches.mixture import Mixture
from manyheads.data.batches.pairs import PairBatch, PairBatches
from manyheads.data.batches.stages import stage_batches
from manyheads.data.batches.store import Store, open_store, require_possible_targets
from manyheads.data.formats.detection import with_format
from manyheads.data.text.combined import Weighted, together
from manyheads.data.text.corpora import Corpus, open_corpus
from manyheads.data.text.fingerprints import Fingerprints
from manyheads.data.text.held_out import Corpora, open_corpora
from manyheads.data.text.records import Pair
from manyheads.data.tokens.tokenizers import (
    DEFAULT_VOCABULARY,
    END,
    PAD,
    START,
    TRAINING_PAIRS,
    UNKNOWN,
    Tokenizers,
    train_tokenizers,
)
from manyheads.decoding.engines.torch import TorchEngine
from manyheads.decoding.options import TranslationOptions
from manyheads.decoding.translator import Translator
from manyheads.errors import ManyheadsError
from manyheads.memory import return_freed_memory
from manyheads.metrics.scores import OverlapOptions, Score, companion_metrics, measure, with_references
from manyheads.metrics.segmentation import bleu_tokenizer, target_language
from manyheads.models.build import build_model
from manyheads.models.interface import SequenceToSequence, Tokens
from manyheads.runs.folder import RunFolder
from manyheads.runs.inputs import Input, binary_input, corpus_inputs, run_inputs
from manyheads.tasks.interface import (
    EvaluationOptions,
    Machine,
    Measurement,
    Outputs,
    Plan,
    Task,
    Tell,
    TestData,
    Validation,
)
from manyheads.tasks.scoring import Scoring
from manyheads.tasks.starting import start_from, start_from_vectors
from manyheads.tasks.teacher_forcing import PairTensors, TranslationObjective

ALPHABET = 64  # pieces assumed where the text decides: letters of most scripts, phonemes of most languages, specials
PLANNED_LENGTH = 32  # tokens on either side of the sentences that costs are counted for


class TranslationValidator:
    """Measures a model on a fixed set of pairs."""

    def __init__(
        self,
        recipe: TranslationRecipe,
        pairs: Sequence[Pair],
        batches: PairBatches,
        objective: TranslationObjective,
        translator: Translator,
    ) -> None:
        self._settings = recipe.validation
        self._batches = batches
        self._objective = objective
        self._translator = translator
        answers = with_references(pairs, grouped=self._settings.metric not in ("loss", *OVERLAP_METRICS))
        self._pairs = answers[: self._settings.sentences]
        tokenizer = bleu_tokenizer(
            self._settings.bleu_tokenizer,
            language=target_language(recipe.data),
            references=(references[0] for _, references in self._pairs),
        )
        self._overlap_options = OverlapOptions(self._settings.lowercase, tokenizer)

    def run(self) -> Validation:
        """Validate the model as it is now."""
        self._objective.eval()
        sources = [source for source, _ in self._pairs]
        try:
            loss = self.loss()
            if self._settings.metric == "loss" and not self._settings.samples:
                return Validation(loss)
            texts = self._translator.translate(sources, beam=1, batch_sentences=self._settings.batch_sentences)
        finally:
            self._objective.train()
        scores = [self._measure(metric, texts) for metric in self._metrics()]
        references = [right for _, right in self._pairs]
        outputs = Outputs(sources, texts, references, self._settings.metric, self._overlap_options)
        samples = [outputs.sample(number) for number in range(min(self._settings.samples, len(sources)))]
        return Validation((scores or [loss])[0], [*scores[1:], *([loss] if scores else [])], samples, outputs)

    @torch.inference_mode()
    def loss(self) -> Score:
        """Return the mean loss per target token over the whole set, smoothed like the training's."""
        total, count = 0.0, 0
        device = self._objective.model.output_vectors.device
        for index in range(self._batches.per_epoch):
            loss, tokens = self._objective(PairTensors.move(self._batches[index], device))
            total, count = total + float(loss), count + tokens
        return Score("loss", total / count, higher_is_better=False)

    def _metrics(self) -> list[Metric]:
        """Return the deciding metric and its companions, the loss aside."""
        return [one for one in (self._settings.metric, *companion_metrics(self._settings.metric)) if one != "loss"]

    def _measure(self, metric: Metric, outputs: list[str]) -> Score:
        """Score the outputs by one metric."""
        return measure(metric, outputs, [references for _, references in self._pairs], self._overlap_options)


class TranslationTask(Task[TranslationRecipe, PairBatch]):
    """A prepared run for translation."""

    name: ClassVar[str] = "translation"
    config: TranslationConfig

    @classmethod
    def prepare(cls, recipe: TranslationRecipe, run: RunFolder, machine: Machine, tell: Tell) -> Self:
        """Read the corpora, train the tokenizers and build the stores, or find those that were made before."""
        task = cls(recipe, run)
        fingerprints = Fingerprints()
        task.check_inputs(machine, tell, fingerprints)
        corpora = open_corpora(recipe.data, run.held_out(), fingerprints, is_older=run.is_older_than_cuts)
        task.start_run(machine, tell)
        task.corpus = together(corpora.train)
        task.tokenizers = _tokenizers(recipe, run, corpora.train, tell)
        task.config = _config(recipe, task.tokenizers)
        if machine.is_first:
            run.write_config(task.config)
            if corpora.held_out is not None:
                run.write_held_out(corpora.held_out.cut)
        task._open_stores(corpora, threads=machine.threads, tell=tell)
        task.finish_start(machine, fingerprints)
        return task

    corpus: Corpus
    tokenizers: Tokenizers
    store: Mixture
    stages: tuple[PairBatches, ...]
    valid_pairs: list[Pair]
    valid_batches: PairBatches

    def _open_stores(self, corpora: Corpora, *, threads: int, tell: Tell) -> None:
        """Tokenise the corpora, or find their tokens in the cache, and make batches of them."""
        recipe, tokenizers, special = self.recipe, self.tokenizers, self.config.special
        stores = [
            open_store(one, tokenizers, recipe.data, threads=threads, report=_milestones(tell)) for one in corpora.train
        ]
        self.store = Mixture(stores, [1.0] * len(stores))
        valid_store = open_store(corpora.valid, tokenizers, recipe.data, threads=threads)
        require_possible_targets([*stores, valid_store], recipe.model.longest_target)
        _tell_tally(self.store, valid_store, tell)
        for corpus, is_reversed in zip(corpora.train, recipe.data.are_reversed, strict=True):
            for remark in () if is_reversed else corpus.remarks():
                tell(remark)
        if corpora.held_out is not None and (remark := corpora.held_out.remark()):
            tell(f"{'Corpus 1: ' if len(corpora.train) > 1 else ''}{remark}")
        self.stages = stage_batches(recipe, stores, tokenizers, special)
        longest = recipe.data.max_length
        self.valid_pairs = [pair for pair in corpora.valid.pairs() if _is_usable(pair, tokenizers, longest)]
        self.valid_batches = PairBatches(
            valid_store, tokens=recipe.training.batch_tokens, seed=recipe.seed, special=special
        )

    @classmethod
    def inputs(cls, recipe: TranslationRecipe) -> list[Input]:
        """Return the files of the corpora, with their lexicons, and of what the weights start from."""
        data, vectors = recipe.data, getattr(recipe.model, "vectors", None)
        found = [one for corpus in data.corpora for one in corpus_inputs(corpus, "training")]
        found += [one for corpus in data.valid_corpora for one in corpus_inputs(corpus, "validation")]
        if recipe.start_from is not None:
            found += run_inputs(recipe.start_from, RunFolder.open(recipe.start_from).path)
        elif vectors is not None:
            found += [binary_input(path, "vectors") for path in (vectors.source, vectors.target) if path is not None]
        return found

    @classmethod
    def check_files(cls, recipe: TranslationRecipe) -> None:
        """Open every corpus."""
        for corpus in recipe.data.corpora:
            open_corpus(corpus, split="train")
        for corpus in recipe.data.valid_corpora:
            open_corpus(corpus, split="valid")

    @classmethod
    def plan(cls, recipe: TranslationRecipe, config: ConfigBase | None = None) -> Plan[PairBatch]:
        """Return what training would compute for sentences of a typical length."""
        settings = recipe.tokenizer
        sides = (settings, settings.target or settings)
        source, target = (_pieces(side.kind, side.vocabulary) for side in sides)
        assumed = any(side.vocabulary is None and side.kind in ("characters", "symbols") for side in sides)
        config_here = config or TranslationConfig(
            model=recipe.model, source_vocabulary=source, target_vocabulary=target
        )
        objective = cls.objective_for(recipe, build_model(config_here, device="meta"))
        tensors = _planned_batch(recipe.training.batch_tokens)
        return Plan(config_here, objective, tensors, assumed=assumed and config is None)

    @classmethod
    def measure(cls, run: RunFolder, data: TestData, options: EvaluationOptions) -> Measurement:
        """Translate the sources and score the outputs."""
        scoring = cls.scoring(run, data, options)
        translator = Translator(run.path, device=options.device, **options.computing)
        outputs = translator.translate(scoring.sources, **options.search)
        perplexity = scoring.perplexity(translator, options.search.get("to"))
        return Measurement(outputs, scoring.scores(outputs), len(scoring.pairs), perplexity)

    @classmethod
    def scoring(cls, run: RunFolder, data: TestData, options: EvaluationOptions) -> Scoring:
        """Return the test pairs of a run, and how outputs for them are scored."""
        recipe = run.recipe_for(TranslationRecipe)
        pairs = list(open_corpus(_test_corpus(recipe, data), split="test").pairs())
        return Scoring(recipe, pairs, options)

    @staticmethod
    def objective_for(recipe: TranslationRecipe, model: nn.Module) -> TranslationObjective:
        """Return what a recipe's model learns from a batch."""
        assert isinstance(model, SequenceToSequence)
        settings = recipe.training
        return TranslationObjective(model, smoothing=settings.label_smoothing, r_drop=settings.r_drop)

    def batches_at(self, step: int) -> PairBatches:
        """Return the batches of the stage that update `step`, counted from 0, is in."""
        return self.stages[self.recipe.training.stage_at(step)]

    def objective(self, model: nn.Module) -> TranslationObjective:
        """Return what is learned from a batch."""
        return self.objective_for(self.recipe, model)

    def validator(self, model: nn.Module) -> TranslationValidator:
        """Return what measures a model on the validation data."""
        objective = self.objective(model)
        options = TranslationOptions.from_recipe(self.recipe)
        translator = Translator.from_parts(TorchEngine(objective.model, self.config), self.tokenizers, options)
        return TranslationValidator(self.recipe, self.valid_pairs, self.valid_batches, objective, translator)

    def initialise(self, model: nn.Module, tell: Tell) -> None:
        """Start from another run's weights, or from pretrained word vectors."""
        vectors = getattr(self.recipe.model, "vectors", None)
        if self.recipe.start_from is not None:
            start_from(RunFolder.open(self.recipe.start_from), model, self.config, tell)
        elif vectors is not None:
            start_from_vectors(model, vectors, self.tokenizers, tell)

    def facts(self) -> dict[str, str]:
        """Return where the data comes from, and how much there is."""
        return {"training data": self.corpus.origin(), "pairs": f"{self.store.tally.pairs:,}"}

    def describe(self, batch: PairBatch) -> str:
        """Return the size of a batch and its first source."""
        text = self.tokenizers.source.decode(batch.source[0, : batch.source_lengths[0]].tolist())
        return f"a batch of {len(batch.pairs)} pairs whose first source is {text[:80]!r}"


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


def _tokenizers(recipe: TranslationRecipe, run: RunFolder, corpora: Sequence[Corpus], tell: Tell) -> Tokenizers:
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
    return_freed_memory()  # the trainer held a million pairs
    run.write_tokenizers(tokenizers)
    sizes = f"{len(tokenizers.source):,}"
    if not tokenizers.shared:
        sizes += f" and {len(tokenizers.target):,}"
    tell(f"Trained the tokenizer: {sizes} pieces.")
    return tokenizers


def _config(recipe: TranslationRecipe, tokenizers: Tokenizers) -> TranslationConfig:
    """Return what the model is built from."""
    return TranslationConfig(
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


def _test_corpus(recipe: TranslationRecipe, data: TestData) -> CorpusSettings:
    """Return the test corpus; a run on a generated task needs no naming of it."""
    trained_on = recipe.data.corpora[0]
    values: dict[str, Any] = {"source": data.source, "target": data.target, "pairs": data.pairs, **data.columns}
    if not any((data.source, data.target, data.pairs)) and (data.task or trained_on.task):
        options = {**(trained_on.options if data.task in (None, trained_on.task) else {}), **data.options}
        values |= {"task": data.task or trained_on.task, "count": data.count, "seed": 0, "options": options}
    elif data.options:
        raise ManyheadsError("options are for generated tasks, and this test data is in files.", where="the test data")
    return build(CorpusSettings, with_format(values), origin="the test data")


def _pieces(kind: TokenizerKind, asked: int | None) -> int:
    """Return the number of pieces of a tokenizer, as far as it is known before any text is read."""
    return asked or (ALPHABET if kind in ("characters", "symbols") else DEFAULT_VOCABULARY)


def _planned_batch(tokens: int) -> PairTensors:
    """Return a full batch of sentences of a typical length, on the device `meta`."""
    rows = max(1, tokens // PLANNED_LENGTH)
    ids = torch.zeros(rows, PLANNED_LENGTH, dtype=torch.long, device="meta")
    lengths = torch.full((rows,), PLANNED_LENGTH, device="meta")
    return PairTensors(Tokens(ids, lengths), ids, ids, torch.arange(ids.numel(), device="meta"))
