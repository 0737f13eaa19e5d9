"""The look at a corpus before a training: it says what is worth knowing, and nothing of a clean corpus."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.config.corpora import CorpusSettings
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.cleaning.first_look import SAMPLE, FirstLook
from manyheads.data.formats.languages import SideLanguages
from manyheads.data.text.records import Pair
from manyheads.runs.shipped import shipped_models
from manyheads.training.files import Columns, Files
from manyheads.training.starting_points import FEW_PAIRS, starting_point

COUNT = 2000
ENGLISH = "the small dog of our old neighbour has eaten all of the fresh bread in this warm kitchen again"
GERMAN = "der kleine Hund unseres alten Nachbarn hat wieder das ganze frische Brot in dieser Küche gegessen"
FRENCH = "la petite fille mange du pain dans la cuisine avec sa mère et son grand frère"
SETTINGS = CorpusSettings(source="a.en", target="a.de", source_language="en", target_language="de")


def sentences(words: str, seed: int) -> list[str]:
    """Return sentences of shuffled words, each different."""
    chance = random.Random(seed)
    return [f"{' '.join(chance.sample(words.split(), 14))} {number}" for number in range(COUNT)]


CLEAN = [Pair(*pair) for pair in zip(sentences(ENGLISH, 1), sentences(GERMAN, 2), strict=True)]


def looked(pairs: list[Pair], settings: CorpusSettings = SETTINGS) -> list[str]:
    """Return what is said about pairs."""
    look = FirstLook()
    assert list(look.through(settings, iter(pairs))) == pairs
    return look.remarks()


def test_of_a_clean_corpus_nothing_but_facts_is_said():
    (facts,) = looked(CLEAN)
    assert facts.startswith("a.en and a.de: 2,000 pairs, en → de (as given), median length ")


FAULTS: dict[str, tuple[Callable[[Pair], Pair], str]] = {
    "misaligned": (lambda pair: Pair(pair.source, "Ja."), "with one side far too long"),
    "duplicated": (lambda pair: CLEAN[0], "duplicated"),
    "language": (lambda pair: Pair(pair.source, FRENCH), "in a wrong language"),
    "script": (lambda pair: Pair(pair.source, "маленькая собака съела весь хлеб на кухне"), "in a wrong script"),
    "numbers": (lambda pair: Pair(f"{pair.source} 4711", f"{pair.target} 815"), "with different numbers"),
    "untranslated": (lambda pair: Pair(pair.source, pair.source), "not translated"),
    "empty": (lambda pair: Pair(pair.source, ""), "with an empty side"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_frequent_fault_is_said_with_the_command_that_shows_its_lines(kind: str):
    spoil, words = FAULTS[kind]
    spoilt = [spoil(pair) if number % 10 == 0 else pair for number, pair in enumerate(CLEAN)]
    _, faults = looked(spoilt)
    assert f" % {words}" in faults
    assert faults.endswith(
        "Lines: manyheads data check --source a.en --target a.de --source-language en --target-language de"
    )


def test_the_command_shows_the_lines(command: Callable[..., Any], tmp_path: Path):
    rows = "".join(
        f'{number},"{one}","{"Ja." if number % 9 == 3 else other}"\n' for number, (one, other) in enumerate(CLEAN)
    )
    (tmp_path / "pairs.csv").write_text(f"id,English,German\n{rows}", encoding="utf-8")
    look = FirstLook()
    Files(pairs=tmp_path / "pairs.csv", columns=Columns(source_column="English", target_column="German")).recipe(
        [], look
    )
    facts, faults = look.remarks()
    assert "2,000 pairs, en → de (by the names of the columns)" in facts
    shown = command(*shlex.split(faults.partition("Lines: manyheads ")[2]))
    shown.succeeds()
    assert re.search(r"unbalanced +222  lines 4, 13, 22", shown.out)


def test_a_rare_fault_is_not_worth_a_word():
    assert len(looked([*CLEAN[1:], Pair("a question", "")])) == 1


def test_duplicates_of_a_large_corpus_are_counted_though_a_sample_has_few():
    many = [Pair(f"source {number}", f"target {number}") for number in range(10 * SAMPLE)]
    settings = CorpusSettings(pairs="many.tsv")
    _, faults = looked(many + many[::2], settings)
    assert "33 % duplicated" in faults or "34 % duplicated" in faults or "32 % duplicated" in faults
    assert len(looked(many, settings)) == 1


def test_the_other_direction_of_a_corpus_is_not_looked_at():
    both = SETTINGS.model_copy(update={"both_ways": True})
    look = FirstLook()
    for direction in both.directions:
        list(look.through(direction, iter(CLEAN)))
    assert len(look.remarks()) == 1


def test_what_was_not_read_is_no_failure(tmp_path: Path):
    assert FirstLook().remarks() == []
    assert looked([])[0] == "a.en and a.de: 0 pairs, en → de (as given)."


def test_few_pairs_of_a_known_direction_are_told_the_model_to_start_from(tmp_path: Path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{one.source}\t{one.target}\n" for one in CLEAN), encoding="utf-8")

    def advice(**given: Any) -> str | None:
        files, look = Files(pairs=pairs, **given), FirstLook()
        recipe = files.recipe((), look)
        look.remarks()
        return starting_point(recipe, look)

    model = shipped_models()[0].name
    detected = advice()
    assert detected is not None
    assert f"--start-from {model} --to de" in detected
    assert detected == advice(source_language="en-GB", target_language="de")
    reverse = advice(reverse=True)
    assert reverse is not None
    assert "de → en" in reverse
    assert advice(source_language="en", target_language="fi") is None
    assert advice(start_from=model, to="de") is None


def test_enough_pairs_are_not_told_to_start_elsewhere():
    look = FirstLook()
    look.languages = SideLanguages("en", "de", "as given")
    many = (pair for pair in CLEAN for _ in range(FEW_PAIRS // len(CLEAN)))
    assert sum(1 for _ in look.through(SETTINGS, many)) == FEW_PAIRS
    recipe = TranslationRecipe.model_validate({"data": {"train": SETTINGS.model_dump(exclude_defaults=True)}})
    assert starting_point(recipe, look) is None
