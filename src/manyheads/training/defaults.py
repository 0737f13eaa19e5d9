"""A recipe from nothing but two text files: sizes chosen by how much there is to learn from.

Small corpora want small models, small vocabularies, more dropout and a higher rate; the steps are chosen so that each
sentence is seen a few dozen times in a small corpus and a few times in a large one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from manyheads.config.data import CorpusSettings
from manyheads.config.recipe import AnyRecipe, build_recipe, merged, parse_change
from manyheads.config.schema import Recipe
from manyheads.config.values import LONGEST_NAME, plain_name
from manyheads.data.corpora import open_corpus
from manyheads.data.files import resolve
from manyheads.errors import ManyheadsError
from manyheads.metrics.segmentation import SAMPLE, segmentation, target_language
from manyheads.runs.folder import RunFolder

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
    source: Path, target: Path, *, valid: tuple[Path, Path] | None = None, changes: Iterable[str] = ()
) -> Recipe:
    """Choose a recipe for two parallel files; without validation files, some pairs are cut off for it."""
    train = {"source": str(source), "target": str(target)}
    corpus = _measure(CorpusSettings(**train))
    size = next(one for one in SIZES if corpus.pairs <= one.pairs)
    steps = max(200, round(size.epochs * corpus.characters / CHARACTERS_PER_TOKEN / size.batch_tokens))
    every = max(50, min(1000, round(steps / 40)))
    values: dict[str, Any] = {
        "name": plain_name(target.name.split(".")[0]),
        "data": {"train": train, **_held_out(valid, corpus.pairs, {})},
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
        "validation": {"every": every, "sentences": 500, **_judgement(corpus, None)},
    }
    return _built(values, changes)


def recipe_for_fine_tuning(
    base: RunFolder,
    source: Path,
    target: Path,
    *,
    to: str | None = None,
    valid: tuple[Path, Path] | None = None,
    changes: Iterable[str] = (),
) -> Recipe:
    """Choose a recipe that goes on from another run's model with two parallel files: a low rate, for not too long.

    `to` is the language of the target, for a model that has to be told.
    """
    learned = base.recipe()
    if learned.data.directions and to not in {target for _, target in learned.data.directions}:
        raise ManyheadsError(
            f"{base.path} translates into {', '.join(dict.fromkeys(target for _, target in learned.data.directions))}; "
            "which of these is the target?",
            where="--to",
            cure="Name it: --to en",
        )
    language = {"target_language": to} if to is not None and learned.data.directions else {}
    train = {"source": str(source), "target": str(target), **language}
    corpus = _measure(CorpusSettings(**train))
    steps = max(50, round(TUNING.epochs * corpus.characters / CHARACTERS_PER_TOKEN / TUNING.batch_tokens))
    every = max(25, round(steps / 4))
    parts = learned.model_dump(mode="json", exclude_none=True)
    values: dict[str, Any] = {
        "name": f"{learned.name[: LONGEST_NAME - len(TUNED)]}{TUNED}",
        "start_from": str(base.path),
        "data": {"train": train, "max_length": learned.data.max_length, **_held_out(valid, corpus.pairs, language)},
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


def same_files(one: AnyRecipe, other: AnyRecipe) -> bool:
    """Whether two recipes learn from the same files, and start from the same run, however their paths are written."""
    return isinstance(one, Recipe) and isinstance(other, Recipe) and _files(one) == _files(other)


def _files(recipe: Recipe) -> list[object]:
    """Return everything that a recipe for files was chosen for."""

    def place(path: str | None) -> Path | None:
        """Return where a path leads."""
        return None if path is None else resolve(path).resolve()

    sides = (recipe.data.corpora, recipe.data.valid_corpora)
    corpora = [[(place(one.source), place(one.target), one.target_language) for one in side] for side in sides]
    return [*corpora, place(recipe.start_from)]


def _held_out(valid: tuple[Path, Path] | None, count: int, language: dict[str, str]) -> dict[str, Any]:
    """Return the validation data: files, or some of the pairs."""
    if valid is not None:
        return {"valid": {"source": str(valid[0]), "target": str(valid[1]), **language}}
    return {"held_out": max(1, min(1000, count // 20))}


def _built(values: dict[str, Any], changes: Iterable[str]) -> Recipe:
    """Return the recipe with a user's changes."""
    for change in changes:
        values = merged(values, parse_change(change))
    return build_recipe(values)


@dataclass(frozen=True)
class Measured:
    """What a recipe is chosen by."""

    pairs: int
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


def _measure(settings: CorpusSettings) -> Measured:
    """Read a corpus once, and count."""
    pairs = source = target = target_words = 0
    words: set[str] = set()
    labels: set[str] = set()
    sample: list[str] = []
    for pair in open_corpus(settings, split="train").pairs():
        pairs += 1
        source += len(pair.source)
        target += len(pair.target)
        target_words += len(pair.target.split())
        if len(words) < ENOUGH_WORDS:
            words.update(pair.source.split(), pair.target.split())
        if len(labels) <= MOST_LABELS:
            labels.add(pair.target)
        if len(sample) < SAMPLE:
            sample.append(pair.target)
    return Measured(pairs, max(source, target), len(words), target_words, len(labels), tuple(sample))
