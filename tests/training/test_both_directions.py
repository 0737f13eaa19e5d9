"""The direction of a training from files: as given, the other one, or both in one model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.config.corpora import CorpusSettings
from manyheads.config.reading import load_recipe
from manyheads.data.text.corpora import open_corpus
from manyheads.data.text.records import Pair
from manyheads.errors import ManyheadsError
from manyheads.training.files import Columns, Files

Command = Callable[..., Any]
PAIRS = [Pair(f"house {number} is my house", f"haus {number} ist mein haus") for number in range(40)]
REVERSED = [Pair(pair.target, pair.source) for pair in PAIRS]
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


def two_files(folder: Path) -> dict[str, Any]:
    for side, name in enumerate(("train.en", "train.de")):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS), encoding="utf-8")
    return {"source": folder / "train.en", "target": folder / "train.de"}


def tsv(folder: Path) -> dict[str, Any]:
    (folder / "pairs.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in PAIRS), encoding="utf-8")
    return {"pairs": folder / "pairs.tsv"}


def csv(folder: Path) -> dict[str, Any]:
    rows = "".join(f'{number},"{one}","{other}"\r\n' for number, (one, other) in enumerate(PAIRS))
    (folder / "pairs.csv").write_text(f"\ufeffid,en,de\r\n{rows}", encoding="utf-8")
    return {"pairs": folder / "pairs.csv", "columns": Columns(source_column="en", target_column="de")}


def jsonl(folder: Path) -> dict[str, Any]:
    lines = (json.dumps({"source": one, "target": other}) for one, other in PAIRS)
    (folder / "pairs.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return {"pairs": folder / "pairs.jsonl"}


def jsonl_with_a_key(folder: Path) -> dict[str, Any]:
    lines = (json.dumps({"en": one, "target": other}) for one, other in PAIRS)
    (folder / "pairs.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return {"pairs": folder / "pairs.jsonl", "columns": Columns(source_column="en")}


FORMS = [two_files, tsv, csv, jsonl, jsonl_with_a_key]


def read(settings: CorpusSettings) -> list[Pair]:
    return list(open_corpus(settings, split="train").pairs())


@pytest.mark.parametrize("form", FORMS)
def test_reverse_exchanges_the_sides_of_training_and_validation(form: Callable[[Path], dict[str, Any]], tmp_path: Path):
    given = form(tmp_path)
    valid = {f"valid_{name}": value for name, value in given.items() if name != "columns"}
    for reverse, expected in ((False, PAIRS), (True, REVERSED)):
        data = Files(**given, **valid, reverse=reverse).recipe([]).data
        assert read(data.corpora[0]) == expected
        assert read(data.valid_corpora[0]) == expected
        assert len(data.corpora) == len(data.valid_corpora) == 1


@pytest.mark.parametrize("form", FORMS)
def test_both_directions_are_one_corpus_with_the_languages_of_its_sides(
    form: Callable[[Path], dict[str, Any]], tmp_path: Path
):
    data = Files(**form(tmp_path), both=True, source_language="en", target_language="de").recipe([]).data
    assert data.directions == (("en", "de"), ("de", "en"))
    assert [read(corpus) for corpus in data.corpora] == [PAIRS, REVERSED]


def test_the_recipe_names_the_languages_that_files_are_named_by(tmp_path: Path):
    given = two_files(tmp_path)
    forward, back = (Files(**given, reverse=reverse).recipe([]).data for reverse in (False, True))
    assert (forward.source_language, forward.target_language) == ("en", "de")
    assert (back.source_language, back.target_language) == ("de", "en")
    assert forward.directions == (), "one direction has no tags"
    back = Files(**given, reverse=True, source_language="nl").recipe([]).data
    assert (back.source_language, back.target_language) == ("de", "nl")
    assert Files(**tsv(tmp_path)).recipe([]).data.source_language is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"both": True, "reverse": True}, "both directions include the reverse one"),
        ({"both": True, "target_language": "en"}, "cannot be told apart|both sides cannot be in 'en'"),
        ({"both": True, "start_from": "tatoeba"}, "a model to start from has its languages and directions already"),
        ({"target_language": "de", "start_from": "tatoeba"}, "has its languages"),
    ],
)
def test_what_does_not_go_together_is_refused(more: dict[str, Any], message: str, tmp_path: Path):
    with pytest.raises(ManyheadsError, match=message):
        Files(**two_files(tmp_path), **more).recipe([])


def test_one_model_for_both_directions(command: Command, tmp_path: Path):
    files = two_files(tmp_path)
    words = ("train", "--source", files["source"], "--target", files["target"], "--both", "--out", tmp_path / "run")
    said = command(*words, *QUICK).succeeds("40 pairs, both directions, en → de (by the names of the files)")
    assert "76 training pairs" in said and "4 for validation" in said
    command(*words, *QUICK).succeeds("nothing to do")
    for to in ("en", "de"):
        command("translate", "--model", tmp_path / "run", "--to", to, "--text", "house 1").succeeds()
    assert load_recipe(tmp_path / "run" / "recipe.yaml").data.train.both_ways
    command(*words[:-3], "--reverse", *words[-2:], *QUICK).refuses("another recipe")


def test_sides_that_cannot_be_told_apart_are_refused_before_training(command: Command, tmp_path: Path):
    pairs = tsv(tmp_path)["pairs"]
    pairs.write_text("".join(f"{number}\t{number + 1}\n" for number in range(40)), encoding="utf-8")
    command("train", "--pairs", pairs, "--both", "--out", tmp_path / "run", *QUICK).refuses(
        "the languages of the two sides cannot be told apart", "--source-language en --target-language de"
    )
    assert not (tmp_path / "run").exists()
