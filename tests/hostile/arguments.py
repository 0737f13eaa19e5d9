"""The arguments of hostile cases: how a file, a recipe or a run is given to the verb that reads it."""

from __future__ import annotations

import os
from pathlib import Path

import yaml

from hostile.world import RECIPE, Arguments, World, changed, written

MEMORIES = (".tmx", ".xlf", ".po")  # suffixes of translation memories


def verb_arguments(world: World, verb: str, run: Path, text: str = "a b c") -> list[str]:
    """Return the arguments with which a verb uses a run."""
    as_text = [] if text == "/dev/zero" else ["--text"]
    match verb:
        case "translate torch":
            return ["translate", "--model", str(run), "--engine", "torch", *as_text, text]
        case "generate":
            return ["generate", "--model", str(run), "--tokens", "3", text]
        case "answer":
            return ["answer", "--model", str(run), "--text", "where?\tHere is a b."]
        case "score":
            return ["score", str(run), "--source", str(world.folder / "text"), "--target", str(world.folder / "text")]
        case "inspect":
            return ["inspect", "--model", str(run), "--json", *as_text, text]
        case "export":
            return ["export", str(run), "--to", "ctranslate2", "--out", "out"]
        case "describe":
            return ["describe", str(run)]
        case "import":
            return ["import", str(run), "--out", "out"]
    return [verb, "--model", str(run), *as_text, text]


def of_a_run(world: World, file: str, content: object, verb: str, *, run: str = "translation") -> Arguments:
    """Use a run in which a file has other content, or other keys."""

    def arguments(place: Path) -> list[str]:
        folder = world.copy(run, place)
        if isinstance(content, dict):
            changed(folder / file, content)
        else:
            assert isinstance(content, bytes | str)
            written(folder / file, content)
        return verb_arguments(world, verb, folder)

    return arguments


def odd_file(world: World, file: str, kind: str, verb: str) -> Arguments:
    """Use a run in which a file is a device, a pipe or a folder."""

    def arguments(place: Path) -> list[str]:
        folder = world.copy("translation", place)
        (folder / file).unlink()
        put(folder / file, kind)
        return verb_arguments(world, verb, folder)

    return arguments


def put(path: Path, kind: str) -> None:
    """Make a pipe, a folder, or a link to a device."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)


def odd(place: Path, kind: str) -> str:
    """Return the path of something that is no file."""
    if kind in ("pipe", "folder"):
        put(place / kind, kind)
        return str(place / kind)
    return str(place / kind) if kind == "missing" else kind


def recipe(verb: str, text: bytes) -> Arguments:
    """Give a verb a recipe."""
    out = ["--out", "out"] if verb == "train" else []
    return lambda place: [verb, str(written(place / "r.yaml", text)), *out]


def cut(text: bytes) -> Arguments:
    """Cut corpora by a file."""
    return lambda place: ["data", "cut", str(written(place / "c.yaml", text)), "--out", str(place / "out")]


def _train_on(world: World, place: Path, **changes: object) -> list[str]:
    """Train the recipe with other sections."""
    recipe = written(place / "r.yaml", yaml.safe_dump({**RECIPE, **changes}))
    return ["train", str(recipe), "--out", str(place / "out")]


def with_pairs(world: World, verb: str, suffix: str, content: bytes) -> Arguments:
    """Give a verb a file of pairs."""

    def arguments(place: Path) -> list[str]:
        pairs = written(place / f"p{suffix}", content)
        file = str(pairs)
        if verb == "train":
            kind = "csv" if suffix == ".csv" else "auto"
            languages = {"source_column": "en", "target_column": "de"} if suffix in MEMORIES else {}
            train = {"pairs": file, "format": kind, **languages}
            data = {"train": train, "valid": RECIPE["data"]["valid"], "max_length": 16}
            return _train_on(world, place, data=data, tokenizer={"kind": "bpe", "byte_fallback": True})
        if verb == "data check":
            return ["data", "check", "--pairs", file]
        if verb == "data lexicon":
            return ["data", "lexicon", file, "--source-language", "en", "--target-language", "de", "--out", "lexicon"]
        return ["evaluate", str(world.folder / "translation"), "--pairs", file]

    return arguments


def as_text(world: World, suffix: str, content: bytes) -> Arguments:
    """Learn to continue a text."""

    def arguments(place: Path) -> list[str]:
        text = written(place / f"t{suffix if suffix != '.tsv' else ''}", content)
        values = yaml.safe_load(world.read("language_model.yaml"))
        values["data"]["train"] = str(text)
        values["tokenizer"] = {"kind": "bpe", "vocabulary": 300}
        recipe = written(place / "r.yaml", yaml.safe_dump(values))
        return ["train", str(recipe), "--out", str(place / "out")]

    return arguments


def as_texts(world: World, suffix: str, content: bytes) -> Arguments:
    """Translate the lines of a file."""
    return lambda place: [
        "translate",
        "--model",
        str(world.folder / "translation"),
        str(written(place / f"t{suffix}", content)),
    ]


def odd_corpus(world: World, verb: str, kind: str) -> Arguments:
    """Give a verb a corpus that is no file."""

    def arguments(place: Path) -> list[str]:
        file = odd(place, kind)
        if verb == "train":
            data = {"train": {"source": file, "target": file}, "valid": RECIPE["data"]["valid"]}
            return _train_on(world, place, data=data)
        if verb == "score":
            return ["score", str(world.folder / "translation"), "--source", file, "--target", file]
        if verb == "data check":
            return ["data", "check", "--source", file, "--target", file]
        if verb == "data lexicon":
            return ["data", "lexicon", file, "--source-language", "en", "--target-language", "de", "--out", "lexicon"]
        return ["evaluate", str(world.folder / "translation"), "--source", file, "--target", file]

    return arguments


def with_examples(world: World, task: str, line: bytes) -> Arguments:
    """Train a model that reads on examples."""

    def arguments(place: Path) -> list[str]:
        values = yaml.safe_load(world.read(f"{task}.yaml"))
        values["data"]["train"] = {"file": str(written(place / "e.jsonl", line))}
        recipe = written(place / "r.yaml", yaml.safe_dump(values))
        return ["train", str(recipe), "--out", str(place / "out")]

    return arguments


def with_vectors(world: World, content: bytes, *, missing: bool = False) -> Arguments:
    """Train with pretrained vectors."""

    def arguments(place: Path) -> list[str]:
        file = place / "vectors"
        if not missing:
            written(file, content)
        return _train_on(world, place, model={**RECIPE["model"], "vectors": {"source": str(file)}})

    return arguments


def pickled(world: World, *, keep: bool) -> Arguments:
    """Import a folder in which there is a pickle, beside the weights or in their place."""

    def arguments(place: Path) -> list[str]:
        folder = world.copy("marian", place)
        written(folder / "pytorch_model.bin", b"\x80\x04cos\nsystem\n(S'touch pickled'\ntR.")
        if not keep:
            (folder / "model.safetensors").unlink()
        return ["import", str(folder), "--out", str(place / "out")]

    return arguments


def unread(verb: str, name: str) -> list[str]:
    """Return the arguments with which a verb opens a run of some name."""
    more = {
        "export": ["--to", "ctranslate2", "--out", "out"],
        "import": ["--out", "out"],
        "score": ["--source", "a", "--target", "b"],
        "evaluate": ["--count", "3"],
        "serve": ["--port", "0"],
    }
    if verb in ("encode", "answer", "serve"):
        return [verb, "--model", name, *more.get(verb, []), *([] if verb == "serve" else ["--text", "a\tb"])]
    return [verb, *([] if verb == "models" else [name]), *more.get(verb, [])]
