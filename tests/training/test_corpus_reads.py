"""A large corpus takes minutes to read, so training reads it as often as it must and no more."""

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers import prepared
from manyheads.config.reading import load_recipe
from manyheads.config.recipe import RecipeBase
from manyheads.data.text.records import Pair
from manyheads.runs.folder import RunFolder
from manyheads.tasks import task_for
from manyheads.tasks.interface import Machine

AT_THE_START = 4  # to choose what is held out, to count what shares its target, for the tokenizer, for the tokens
AT_A_RESUME = 1  # to see whether it is the same corpus

Command = Callable[..., Any]
WriteRecipe = Callable[..., Path]


def pairs_of(seed: int, count: int = 200) -> list[Pair]:
    """Return pairs of symbols that depend on a seed."""
    chance = random.Random(seed)
    sentences = [" ".join(chance.choices("abcdefgh", k=6)) for _ in range(count)]
    return [Pair(sentence, sentence.upper()) for sentence in sentences]


def parallel(folder: Path, pairs: list[Pair]) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    for side in ("source", "target"):
        (folder / side).write_text("".join(f"{getattr(pair, side)}\n" for pair in pairs))
    return {"source": str(folder / "source"), "target": str(folder / "target")}


def packed(folder: Path, pairs: list[Pair]) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    text = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
    (folder / "pairs.tsv.gz").write_bytes(gzip.compress(text.encode()))
    return {"pairs": str(folder / "pairs.tsv.gz")}


