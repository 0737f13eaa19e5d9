"""A recipe from data alone: sizes chosen by the size of the corpus.

Small corpora need small models, small vocabularies, more dropout and a higher rate. The number of steps is chosen so
that training uses each sentence a few dozen times in a small corpus, and a few times in a large one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyheads.config.corpora import CorpusSettings
from manyheads.config.messages import build
from manyheads.config.reading import build_recipe, load_recipe, merged, of_task, parse_change, recipe_values
from manyheads.config.recipe import RecipeBase
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.config.values import LONGEST_NAME, plain_name
from manyheads.data.cleaning.first_look import FirstLook
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.files import resolve
from manyheads.errors import ManyheadsError
from manyheads.metrics.segmentation import SAMPLE, segmentation, target_language
from manyheads.runs.folder import RunFolder

TRANSLATION = "translation"  # the task of recipes that do not name one
CHARACTERS_PER_TOKEN = 4  # of subwords, roughly
ENOUGH_WORDS = 100_000  # distinct words to count, since every vocabulary is smaller
BLEU_WORDS = 4  # the longest n-gram of BLEU; it does not suit targets that are shorter on average
MOST_LABELS, TIMES_A_LABEL = 100, 10  # targets are labels if at most 100 differ and each occurs 10 times on average


@dataclass(frozen=True)
class Size:
    """Settings for corpora of up to `pairs` sentence pairs."""

    pairs: float
    model: dict[str, Any]
    epochs: int
    batch_tokens: int
    rate: float
    vocabulary: int | None


# Of the few settings tried on Multi30k, a shallow model with small batches at this rate had the best validation score
# after two minutes. The settings differed in several ways at once, so no single one is shown to be the cause.
SHALLOW = {"preset": "tiny", "encoder_layers": 3, "decoder_layers": 3}

SIZES = (
    Size(5_000, {**SHALLOW, "dropout": 0.3}, epochs=60, batch_tokens=1024, rate=0.002, vocabulary=None),
    Size(100_000, {**SHALLOW, "dropout": 0.1}, epochs=40, batch_tokens=1024, rate=0.003, vocabulary=4000),
    Size(
        1_000_000,
        {"preset": "small", "dropout": 0.1},
        epochs=20,
        batch_tokens=4096,
        rate=0.002,
        vocabulary=16_000,
    ),
    Size(float("inf"), {"preset": "base"}, epochs=10, batch_tokens=8192, rate=0.001, vocabulary=32_000),
)


# For fine-tuning a trained model. One that was trained without dropout on much data needs it on little data.
TUNING = Size(float("inf"), {"dropout": 0.1}, epochs=10, batch_tokens=1024, rate=0.0003, vocabulary=None)


TUNED = "-tuned"  # suffix of the name of a fine-tuned run


def recipe_for_files(
    train: Mapping[str, Any],
    *,
    valid: Mapping[str, Any] | None = None,
    languages: Mapping[str, str] | None = None,
    changes: Iterable[str] = (),
    look: FirstLook | None = None,
) -> TranslationRecipe:
    """Choose a recipe for files, given with the keys of a recipe's corpus: source and target, or pairs.

    Without validation files, some pairs are held out for validation. `languages` has keys of a recipe's data; `look`
    sees the pairs.
    """
    name = Path(train.get("pairs") or train["target"]).name.split(".")[0]
    data = {"train": dict(train), **({} if valid is None else {"valid": dict(valid)}), **(languages or {})}
    return recipe_for_data({"name": plain_name(name), "data": data}, changes=changes, look=look)


def recipe_left_open(
    path: Path, changes: Iterable[str] = (), look: FirstLook | None = None
) -> TranslationRecipe | None:
    """Read a recipe that has data, but neither tokenizer nor model nor training, and choose these; None for others."""
    values, changes = recipe_values(path), list(changes)
    if {"tokenizer", "model", "training", "start_from"} & set(values) or values.get("task", TRANSLATION) != TRANSLATION:
        return None
    load_recipe(path, changes)  # reports a mistake with its line
    return recipe_for_data(values, changes=changes, look=look)


def recipe_for_data(
    values: Mapping[str, Any], *, changes: Iterable[str] = (), look: FirstLook | None = None
) -> TranslationRecipe:
    """Return a recipe for values that have data, with everything else chosen by the size of the corpus."""
    given = of_task(TranslationRecipe, build_recipe(values)).data
    corpus = _measure(given.corpora, look)
    size = next(size for size in SIZES if corpus.pairs <= size.pairs)
    steps = max(200, round(size.epochs * corpus.characters / CHARACTERS_PER_TOKEN / size.batch_tokens))
    every = max(50, min(1000, round(steps / 40)))
    chosen: dict[str, Any] = {
        "data": {} if given.valid is not None or given.held_out else _held_out(corpus),
        # Each distinct word could become a piece, so a corpus with n distinct words allows n pieces.
        "tokenizer": {"vocabulary": size.vocabulary} if size.vocabulary and corpus.words >= size.vocabulary else {},
        "model": size.model,
        "training": {
            "steps": steps,
            "batch_tokens": size.batch_tokens,
            "schedule": {
                "kind": "inverse_sqrt",
                "rate": size.rate,
                "warmup": max(50, min(4000, round(steps / 50))),
            },
            "checkpoint_every": every,
            "clip_norm": 1.0,
        },
        "validation": {"every": every, "sentences": 500, **_judgement(corpus, target_language(given))},
    }
    return _built(merged(chosen, values), changes)


def recipe_for_fine_tuning(
    base: RunFolder,
    train: Mapping[str, Any],
    *,
    to: str | None = None,
    valid: Mapping[str, Any] | None = None,
    changes: Iterable[str] = (),
    look: FirstLook | None = None,
) -> TranslationRecipe:
    """Choose a recipe that fine-tunes another run's model on files: a low rate, for a short time.

    `to` is the target language, which a model with several directions needs.
    """
    learned = base.recipe_for(TranslationRecipe)
    if learned.data.directions and to not in {target for _, target in learned.data.directions}:
        raise ManyheadsError(
            f"{base.path} translates into {', '.join(dict.fromkeys(target for _, target in learned.data.directions))}; "
            "which of these is the target?",
            where="--to",
            cure="Name it: --to en",
        )
    language = {"target_language": to} if to is not None and learned.data.directions else {}
    corpus = _measure([build(CorpusSettings, train, origin="the corpus")], look)
    held_out = _held_out(corpus) if valid is None else {"valid": {**valid, **language}}
    steps = max(50, round(TUNING.epochs * corpus.characters / CHARACTERS_PER_TOKEN / TUNING.batch_tokens))
    every = max(25, round(steps / 4))
    parts = learned.model_dump(mode="json", exclude_none=True)
    values: dict[str, Any] = {
        "name": f"{learned.name[: LONGEST_NAME - len(TUNED)]}{TUNED}",
        "start_from": str(base.path),
        "data": {"train": {**train, **language}, "max_length": learned.data.max_length, **held_out},
        "tokenizer": parts["tokenizer"],
        "model": {
            **{key: value for key, value in parts["model"].items() if key != "vectors"},
            "dropout": max(learned.model.dropout, TUNING.model["dropout"]),
        },
        "training": {
            "steps": steps,
            "batch_tokens": TUNING.batch_tokens,
            "schedule": {"kind": "linear", "rate": TUNING.rate, "warmup": 10},
            "checkpoint_every": every,
            "clip_norm": 1.0,
        },
        "validation": {"every": every, "sentences": 500, **_judgement(corpus, to or target_language(learned.data))},
        "decoding": parts["decoding"],
    }
    return _built(values, changes)


def same_files(one: RecipeBase, other: RecipeBase) -> bool:
    """Whether two recipes have the same training files and the same initial run, even if their paths differ in form."""
    return isinstance(one, TranslationRecipe) and isinstance(other, TranslationRecipe) and _files(one) == _files(other)


def _files(recipe: TranslationRecipe) -> list[object]:
    """Return the files, columns and languages for which a recipe was chosen."""

    def place(path: str | None) -> Path | None:
        """Return the absolute path."""
        return None if path is None else resolve(path).resolve()

    sides = (recipe.data.corpora, recipe.data.valid_corpora)
    corpora = [
        (
            place(corpus.source),
            place(corpus.target),
            place(corpus.pairs),
            corpus.source_column,
            corpus.target_column,
            corpus.target_language,
        )
        for side in sides
        for corpus in side
    ]
    return [len(recipe.data.corpora), *corpora, place(recipe.start_from)]


def _held_out(corpus: Measured) -> dict[str, int]:
    """Return how many pairs to hold out for validation."""
    return {"held_out": max(1, min(1000, corpus.first // 20))}


def _built(values: dict[str, Any], changes: Iterable[str]) -> TranslationRecipe:
    """Return the recipe with a user's changes."""
    for change in changes:
        values = merged(values, parse_change(change))
    return of_task(TranslationRecipe, build_recipe(values))


