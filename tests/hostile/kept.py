"""Runs whose files have checksums, runs that are continued, and the cache: nothing changes unnoticed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from hostile import inputs
from hostile.arguments import put, verb_arguments
from hostile.running import EITHER, REFUSED, WORKS, Case
from hostile.world import Arguments, World, written

Change = Callable[[Path], object]
ENDLESS = ("/dev/zero", "pipe", "folder")
OWN_CACHE = {"MANYHEADS_CACHE": "PLACE/trained/cache"}
PAIRS = "pairs.tsv"


def checked(world: World) -> Iterator[Case]:
    """Runs that have checksums, and no copies to be repaired from."""
    tokenizer = "tokenizer/shared.model"
    for file, change in (
        ("model.safetensors", flipped),
        ("model.safetensors", shortened),
        ("config.json", longer),
        (tokenizer, flipped),
        (tokenizer, swapped_letters),
    ):
        for verb in ("translate", "translate torch", "score", "inspect", "export"):
            name = f"checked {file}: {change.__name__}"
            yield Case(name, verb.split()[0], _damaged(world, "checked", file, change, verb))
    for file in ("model.safetensors", "config.json", tokenizer):
        for kind in (*ENDLESS, "missing"):
            name = f"checked {file}: {kind}"
            yield Case(name, "translate", _damaged(world, "checked", file, _becoming(kind), "translate"))
    for name, text in inputs.json_texts().items():
        change = _with(text)
        yield Case(f"checksums: {name}", "translate", _damaged(world, "checked", "checksums.json", change), WORKS)
    for kind in ENDLESS:
        change = _becoming(kind)
        yield Case(f"checksums: {kind}", "translate", _damaged(world, "checked", "checksums.json", change), EITHER)


def changed_data(world: World) -> Iterator[Case]:
    """Corpora that change between two starts of a training."""
    changes: dict[str, Change] = {
        "edited": lambda path: path.write_bytes(path.read_bytes().replace(b"ab", b"ba")),
        "appended to": longer,
        "cut off": shortened,
        "replaced by one of the same size": lambda path: path.write_bytes(path.read_bytes()[::-1].strip() + b"\n\n"),
        "empty": lambda path: path.write_bytes(b""),
        **{kind: _becoming(kind) for kind in (*ENDLESS, "missing")},
    }
    for name, change in changes.items():
        yield _continued(world, f"corpus: {name}", PAIRS, change)
    yield _continued(world, "corpus: appended to, accepted", PAIRS, longer, WORKS, "--accept-changed-data")


def state(world: World) -> Iterator[Case]:
    """Files of a run that training continues from. Each is repaired, made again or put aside, or refused."""
    newest = "run/checkpoints/step-00000002"
    texts = inputs.json_texts()
    for name, content in texts.items():
        for file in (f"{newest}/state.json", "run/config.json", "run/inputs.json", "run/checksums.json"):
            yield _continued(world, f"{file[4:]}: {name}", file, _with(content), EITHER)
        for file in ("run/metrics.jsonl", "run/card.md"):  # reports, which never keep a run from going on
            yield _continued(world, f"{file[4:]}: {name}", file, _with(content), WORKS)
    for name, change in (
        ("another number of batches", _digit("batches", "7")),
        ("a step of 1e400", _digit("step", "1e400")),
        ("a step of 5,000 digits", _digit("step", inputs.DIGITS)),
        ("a step that is none", _digit("step", '"x"')),
    ):
        yield _continued(world, f"state.json: {name}", f"{newest}/state.json", change, EITHER)
    for name, content in inputs.safetensors_files(world.read("trained/run/model.safetensors")).items():
        for file in ("model", "optimiser"):
            yield _continued(world, f"{file}: {name}", f"{newest}/{file}.safetensors", _with(content), EITHER)
    for name, content in inputs.yaml_texts().items():
        yield _continued(world, f"begun.yaml: {name}", "run/begun.yaml", _with(content), EITHER)
    for file in ("checksums.json", "inputs.json", "config.json", "begun.yaml", "recipe.yaml", "model.safetensors"):
        for kind in ENDLESS:
            yield _continued(world, f"{file}: {kind}", f"run/{file}", _becoming(kind), EITHER)
    for file in ("state.json", "model.safetensors"):
        for kind in ENDLESS:
            yield _continued(world, f"{file} of a checkpoint: {kind}", f"{newest}/{file}", _becoming(kind), EITHER)
    for file in ("metrics.jsonl", "card.md", "events"):
        for kind in ENDLESS[:2]:
            yield _continued(world, f"{file}: {kind}", f"run/{file}", _becoming(kind), WORKS)


def stores(world: World) -> Iterator[Case]:
    """The token store in the cache, which is built again."""
    changes: dict[str, Change] = {
        "missing": Path.unlink,
        "cut off": shortened,
        "altered": flipped,
        "longer": longer,
        "empty": lambda path: path.write_bytes(b""),
        **{kind: _becoming(kind) for kind in ENDLESS},
    }
    store = next((world.folder / "trained" / "cache" / "store").iterdir())
    for file in sorted(path.name for path in store.iterdir() if path.name != "used"):
        for name, change in changes.items():
            yield _continued(world, f"store {file}: {name}", f"cache/store/{store.name}/{file}", change, WORKS)
    for name, content in inputs.json_texts().items():
        place = f"cache/store/{store.name}/store.json"
        yield _continued(world, f"store.json: {name}", place, _with(content), WORKS)
        yield Case(f"store.json: {name}", "data", _listed(world, place, content), EITHER, environment=OWN_CACHE)


# --- Changes of a file ------------------------------------------------------------------------------------------------


def flipped(path: Path) -> None:
    """Change one bit in the middle."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def shortened(path: Path) -> None:
    """Keep the first half."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def longer(path: Path) -> None:
    """Append a line."""
    path.write_bytes(path.read_bytes() + b"a b\ta b\n")


def swapped_letters(path: Path) -> None:
    """Make a tokenizer of the same size, in which two letters have each other's place."""
    content = path.read_bytes().replace(b"\x0a\x01a", b"\x0a\x01\0").replace(b"\x0a\x01e", b"\x0a\x01a")
    path.write_bytes(content.replace(b"\x0a\x01\0", b"\x0a\x01e"))