def several_files(folder: Path, pairs: list[Pair]) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    for number, part in enumerate((pairs[:50], pairs[50:])):
        lines = (json.dumps({"source": pair.source, "target": pair.target}) for pair in part)
        (folder / f"{number}.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return {"pairs": str(folder)}


HELD_OUT = {"data.valid": None, "data.held_out": 20}
KINDS = {"parallel": parallel, "packed": packed, "several files": several_files}


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without the tokens of other tests."""
    monkeypatch.setenv("MANYHEADS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def reads(opened: Counter[Path], folder: Path) -> set[int]:
    """Return how often the files of a folder were opened, and start counting again."""
    found = {opened[path] for path in folder.rglob("*") if path.is_file()}
    opened.clear()
    return found


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("kind", KINDS)
def test_training_reads_a_corpus_four_times_at_the_start_and_once_at_a_resume(
    command: Command, sprint: WriteRecipe, tmp_path: Path, opened: Counter[Path], kind: str
):
    train = KINDS[kind](tmp_path / "corpus", pairs_of(1))
    recipe = sprint({"data.train": train, **HELD_OUT, "training.steps": 3})
    opened.clear()
    command("train", recipe, "--out", tmp_path / "run").succeeds("training pairs")
    assert reads(opened, tmp_path / "corpus") <= set(range(1, AT_THE_START + 1))
    command("train", recipe, "--out", tmp_path / "run", "--set", "training.steps=6").succeeds("Continuing from step 3")
    assert reads(opened, tmp_path / "corpus") == {AT_A_RESUME}


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("weighted", [False, True])
def test_each_of_several_corpora_is_read_no_more_often(
    sprint: WriteRecipe, tmp_path: Path, opened: Counter[Path], weighted: bool
):
    first = {**parallel(tmp_path / "corpus", pairs_of(1)), "tag": "<one>"}
    second = {**packed(tmp_path / "corpus" / "other", pairs_of(2)), "weight": 2}
    train = {"data.train": [first, second], **HELD_OUT, "tokenizer.weighted": weighted}
    recipe = load_recipe(sprint(train))
    for most in (AT_THE_START, AT_A_RESUME):
        opened.clear()
        prepared(recipe, RunFolder(tmp_path / "run"))
        assert reads(opened, tmp_path / "corpus") <= set(range(1, most + 1))


@pytest.mark.usefixtures("own_cache")
def test_a_corpus_in_both_directions_is_read_once_at_a_resume(
    sprint: WriteRecipe, tmp_path: Path, opened: Counter[Path]
):
    languages = {"source_language": "de", "target_language": "en", "both_ways": True}
    train = {**parallel(tmp_path / "corpus", pairs_of(1)), **languages}
    recipe = load_recipe(sprint({"data.train": train, **HELD_OUT}))
    prepared(recipe, RunFolder(tmp_path / "run"))
    opened.clear()
    prepared(recipe, RunFolder(tmp_path / "run"))
    assert reads(opened, tmp_path / "corpus") == {AT_A_RESUME}


# --- What is held out, in the run folder -----------------------------------------------------------------------------


@pytest.fixture
def recipe(sprint: WriteRecipe, tmp_path: Path) -> RecipeBase:
    """A recipe that holds out pairs of parallel files."""
    return load_recipe(sprint({"data.train": parallel(tmp_path / "corpus", pairs_of(1)), **HELD_OUT}))


def test_a_resume_holds_out_and_says_the_same(sprint: WriteRecipe, tmp_path: Path):
    labelled = [Pair(pair.source, "ab"[number % 2]) for number, pair in enumerate(pairs_of(1))]
    recipe = load_recipe(sprint({"data.train": parallel(tmp_path / "corpus", labelled), **HELD_OUT}))
    run, said = RunFolder(tmp_path / "run"), ([], [])
    first, second = (prepared(recipe, run, tell.append) for tell in said)
    assert second.valid_pairs == first.valid_pairs
    assert [one.folder for one in second.store.stores] == [one.folder for one in first.store.stores]
    assert any("cut off by source alone" in one for one in said[1])
    assert said[1] == [one for one in said[0] if "Trained the tokenizer" not in one]


@pytest.mark.parametrize("damage", [None, "", "{", '{"corpus": "another"}'])
def test_a_run_without_the_file_continues_and_gets_one(recipe: RecipeBase, tmp_path: Path, damage: str | None):
    run = RunFolder(tmp_path / "run")
    first = prepared(recipe, run)
    written = run.held_out_file.read_bytes()
    run.held_out_file.unlink()
    if damage is not None:
        run.held_out_file.write_text(damage)
    assert prepared(recipe, run).valid_pairs == first.valid_pairs
    assert run.held_out_file.read_bytes() == written


def test_another_corpus_in_the_same_place_is_cut_again(recipe: RecipeBase, tmp_path: Path):
    run, other = RunFolder(tmp_path / "run"), pairs_of(2)
    first = prepared(recipe, run)
    parallel(tmp_path / "corpus", other)
    second = prepared(recipe, run)
    assert set(first.valid_pairs).isdisjoint(other)
    assert second.valid_pairs and set(second.valid_pairs) <= set(other)


def test_a_process_that_is_not_the_first_writes_nothing(
    recipe: RecipeBase, tmp_path: Path, opened: Counter[Path], contents: Callable[[Path], dict[str, bytes]]
):
    run = RunFolder(tmp_path / "run")
    first = prepared(recipe, run)
    before = contents(run.path)
    opened.clear()
    other = task_for(recipe).prepare(recipe, run, Machine(is_first=False), lambda _: None)
    assert reads(opened, tmp_path / "corpus") == {AT_A_RESUME}
    assert other.valid_pairs == first.valid_pairs
    run.held_out_file.unlink()
    task_for(recipe).prepare(recipe, run, Machine(is_first=False), lambda _: None)
    assert contents(run.path) == {name: content for name, content in before.items() if name != "held_out.json"}


def test_a_run_with_validation_files_has_no_such_file(sprint: WriteRecipe, recipe: RecipeBase, tmp_path: Path):
    run = RunFolder(tmp_path / "run")
    prepared(recipe, run)
    assert run.held_out_file.exists()
    prepared(load_recipe(sprint()), run)  # nothing was learned yet, so the recipe may change
    assert not run.held_out_file.exists()