@dataclass(frozen=True)
class Measured:
    """The statistics of a corpus from which a recipe is chosen."""

    pairs: int
    first: int  # pairs of the first corpus
    characters: int  # on the longer side
    words: int  # distinct words, as far as they were counted
    target_words: int
    labels: int  # distinct targets, as far as they were counted
    sample: tuple[str, ...]  # of the targets


def _judgement(corpus: Measured, language: str | None) -> dict[str, str]:
    """Return the validation metric, and BLEU's tokenizer.

    BLEU needs four words in a row: it is chosen if targets have that many words on average, with spaces between them.
    If the targets are a few labels, exact match is chosen, and chrF otherwise.
    """
    words = segmentation(language, corpus.sample)
    metric = "bleu" if words.spaced and corpus.target_words >= BLEU_WORDS * corpus.pairs else "chrf"
    if corpus.labels <= MOST_LABELS and TIMES_A_LABEL * corpus.labels <= corpus.pairs:
        metric = "exact_match"
    return {"metric": metric, "bleu_tokenizer": words.tokenizer}


def _measure(corpora: Sequence[CorpusSettings], look: FirstLook | None = None) -> Measured:
    """Read the corpora once and return their statistics; `look` sees the pairs."""
    pairs = first = source = target = target_words = 0
    words: set[str] = set()
    labels: set[str] = set()
    sample: list[str] = []
    for number, settings in enumerate(corpora):
        read = open_corpus(settings, split="train").pairs()
        for pair in read if look is None else look.through(settings, read):
            pairs += 1
            first += number == 0
            source += len(pair.source)
            target += len(pair.target)
            target_words += len(pair.target.split())
            if len(words) < ENOUGH_WORDS:
                words.update(pair.source.split(), pair.target.split())
            if len(labels) <= MOST_LABELS:
                labels.add(pair.target)
            if len(sample) < SAMPLE:
                sample.append(pair.target)
    return Measured(pairs, first, max(source, target), len(words), target_words, len(labels), tuple(sample))
