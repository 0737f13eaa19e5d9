"""What hostile cases start from: good runs, folders of other toolkits, a recipe and texts, which each case copies."""

from __future__ import annotations

import json
import os
import shutil
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

SIZES = {"width": 16, "heads": 2, "feed_forward": 16}
RECIPE: dict[str, Any] = {
    "name": "hostile",
    "data": {
        "train": {"task": "copy", "count": 60, "options": {"min_length": 1, "max_length": 6, "symbols": 8}},
        "valid": {"task": "copy", "count": 10, "options": {"min_length": 1, "max_length": 6, "symbols": 8}},
        "max_length": 16,
    },
    "tokenizer": {"kind": "symbols"},
    "model": {**SIZES, "encoder_layers": 1, "decoder_layers": 1},
    "training": {"steps": 2, "batch_tokens": 64, "threads": 1},
    "validation": {"every": 2, "metric": "loss", "sentences": 5, "samples": 0},
    "decoding": {"extra_length": 4},
}
EXAMPLES = {"task": "kinds", "count": 40}
TRAINING = {"steps": 1, "batch_tokens": 256, "threads": 1}
COVERED = ("trained", "checked")  # folders whose files keep their checksums
READER = {**SIZES, "kind": "bert", "layers": 1, "positions": 64}


@dataclass(frozen=True)
class World:
    """The folder with everything that is good."""

    folder: Path

    @classmethod
    def made_apart(cls, folder: Path) -> World:
        """Make them in another process, so that this one does not import what only making them needs."""
        child = os.fork()
        if child == 0:
            try:
                cls.make(folder)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, "the runs could not be made"
        import_module("torch")
        for verb in ("train", "inspect", "evaluate", "encode", "generate"):
            import_module(f"manyheads.cli.{verb}")
        for name in ("training.train", "inspection.inspector", "decoding.engines.ctranslate2", "encoding.encoder"):
            import_module(f"manyheads.{name}")
        return cls(folder)

    @classmethod
    def make(cls, folder: Path) -> World:
        """Make the runs: two with random weights, three that are trained for a step."""
        from bert import tiny_folder
        from commands import run_inside
        from helpers import without_checksums
        from manyheads.runs.checksums import cover
        from run_folders import make_run

        world = cls(folder)
        (folder / "recipe.yaml").write_text(yaml.safe_dump(RECIPE), encoding="utf-8")
        lines = "".join(f"{'ab cd ef gh'[: 2 + i % 9]} x\n" for i in range(80))
        (folder / "text").write_text(lines, encoding="utf-8")
        (folder / "pairs.tsv").write_text("".join(f"{line}\t{line}\n" for line in lines.splitlines()), encoding="utf-8")
        make_run(folder / "translation")
        tiny_folder(folder / "bert")
        cls._train(folder, "language_model", {"train": str(folder / "text"), "length": 8}, {**SIZES, "layers": 1})
        cls._train(folder, "classification", {"train": EXAMPLES, "valid": EXAMPLES, "max_length": 64}, READER)
        story = {"task": "whereabouts", "count": 40}
        cls._train(folder, "question_answering", {"train": story, "valid": story, "max_length": 64}, READER)
        for words in (
            ["export", folder / "translation", "--to", "huggingface", "--out", folder / "marian"],
            ["import", folder / "bert", "--out", folder / "encoder"],
        ):
            assert run_inside(*words).code == 0, words
        cls._train_on_files(folder)
        shutil.copytree(folder / "translation", folder / "checked")
        cover(folder / "checked")
        for run in folder.iterdir():  # with checksums and copies, most damages would be repaired before they are read
            if run.is_dir() and run.name not in COVERED:
                without_checksums(run)
                shutil.rmtree(run / "checkpoints", ignore_errors=True)
        return world

    @staticmethod
    def _train(folder: Path, task: str, data: dict[str, Any], model: dict[str, Any]) -> None:
        """Train a run for a step."""
        from commands import run_inside

        tokenizer = {"tokenizer": {"kind": "characters"}} if task == "language_model" else {"vocabulary": 100}
        values = {"task": task, "data": data, "model": model, "training": TRAINING, "validation": {"every": 1}}
        recipe = folder / f"{task}.yaml"
        recipe.write_text(yaml.safe_dump({"name": task, **values, **tokenizer}), encoding="utf-8")
        result = run_inside("train", recipe, "--out", folder / task)
        assert result.code == 0, result.err

    @staticmethod
    def _train_on_files(folder: Path) -> None:
        """Train a run for two steps on files beside it, and keep its cache; its folder can be copied as a whole."""
        from commands import run_inside

        place = folder / "trained"
        place.mkdir()
        shutil.copyfile(folder / "pairs.tsv", place / "pairs.tsv")
        held_out = {"train": {"pairs": "pairs.tsv"}, "held_out": 10, "max_length": 16}
        (place / "recipe.yaml").write_text(yaml.safe_dump({**RECIPE, "data": held_out}), encoding="utf-8")
        before = Path.cwd(), os.environ["MANYHEADS_CACHE"]
        os.chdir(place)
        os.environ["MANYHEADS_CACHE"] = str(place / "cache")
        result = run_inside("train", "recipe.yaml", "--out", "run", "--set", "training.checkpoint_every=1")
        assert result.code == 0, result.err
        os.chdir(before[0])
        os.environ["MANYHEADS_CACHE"] = before[1]

    def copy(self, name: str, place: Path) -> Path:
        """Return a copy of a folder or a file, to be damaged."""
        source = self.folder / name
        if source.is_dir():
            shutil.copytree(source, place / name)
        else:
            shutil.copyfile(source, place / name)
        return place / name

    def read(self, name: str) -> bytes:
        """Return the content of a good file."""
        return (self.folder / name).read_bytes()


def written(path: Path, content: bytes | str) -> Path:
    """Write a file and return its path."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return path


def changed(path: Path, changes: dict[str, object]) -> None:
    """Change keys of a JSON file; a dot leads into a section, and None removes a key."""
    values = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        *sections, last = key.split(".")
        place = values
        for section in sections:
            place = place[section]
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    path.write_text(json.dumps(values), encoding="utf-8")


Arguments = Callable[[Path], list[str]]
