"""`manyheads train MEMORY --to LANGUAGE`: from a memory, or a folder of memories, to a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from manyheads.data.text.files import data_folder
from manyheads.runs.folder import RunFolder

Command = Callable[..., Any]
COUNT = 40
CATALOGUES = "catalogues"
QUICK = [
    word
    for change in (
        "training.steps=2",
        "training.threads=1",
        "model.width=16",
        "model.heads=2",
        "decoding.extra_length=3",
    )
    for word in ("--set", change)
]


def write_memory(path: Path, *, house: str = "house") -> Path:
    """Write a memory of 40 units in English and German, one of which has a French text in place of the German one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    units = [
        f'<tu><tuv xml:lang="en-US"><seg>{house} {number} is my house</seg></tuv>'
        f'<tuv xml:lang="{"fr" if number == 0 else "de-DE"}"><seg>Haus {number} ist mein Haus</seg></tuv></tu>\n'
        for number in range(COUNT)
    ]
    path.write_text(f'<tmx><header srclang="en-US"/><body>\n{"".join(units)}</body></tmx>', encoding="utf-8")
    return path


def catalogues(pattern: str, folder: Path) -> Path:
    """Return a folder of links to real catalogues."""
    found = sorted((data_folder() / CATALOGUES).glob(pattern))
    if not found:
        pytest.skip("the catalogues are not there: set MANYHEADS_DATA")
    folder.mkdir()
    for file in found:
        (folder / file.name).symlink_to(file.resolve())
    return folder


def test_a_memory_is_enough_and_is_known_again(command: Command, tmp_path: Path):
    memory, run = write_memory(tmp_path / "memory.tmx"), tmp_path / "run"
    given = ["train", memory, "--to", "de", "--out", run, *QUICK]
    said = command(*given).succeeds(
        f"{COUNT - 1} pairs, en → de (by the memory)", "1 in other languages", "38 training pairs", "1 for validation"
    )
    assert said.count("in other languages") == 1
    data = RunFolder.open(run).recipe().data
    assert (data.source_language, data.target_language) == ("en", "de")
    command(*given).succeeds("nothing to do")
    write_memory(memory, house="home")
    again = [*given, "--set", "training.steps=3"]
    command(*again).refuses("has changed since it was last started", memory.name)
    command(*again, "--accept-changed-data").succeeds("Finished at step 3.")


def test_memories_are_an_entry_of_a_recipe_beside_others(command: Command, tmp_path: Path):
    folder = write_memory(tmp_path / "memories" / "de" / "memory.tmx").parents[1]
    (tmp_path / "pairs.tsv").write_text("".join(f"yes {n}\tja {n}\n" for n in range(COUNT)), encoding="utf-8")
    (folder / "readme.txt").write_text("not a memory")
    train = [
        {"pairs": str(tmp_path / "pairs.tsv")},
        {"pairs": str(folder), "source_column": "en", "target_column": "de", "both_ways": False},
    ]
    recipe = tmp_path / "recipe.yaml"
    values = {"name": "mixed", "data": {"train": train, "held_out": 2}}
    recipe.write_text(yaml.safe_dump(values), encoding="utf-8")
    command("train", recipe, "--out", tmp_path / "run", *QUICK).succeeds(
        f"{2 * COUNT - 3} training pairs",
        "1 in other languages",
        "no .tmx, .xlf, .xliff or .po files: readme.txt",
        "Finished at step 2.",
    )
    names = [one["name"] for one in json.loads((tmp_path / "run" / "inputs.json").read_text())["files"]]
    assert names == ["pairs.tsv", "de/memory.tmx"]


def test_a_memory_trains_both_directions_and_tunes_a_model(command: Command, tmp_path: Path):
    memory, run = write_memory(tmp_path / "memory.tmx"), tmp_path / "run"
    command("train", memory, "--to", "de", "--both", "--out", run, *QUICK).succeeds("both directions", "76 training")
    assert RunFolder.open(run).recipe().data.directions == (("en", "de"), ("de", "en"))
    tuned = [
        "train",
        memory,
        "--source-language",
        "de",
        "--to",
        "en",
        "--start-from",
        run,
        "--out",
        tmp_path / "tuned",
        *QUICK[:4],
    ]
    command(*tuned).succeeds("Starting from the weights", "38 training pairs")
    train = RunFolder.open(tmp_path / "tuned").recipe().data.train
    assert (train.source_column, train.target_column, train.target_language) == ("de", "en", "en")


def test_validation_may_be_a_memory(command: Command, tmp_path: Path):
    memory, valid = (write_memory(tmp_path / f"{name}.tmx") for name in ("memory", "valid"))
    command(*("train", memory, "--to", "de", "--valid-pairs", valid, "--out", tmp_path / "run", *QUICK)).succeeds(
        "39 training pairs", "39 for validation"
    )


@pytest.mark.parametrize(
    ("words", "sentences"),
    [
        (["--to", "pl"], ["no translation into pl", "en → de"]),
        ([], ["which target language?", "--to fr"]),
        (["--to", "de", "--reverse"], ["--to names the target"]),
        (["--to", "de", "--target-language", "fr"], ["'de' or 'fr'"]),
        (["--to", "de", "--pairs", "other.tsv"], ["give either a recipe, or pairs"]),
    ],
)
def test_what_cannot_be_learned_from_a_memory_is_refused(
    words: list[str], sentences: list[str], command: Command, tmp_path: Path
):
    memory = write_memory(tmp_path / "memory.tmx")
    command("train", memory, *words, "--out", tmp_path / "run").refuses(*sentences)
    assert not (tmp_path / "run").exists()


def test_a_language_without_a_memory_is_refused(command: Command, tmp_path: Path):
    (tmp_path / "pairs.tsv").write_text("yes\tja\n")
    command("train", "--pairs", tmp_path / "pairs.tsv", "--to", "de").refuses("only a memory or a model to start from")


def test_a_memory_is_checked(command: Command, tmp_path: Path):
    memory = write_memory(tmp_path / "memory.tmx")
    checked = command("data", "check", "--pairs", memory, "--target-language", "de", "--json")
    checked.succeeds()
    assert json.loads(checked.out)["pairs"] == COUNT - 1


@pytest.mark.parametrize("pattern", ["tico19.en-fr.tmx.gz", "python-docs.fr.*.po"])
def test_a_real_memory_needs_no_other_option_than_the_language(pattern: str, command: Command, tmp_path: Path):
    folder = catalogues(pattern, tmp_path / "memories")
    command("train", folder, "--to", "fr", "--out", tmp_path / "run", *QUICK).succeeds("en → fr", "Finished at step 2.")
