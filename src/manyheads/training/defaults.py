"""A recipe from nothing but data: sizes chosen by how much there is to learn from.

Small corpora want small models, small vocabularies, more dropout and a higher rate; the steps are chosen so that each
sentence is seen a few dozen times in a small corpus and a few times in a large one.
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
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.files import resolve
from manyheads.errors import ManyheadsError
from manyheads.metrics.segmentation import SAMPLE, segmentation, target_language
from manyheads.runs.folder import RunFolder

TRANSLATION = "translation"  # the task of recipes that do not name one
CHARACTERS_PER_TOKEN = 4  # of subwords, roughly
ENOUGH_WORDS = 100_000  # to count, since every vocabulary is smaller
BLEU_WORDS = 4  # in a row are what BLEU counts at most; targets that are shorter on average are not for it
MOST_LABELS, TIMES_A_LABEL = 100, 10  # targets are labels if they are no more than these, each as often as that


@dataclass(frozen=True)
class Size:
    """What suits corpora of up to so many pairs."""

    pairs: float
    model: dict[str, Any]
    epochs: int
    batch_tokens: int
    rate: float
    vocabulary: int | None


# Of the few settings tried on Multi30k, shallow with small batches at this rate had the best validation score after two
# minutes; they differed in several things at once, so none of these alone is shown to be the cause.
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


# For a model that can do much already; one that learned from much without dropout needs it for little.
TUNING = Size(float("inf"), {"dropout": 0.1}, epochs=10, batch_tokens=1024, rate=0.0003, vocabulary=None)


TUNED = "-tuned"  # behind the name of the run that another goes on from


def recipe_for_files(
    train: Mapping[str, Any], *, valid: Mapping[str, Any] | None = None, changes: Iterable[str] = ()
) -> TranslationRecipe:
    """Choose a recipe for files, given as a corpus of a recipe has them: source and target, or pairs.

    Without validation files, some pairs are cut off for it.
    """
    name = Path(train.get("pairs") or train["target"]).name.split(".")[0]
    data = {"train": dict(train), **({} if valid is None else {"valid": dict(valid)})}
    return recipe_for_data({"name": plain_name(name), "data": data}, changes=changes)


def recipe_left_open(path: Path, changes: Iterable[str] = ()) -> TranslationRecipe | None:
    """Read a recipe that has data, but neither tokenizer nor model nor training, and choose these; None for others."""
    values, changes = recipe_values(path), list(changes)
    if {"tokenizer", "model", "training", "start_from"} & set(values) or values.get("task", TRANSLATION) != TRANSLATION:
        return None
    load_recipe(path, changes)  # a mistake is told with its line
    return recipe_for_data(values, changes=changes)


def recipe_for_data(values: Mapping[str, Any], *, changes: Iterable[str] = ()) -> TranslationRecipe:
    """Return a recipe of values that have data, with everything else chosen by how much there is to learn from."""
    given = of_task(TranslationRecipe, build_recipe(values)).data
    corpus = _measure(given.corpora)
    size = next(one for one in SIZES if corpus.pairs <= one.pairs)
    steps = max(200, round(size.epochs * corpus.characters / CHARACTERS_PER_TOKEN / size.batch_tokens))
    every = max(50, min(1000, round(steps / 40)))
    chosen: dict[str, Any] = {
        "data": {} if given.valid is not None or given.held_out else _held_out(corpus),
        # Each different word could become a piece, so a corpus with that many words allows that many pieces.
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
) -> TranslationRecipe:
    """Choose a recipe that goes on from another run's model with files: a low rate, for not too long.

    `to` is the language of the target, for a model that has to be told.
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
    corpus = _measure([build(CorpusSettings, train, origin="the corpus")])
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
    """Whether two recipes learn from the same files, and start from the same run, however their paths are written."""
    return isinstance(one, TranslationRecipe) and isinstance(other, TranslationRecipe) and _files(one) == _files(other)


def _files(recipe: TranslationRecipe) -> list[object]:
    """Return everything that a recipe for files was chosen for."""

    def place(path: str | None) -> Path | None:
        """Return where a path leads."""
        return None if path is None else resolve(path).resolve()

    sides = (recipe.data.corpora, recipe.data.valid_corpora)
    corpora = [
        (
            place(one.source),
            place(one.target),
            place(one.pairs),
            one.source_column,
            one.target_column,
            one.target_language,
        )
        for side in sides
        for one in side
    ]
    return [len(recipe.data.corpora), *corpora, place(recipe.start_from)]


def _held_out(corpus: Measured) -> dict[str, int]:
    """Return how many pairs to cut off for validation."""
    return {"held_out": max(1, min(1000, corpus.first // 20))}


def _built(values: dict[str, Any], changes: Iterable[str]) -> TranslationRecipe:
    """Return the recipe with a user's changes."""
    for change in changes:
        values = merged(values, parse_change(change))
    return of_task(TranslationRecipe, build_recipe(values))


@dataclass(frozen=True)
class Measured:
    """What a recipe is chosen by."""

    pairs: int
    first: int  # of these, pairs of the first corpus
    characters: int  # on the longer side
    words: int  # different ones, as far as they were counted
    target_words: int
    labels: int  # different targets, as far as they were counted
    sample: tuple[str, ...]  # of the targets


def _judgement(corpus: Measured, language: str | None) -> dict[str, str]:
    """Return the metric that decides, and BLEU's tokenizer.

    BLEU needs words, and four of them in a row: it decides where targets have that many and spaces between them. Where
    the targets are few labels, the share of right ones decides, and chrF elsewhere.
    """
    found = segmentation(language, corpus.sample)
    metric = "bleu" if found.spaced and corpus.target_words >= BLEU_WORDS * corpus.pairs else "chrf"
    if corpus.labels <= MOST_LABELS and TIMES_A_LABEL * corpus.labels <= corpus.pairs:
        metric = "exact_match"
    return {"metric": metric, "bleu_tokenizer": found.tokenizer}


def _measure(corpora: Sequence[CorpusSettings]) -> Measured:
    """Read the corpora once, and count."""
    pairs = first = source = target = target_words = 0
    words: set[str] = set()
    labels: set[str] = set()
    sample: list[str] = []
    for number, settings in enumerate(corpora):
        for pair in open_corpus(settings, split="train").pairs():
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
