"""A dozen damages to a stopped training: it ends as if nothing had happened, or names what is wrong.

`benchmarks/damage_test.py` does the same at random, hundreds of times.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
Damage = Callable[[Path], Any]
LINES = [f"a b {letter}" for letter in "cdefgh"] * 20
HALF, WHOLE = 6, 12  # steps


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


class Stopped:
    """A training that was stopped in the middle, with its corpus and its cache, and what it comes to."""

    def __init__(self, folder: Path, command: Command, recipe_at: Callable[..., Path]) -> None:
        self._pristine, self.place, self._command = folder / "pristine", folder / "place", command
        self.place.mkdir()
        train = {side: str(self.place / f"train.{side}") for side in ("source", "target")}
        for file in train.values():
            Path(file).write_text("".join(f"{number % 7} {line}\n" for number, line in enumerate(LINES)))
        changes = {"data.train": train, "data.valid": None, "data.held_out": 10}
        self._recipe = recipe_at(self.place / "recipe.yaml", changes)
        self.train(HALF).succeeds()
        shutil.copytree(self.place, self._pristine)
        self.train(WHOLE).succeeds()
        self.wanted = self.weights

    @property
    def weights(self) -> bytes:
        return (self.place / "run" / "model.safetensors").read_bytes()

    def train(self, steps: int) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MANYHEADS_CACHE", str(self.place / "cache"))
            return self._command("train", self._recipe, "--out", self.place / "run", "--set", f"training.steps={steps}")

    def damaged(self, pattern: str, damage: Damage) -> Any:
        """Damage a file of the stopped training, the last of those that match, and go on."""
        shutil.rmtree(self.place)
        shutil.copytree(self._pristine, self.place)
        damage(max(self.place.glob(pattern)))
        return self.train(WHOLE)


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory, command: Command, recipe_at: Callable[..., Path]) -> Stopped:
    return Stopped(tmp_path_factory.mktemp("damage"), command, recipe_at)


@pytest.mark.parametrize(
    ("pattern", "damage"),
    [
        ("run/checkpoints/step-*/state.json", flip),
        ("run/checkpoints/step-*/optimiser.safetensors", cut),
        ("run/checkpoints/step-*/model.safetensors", zero),
        ("run/model.safetensors", flip),
        ("run/config.json", Path.unlink),
        ("run/tokenizer/*.model", flip),
        ("run/held_out.json", cut),
        ("run/inputs.json", zero),
        ("run/metrics.jsonl", zero),
        ("run/recipe.yaml", Path.unlink),
        ("cache/store/*/source.ids", flip),
        ("cache/store/*/target.offsets", Path.unlink),
        ("cache/store/*/store.json", cut),
    ],
)
def test_what_can_be_repaired_is_and_says_so(stopped: Stopped, pattern: str, damage: Damage):
    said = "".join(stopped.damaged(pattern, damage).succeeds().split())
    assert stopped.weights == stopped.wanted
    name = pattern.rsplit("/", 1)[1].replace("*", "")
    assert name in said
    assert "damaged" in said or "missing" in said or "cannotberead" in said


@pytest.mark.parametrize(
    ("pattern", "damage", "words"),
    [
        ("train.source", flip, ["train.source", "120 lines, now 120 lines", "--accept-changed-data"]),
        ("train.target", cut, ["train.target", "120 lines, now 1", "--accept-changed-data"]),
        ("train.source", Path.unlink, ["train.source", "no such file"]),
        ("run/begun.yaml", cut, ["begun.yaml"]),
    ],
)
def test_what_cannot_be_repaired_is_named(stopped: Stopped, pattern: str, damage: Damage, words: list[str]):
    stopped.damaged(pattern, damage).refuses(*words)
