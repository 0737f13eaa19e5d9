"""Every shipped recipe is valid and runs, shortened: a few updates of a narrow model, then a translation."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from bert import PIECES, tiny_folder
from helpers import prepared
from manyheads.config.reading import load_recipe
from manyheads.config.tasks.memory_questions import MemoryQuestionsRecipe
from manyheads.config.tasks.reading import ReadingRecipe
from manyheads.config.tasks.translation import TranslationRecipe
from manyheads.data.generated import task
from manyheads.decoding.translator import Translator
from manyheads.encoding.encoder import Encoder
from manyheads.encoding.fact_reader import FactReader
from manyheads.exchange.bert import import_bert
from manyheads.runs.folder import RunFolder
from manyheads.runs.loading import load_model
from manyheads.training.progress import Reporter
from manyheads.training.trainer import Trainer

ROOT = Path(__file__).resolve().parents[2]
RECIPES = sorted((ROOT / "recipes").glob("*.yaml"))
FOR_BERT = [path for path in RECIPES if isinstance(load_recipe(path), ReadingRecipe)]

FOR_TRANSLATION = [path for path in RECIPES if isinstance(load_recipe(path), TranslationRecipe)]
FOR_MEMORIES = [path for path in RECIPES if isinstance(load_recipe(path), MemoryQuestionsRecipe)]
OTHERS = [path for path in RECIPES if path not in (*FOR_BERT, *FOR_TRANSLATION, *FOR_MEMORIES)]
SHORT = (
    "training.steps=2",
    "training.batch_tokens=512",
    "training.accumulate=1",
    "validation.sentences=4",
    "model.width=32",
)
SMALL = ("model.heads=4", "model.feed_forward=64", "model.encoder_layers=1", "model.decoder_layers=1")


def write_stand_ins(recipe, folder: Path) -> list[str]:
    """Write small files in place of the corpora a recipe names; return the changes that make it read them."""
    changes = []
    for part, corpus in [*_parts("train", recipe.data.corpora), *_parts("valid", recipe.data.valid_corpora)]:
        if corpus.task is not None:
            changes.append(f"data.{part}.count=200")
            continue
        pairs = list(task("dates").pairs("train", count=200))
        if corpus.lexicon is not None:
            (folder / corpus.lexicon.removeprefix("data:")).parent.mkdir(parents=True, exist_ok=True)
            languages = sorted({corpus.source_language, corpus.target_language})
            rows = ["\t".join(languages), "may\tmai"]
            (folder / corpus.lexicon.removeprefix("data:")).write_text("\n".join(rows) + "\n", encoding="utf-8")
        for key, name in (("source", corpus.source), ("target", corpus.target), ("pairs", corpus.pairs)):
            if name is None:
                continue
            place = folder / name.removeprefix("data:")
            place.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith(".tar.gz"):
                write_stories(place, range(1, 21))
                continue
            line = "IN: {} OUT: {}" if corpus.format == "scan" else "{}\t{}"
            rows = [line.format(*one) if key == "pairs" else getattr(one, key) for one in pairs]
            opener = gzip.open if place.suffix == ".gz" else open
            with opener(place, "wt", encoding="utf-8") as file:
                file.write("".join(f"{row}\n" for row in rows))
    return changes


def write_stories(place: Path, numbers: Iterable[int]) -> None:
    """Write an archive like that of bAbI, with two short stories again and again in each task."""
    stories = [f"1 Mary went to the {place}.\n2 Where is Mary?\t{place}\t1\n" for place in ("hall", "park")] * 20
    with tarfile.open(place, "w:gz") as tar:
        for number in numbers:
            entry, content = tarfile.TarInfo(f"en/qa{number}_stand-in_train.txt"), "".join(stories).encode()
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def _parts(key: str, corpora) -> list[tuple[str, Any]]:
    """Return each corpus with its key: `train`, or `train.0` and so on if there are several."""
    return [(key if len(corpora) == 1 else f"{key}.{number}", corpus) for number, corpus in enumerate(corpora)]


@pytest.mark.parametrize("path", FOR_BERT, ids=lambda path: path.stem)
def test_a_recipe_for_a_bert_runs(path, tmp_path):
    recipe = load_recipe(path)
    changes = ["training.steps=2", "training.batch_tokens=512", "data.train.count=100", "data.valid.count=10"]
    if recipe.start_from is not None:
        pieces = sorted({"a", "b", *PIECES, *(chr(letter) for letter in range(ord("a"), ord("z") + 1))})
        special = [piece for piece in PIECES if piece.startswith("[")]
        theirs = tiny_folder(
            tmp_path / "theirs",
            pieces=[*special, *(piece for piece in pieces if piece not in special)],
            max_position_embeddings=128,
        )
        import_bert(theirs, tmp_path / "base")
        changes.append(f"start_from={tmp_path / 'base'}")
    run = RunFolder(tmp_path / "run")
    preparation = prepared(load_recipe(path, changes), run, lambda text: None)
    assert Trainer(preparation, device="cpu", reporter=Reporter()).train() == "finished"
    assert Encoder.from_folder(run.path).encode(["a", ""]).attention_mask.shape[0] == 2


def trained(path: Path, folder: Path) -> Path:
    """Train a shortened recipe on stand-ins, after the recipe whose run it starts from; return its run folder."""
    recipe = load_recipe(path)
    small = SMALL if recipe.model.kind == "transformer" else []
    changes = [*SHORT, *small, *write_stand_ins(recipe, folder / "data")]
    if recipe.tokenizer.vocabulary:
        changes.append(f"tokenizer.vocabulary={900 if recipe.tokenizer.symbols else 600}")
    if recipe.data.held_out:
        changes.append("data.held_out=20")
    if recipe.start_from is not None:
        changes.append(f"start_from={trained(path.parent / f'{Path(recipe.start_from).name}.yaml', folder)}")
    run = RunFolder(folder / path.stem)
    preparation = prepared(load_recipe(path, changes), run, lambda text: None)
    assert Trainer(preparation, device="cpu", reporter=Reporter()).train() == "finished"
    return run.path


@pytest.mark.parametrize("path", FOR_TRANSLATION, ids=lambda path: path.stem)
def test_a_recipe_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("MANYHEADS_DATA", str(tmp_path / "data"))
    assert len(Translator(trained(path, tmp_path)).translations(["a", ""], beam=2)) == 2


@pytest.mark.parametrize("path", FOR_MEMORIES, ids=lambda path: path.stem)
def test_a_recipe_for_a_memory_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("MANYHEADS_DATA", str(tmp_path / "data"))
    settings = load_recipe(path).data.train
    place = tmp_path / "data" / settings.babi.removeprefix("data:")
    place.parent.mkdir(parents=True)
    write_stories(place, settings.numbers)
    run = RunFolder(tmp_path / "run")
    task = prepared(load_recipe(path, ["training.steps=2"]), run)
    assert Trainer(task, device="cpu", reporter=Reporter(quiet=True)).train() == "finished"
    reader = FactReader.from_folder(run.path)
    assert reader.answer(reader.read(["Mary went to the park. Where is Mary?"], where="text"))[0].text


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_a_recipe_for_text_runs(path, tmp_path, monkeypatch):
    monkeypatch.setenv("MANYHEADS_DATA", str(tmp_path / "data"))
    recipe = load_recipe(path, SHORT[:3])
    for name in {value for value in recipe.data.model_dump().values() if str(value).startswith("data:")}:
        place = tmp_path / "data" / name.removeprefix("data:")
        place.parent.mkdir(parents=True, exist_ok=True)
        with (gzip.open if place.suffix == ".gz" else open)(place, "wt", encoding="utf-8") as file:
            file.write((ROOT / "README.md").read_text(encoding="utf-8"))
    task = prepared(recipe, RunFolder(tmp_path / "run"))
    assert Trainer(task, device="cpu", reporter=Reporter(quiet=True)).train() == "finished"
    assert load_model(type(task.same_model()), RunFolder.open(tmp_path / "run"))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_says_how_it_is_run(path):
    head = path.read_text(encoding="utf-8").split("name:")[0]
    assert f"manyheads train recipes/{path.name}" in head
