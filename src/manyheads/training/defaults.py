"""A recipe from data alone: tokenizers by what the texts are, vocabulary and batches by how much there is of them.

How long to train is a time, given by the user or chosen here. What fits into it, the size of the model among it, is
measured when training starts (`planning`, `fitting`). docs/defaults.md has the measurements behind every choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from manyheads.config.corpora import CorpusSettings
from manyheads.config.messages import build
from manyheads.config.reading import build_recipe, load_recipe, merged, of_task, parse_change, recipe_values
from manyheads.config.recipe import RecipeBase
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.config.values import LONGEST_NAME, plain_name
from manyheads.data.cleaning.first_look import FirstLook
from manyheads.data.text.files import resolve
from manyheads.errors import ManyheadsError
from manyheads.metrics.segmentation import segmentation, target_language
from manyheads.runs.folder import RunFolder
from manyheads.training.corpus_statistics import CorpusStatistics, corpus_statistics
from manyheads.training.fitting import SCALES

TRANSLATION = "translation"  # the task of recipes that do not name one
CHARACTERS_PER_TOKEN = 4  # of subwords, roughly
EPOCHS = 20  # where a number of steps is wanted instead of a time
OPEN_ENDED = "warmup_constant_decay"  # the schedule whose end can be fixed later
STEPS = {"training", "training.steps", "training.schedule", "training.schedule.kind"}  # keys that exclude a time
BLEU_WORDS = 4  # the longest n-gram of BLEU; it does not suit targets that are shorter on average


@dataclass(frozen=True)
class Size:
    """What suits corpora of up to `pairs` pairs: subwords, batches, and minutes of training where no time is given.

    The scale of the model is that of a training whose number of steps is given; otherwise it follows from the time.
    """

    pairs: float
    vocabulary: int
    batch_tokens: int
    rate: float
    minutes: float
    scale: int


SIZES = (
    Size(10_000, vocabulary=2000, batch_tokens=1024, rate=0.01, minutes=5, scale=1),
    Size(100_000, vocabulary=4000, batch_tokens=1024, rate=0.01, minutes=20, scale=1),
    Size(400_000, vocabulary=8000, batch_tokens=2048, rate=0.01, minutes=60, scale=3),
    Size(2_000_000, vocabulary=16_000, batch_tokens=4096, rate=0.006, minutes=240, scale=4),
    Size(float("inf"), vocabulary=32_000, batch_tokens=8192, rate=0.005, minutes=960, scale=6),
)

Exportable = Literal["ctranslate2", "huggingface"]

# What is learned fastest among what each format can hold.
PARTS: dict[Exportable, dict[str, Any]] = {
    "ctranslate2": {"norm": "pre", "positions": {"kind": "rotary"}},
    "huggingface": {"norm": "post"},
}


# For fine-tuning a trained model. One that was trained without dropout on much data needs it on little data.
TUNING_EPOCHS, TUNING_BATCH, TUNING_RATE, TUNING_DROPOUT = 10, 1024, 0.0003, 0.1


TUNED = "-tuned"  # suffix of the name of a fine-tuned run


def recipe_for_files(
    train: Mapping[str, Any],
    *,
    valid: Mapping[str, Any] | None = None,
    languages: Mapping[str, str] | None = None,
    changes: Iterable[str] = (),
    exportable: Exportable = "ctranslate2",
    look: FirstLook | None = None,
) -> TranslationRecipe:
    """Choose a recipe for files, given with the keys of a recipe's corpus: source and target, or pairs.

    Without validation files, some pairs are held out for validation. The model can be exported to the given format.
    `languages` has keys of a recipe's data; `look` sees the pairs.
    """
    name = Path(train.get("pairs") or train["target"]).name.split(".")[0]
    data = {"train": dict(train), **({} if valid is None else {"valid": dict(valid)}), **(languages or {})}
    values = {"name": plain_name(name), "data": data}
    return recipe_for_data(values, changes=changes, exportable=exportable, look=look)


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
    values: Mapping[str, Any],
    *,
    changes: Iterable[str] = (),
    exportable: Exportable = "ctranslate2",
    look: FirstLook | None = None,
) -> TranslationRecipe:
    """Return a recipe for values that have data, with everything else chosen for the corpus.

    It has a time instead of a number of steps, unless the changes set the steps or their schedule. `look` sees the
    pairs.
    """
    changes = list(changes)
    given = of_task(TranslationRecipe, build_recipe(values)).data
    corpus = corpus_statistics(given.corpora, look)
    size = next(size for size in SIZES if corpus.pairs <= size.pairs)
    tokenizer = _tokenizer(corpus, size)
    sizes = {} if any(change.startswith("model.preset=") for change in changes) else SCALES[size.scale]._asdict()
    chosen: dict[str, Any] = {
        "data": {} if given.valid is not None or given.held_out else _held_out(corpus),
        "tokenizer": tokenizer,
        "model": {**sizes, **PARTS[exportable], **({} if tokenizer.get("shared", True) else {"tie": "target"})},
        "training": {"batch_tokens": size.batch_tokens, "optimiser": "muon", "clip_norm": 1.0},
        "validation": {"sentences": 500, **_judgement(corpus, target_language(given))},
    }
    return _built(merged(merged(chosen, _duration(corpus, size, changes)), values), changes)


def _tokenizer(corpus: CorpusStatistics, size: Size) -> dict[str, Any]:
    """Return the tokenizers that suit what the texts are: one of subwords for both sides, or one for each."""

    def vocabulary(words: int) -> dict[str, int]:
        """Return the number of pieces. Each distinct word could become one, so n distinct words allow n pieces."""
        return {"vocabulary": size.vocabulary} if words >= size.vocabulary else {}

    source, target = corpus.kinds
    if source == target == "bpe":
        return vocabulary(corpus.words)
    sides = [
        {"kind": kind, **(vocabulary(len(side.counts)) if kind == "bpe" else {})}
        for kind, side in ((source, corpus.source), (target, corpus.target))
    ]
    return {**sides[0], "normalization": "identity", "shared": False, "target": sides[1]}


def _duration(corpus: CorpusStatistics, size: Size, changes: Iterable[str]) -> dict[str, Any]:
    """Return how long to train: a time, or the steps of some epochs if the changes set steps or a schedule."""
    if not STEPS & {change.split("=", 1)[0].strip() for change in changes}:
        return {"training": {"minutes": size.minutes, "schedule": {"kind": OPEN_ENDED, "rate": size.rate}}}
    steps = max(200, round(EPOCHS * corpus.characters / CHARACTERS_PER_TOKEN / size.batch_tokens))
    every = max(50, min(1000, round(steps / 40)))
    schedule = {"kind": "linear", "rate": size.rate, "warmup": max(50, min(4000, round(steps / 50)))}
    return {
        "training": {"steps": steps, "schedule": schedule, "checkpoint_every": every},
        "validation": {"every": every},
    }


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
    corpus = corpus_statistics([build(CorpusSettings, train, origin="the corpus")], look)
    held_out = _held_out(corpus) if valid is None else {"valid": {**valid, **language}}
    steps = max(50, round(TUNING_EPOCHS * corpus.characters / CHARACTERS_PER_TOKEN / TUNING_BATCH))
    every = max(25, round(steps / 4))
    parts = learned.model_dump(mode="json", exclude_none=True)
    values: dict[str, Any] = {
        "name": f"{learned.name[: LONGEST_NAME - len(TUNED)]}{TUNED}",
        "start_from": str(base.path),
        "data": {"train": {**train, **language}, "max_length": learned.data.max_length, **held_out},
        "tokenizer": parts["tokenizer"],
        "model": {
            **{key: value for key, value in parts["model"].items() if key != "vectors"},
            "dropout": max(learned.model.dropout, TUNING_DROPOUT),
        },
        "training": {
            "steps": steps,
            "batch_tokens": TUNING_BATCH,
            "schedule": {"kind": "linear", "rate": TUNING_RATE, "warmup": 10},
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


def _held_out(corpus: CorpusStatistics) -> dict[str, int]:
    """Return how many pairs to hold out for validation."""
    return {"held_out": max(1, min(1000, corpus.first // 20))}


def _built(values: dict[str, Any], changes: Iterable[str]) -> TranslationRecipe:
    """Return the recipe with a user's changes."""
    for change in changes:
        values = merged(values, parse_change(change))
    return of_task(TranslationRecipe, build_recipe(values))


def _judgement(corpus: CorpusStatistics, language: str | None) -> dict[str, str]:
    """Return the validation metric, and BLEU's tokenizer.

    BLEU needs four words in a row: it is chosen if targets have that many words on average, with spaces between them,
    and chrF otherwise. Labels and words are right or wrong; several pronunciations of a word may be right.
    """
    source, target = corpus.kinds
    words = segmentation(language, corpus.target.sample)
    metric = "bleu" if words.spaced and corpus.target.words >= BLEU_WORDS * corpus.pairs else "chrf"
    if (source, target) == ("characters", "symbols"):
        metric = "word_error_rate"
    elif corpus.has_labels or target != "bpe":
        metric = "exact_match"
    return {"metric": metric, "bleu_tokenizer": words.tokenizer}
