"""The page on data: its commands run in their order, the trainings shortened, with the recipe that it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from manyheads.config.reading import load_cut, parse_recipe
from manyheads.data.generated import task
from manyheads.data.text.corpora import is_story_archive
from manyheads.data.text.files import data_folder
from manyheads.runs.folder import RunFolder

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, flags=re.DOTALL)
SNIPPET, MEMORIES, STORIES, LANGUAGES, NAMED_CUT, STAGES, MODIFIERS = BLOCKS
EVERY_COMMAND = re.findall(r"^\$ (.*)$", PAGE, flags=re.MULTILINE)
APART = ("data cut", "--finish-in", "train memories", "scan")
COMMANDS = [one for one in EVERY_COMMAND if not any(words in one for words in APART)]
(LEARN_FROM_MEMORIES, SAID) = re.search(
    r"^\$ (manyheads train memories .*?)\n```\n\n```\n(.*?)```", PAGE, re.M | re.S
).groups()
(CUT, COUNTS) = re.search(r"^\$ (manyheads data cut .*?) --out \S+\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL).groups()
SHORT = " ".join(
    f"--set {change}"
    for change in (
        "training.steps=2",
        "training.batch_tokens=512",
        "validation.sentences=4",
        "model.width=32",
        "model.heads=4",
        "model.feed_forward=64",
        "model.encoder_layers=1",
        "model.decoder_layers=1",
    )
)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the page's reader has it, after the page's commands."""
    folder = tmp_path_factory.mktemp("desk")
    pairs = list(task("dates").pairs("train", count=400))
    for name, lines in (
        ("train.en", [pair.source for pair in pairs[:300]]),
        ("train.de", [pair.target for pair in pairs[:300]]),
        ("mono.de", [pair.target for pair in pairs[300:]]),
    ):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    # Beside the dates there is a word on each line, so that a lexicon can be learned.
    names = [f"{one}{other}" for one in "bcdfghklmn" for other in "aeiouaeiou"] * 4
    columns = "".join(
        f"{pair.source} {name}house\t{pair.target} {name}haus\n" for pair, name in zip(pairs, names, strict=True)
    )
    (folder / "en-de.tsv").write_text(columns, encoding="utf-8")
    (folder / "mixed.yaml").write_text(SNIPPET, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in COMMANDS:
        words = f"{command} {SHORT}" if command.startswith("manyheads train") else command
        done = subprocess.run(
            words, shell=True, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr
        # A model of two steps makes no text worth keeping, which the check may say.
        assert done.returncode == 0 or command.startswith("manyheads data check"), done.stderr
    return folder


def test_the_recipe_is_one():
    recipe = parse_recipe(SNIPPET)
    assert [corpus.weight for corpus in recipe.data.corpora] == [2.0, 0.5]
    assert recipe.data.tags == ("<bt>",)
    assert recipe.tokenizer.sampling == 0.1


def test_every_line_is_translated_back(desk: Path):
    lines = [(desk / name).read_text(encoding="utf-8").count("\n") for name in ("back.en", "mono.de")]
    assert lines == [100, 100]


def test_the_mixed_run_is_complete(desk: Path):
    run = RunFolder.open(desk / "runs" / "mixed")
    assert run.tokenizers().source.encode("<bt> 2020") == [4, *run.tokenizers().source.encode("2020")]
    assert "(tagged <bt>)" in run.card_file.read_text(encoding="utf-8")


def test_memories_are_read_as_the_page_says(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    patterns = ("python-docs.fr.*.po", "tico19.en-fr.tmx.gz", "dotnet-sdk.*.xlf", "homeassistant.abode.*.json")
    found = [file for one in patterns for file in (data_folder() / "catalogues").glob(one)]
    if not found:
        pytest.skip("the catalogues are not there: set MANYHEADS_DATA")
    (tmp_path / "memories").mkdir()
    for file in found:
        (tmp_path / "memories" / file.name).symlink_to(file.resolve())
    monkeypatch.chdir(tmp_path)
    command(*LEARN_FROM_MEMORIES.split()[1:], *SHORT.split()).succeeds(*SAID.splitlines())


def test_the_memories_are_those_of_a_recipe():
    first, second = parse_recipe(MEMORIES).data.corpora
    assert (first.source_column, first.target_column) == ("en", "de")
    assert second.tags == ("<2fr>",)


def test_the_corpus_of_stories_is_one_that_a_recipe_can_have():
    (stories,) = parse_recipe(STORIES).data.corpora
    assert stories.keep == {"task": ("qa1", "qa2")} and is_story_archive(stories)


def test_the_languages_are_those_of_a_recipe():
    recipe = parse_recipe(LANGUAGES)
    assert recipe.data.directions == (("en", "fr"), ("fr", "en"), ("en", "zh"))
    assert recipe.data.tags == ("<2fr>", "<2en>", "<2zh>")


def test_the_cut_has_the_counts_that_the_page_says(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if not (data_folder() / "tatoeba").exists():
        pytest.skip("the Tatoeba corpora are not there: set MANYHEADS_DATA")
    monkeypatch.setenv("MANYHEADS_DATA", str(data_folder().resolve()))
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    assert command(*CUT.split()[1:], "--out", tmp_path / "cut").out == COUNTS


def test_the_named_cut_is_one(tmp_path: Path):
    (tmp_path / "cut.yaml").write_text(NAMED_CUT, encoding="utf-8")
    cut = load_cut(tmp_path / "cut.yaml")
    assert [corpus.name for corpus in cut.corpora] == ["law", "ui", "words"]
    assert cut.clean is not None


def test_the_stages_are_those_of_a_recipe():
    recipe = parse_recipe(STAGES)
    assert [[corpus.weight_in(stage) for stage in (0, 1)] for corpus in recipe.data.corpora] == [[1, 0.2], [1, 3]]
    assert recipe.training.stages == ("decay",) and recipe.training.schedule.decay_from is None


def test_the_modifiers_are_those_of_a_recipe_and_of_the_table():
    recipe = parse_recipe(MODIFIERS)
    keys = set(type(recipe.data.modify).model_fields)
    assert all(getattr(recipe.data.modify, key) for key in keys)
    rows = re.search(r"\| key \| source \| target \|\n(.*?)\n\n", PAGE, flags=re.DOTALL)[1]
    assert {key for row in rows.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])} == keys


def test_the_lexicon_has_its_languages(desk: Path):
    assert (desk / "lexicon.en-de.tsv").read_text(encoding="utf-8").startswith("en\tde\n")