def _with(content: bytes) -> Change:
    return lambda path: path.write_bytes(content)


def _becoming(kind: str) -> Change:
    """Replace a file by a pipe, a folder, a link to a device, or nothing."""

    def change(path: Path) -> None:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        if kind != "missing":
            put(path, kind)

    return change


def _digit(key: str, value: str) -> Change:
    """Replace the value of a key, wherever it is."""

    def change(path: Path) -> None:
        found = json.loads(path.read_text(encoding="utf-8"))
        place = next(one for one in (found, *found.values()) if isinstance(one, dict) and key in one)
        place[key] = "VALUE"
        path.write_text(json.dumps(found).replace('"VALUE"', value), encoding="utf-8")

    return change


# --- How the cases are put together -----------------------------------------------------------------------------------


def _damaged(world: World, run: str, file: str, change: Change, verb: str = "translate") -> Arguments:
    """Use a run in which a file was changed."""

    def arguments(place: Path) -> list[str]:
        folder = world.copy(run, place)
        change(folder / file)
        return verb_arguments(world, verb, folder)

    return arguments


def _continued(world: World, name: str, file: str, change: Change, expected: str = REFUSED, *options: str) -> Case:
    """Continue a training of two steps, after a change of one of its files."""

    def arguments(place: Path) -> list[str]:
        folder = world.copy("trained", place)
        change(folder / file)
        if os.path.lexists(folder / PAIRS):
            (folder / PAIRS).rename(place / PAIRS)  # the recipe names it by a relative path
        steps = ["--set", "training.steps=4", "--set", "training.checkpoint_every=1"]
        return ["train", "trained/recipe.yaml", "--out", "trained/run", *steps, *options]

    return Case(f"continued: {name}", "train", arguments, expected, environment=OWN_CACHE)


def _listed(world: World, file: str, content: bytes) -> Arguments:
    """List the cache."""

    def arguments(place: Path) -> list[str]:
        written(world.copy("trained", place) / file, content)
        return ["data", "cache"]

    return arguments
