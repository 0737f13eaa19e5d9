"""What the tests share: a cache of their own, the command inside this process and outside it, and trained runs."""

from __future__ import annotations

import fcntl
import io
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

# Before anything imports torch: tests compute on one core each, whatever the machine has.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ["MANYHEADS_CACHE"] = tempfile.mkdtemp(prefix="manyheads-tests-")
os.environ["NO_COLOR"] = "1"

import hypothesis
import pytest
import yaml

from commands import PATIENCE, Result, laid_over, run_inside, run_outside

hypothesis.settings.register_profile("manyheads", deadline=None, derandomize=True)  # the same examples every time
hypothesis.settings.load_profile("manyheads")


def pytest_unconfigure() -> None:
    import shutil

    shutil.rmtree(os.environ["MANYHEADS_CACHE"], ignore_errors=True)


# --- The command -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def command() -> Callable[..., Result]:
    """`command("train", recipe, "--out", folder)` runs the command in this process: quick, once torch is there."""
    return run_inside


@pytest.fixture(scope="session")
def process() -> Callable[..., Result]:
    """`process("train", …)` runs the real command in a process of its own."""
    return run_outside


class Background:
    """The real command at work in a process of its own."""

    def __init__(self, *arguments: object) -> None:
        words = [sys.executable, "-m", "manyheads", *map(str, arguments)]
        self._log = tempfile.NamedTemporaryFile()  # noqa: SIM115 (closed in `end`)
        self.process = subprocess.Popen(words, stdout=self._log, stderr=subprocess.STDOUT)

    def wait_for(self, happened: Callable[[], bool]) -> None:
        """Wait until something is so; it is a failure if the command ends before, or takes for ever."""
        deadline = time.monotonic() + PATIENCE
        while not happened():
            assert self.process.poll() is None, f"ended too early: {self.said()}"
            assert time.monotonic() < deadline, f"waited too long: {self.said()}"
            time.sleep(0.005)

    def end(self, number: int | None = None) -> Result:
        """Send a signal, if one is given, and wait for the end."""
        if number is not None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=PATIENCE)
        result = Result(code, "", self.said())
        self._log.close()
        return result

    def said(self) -> str:
        """What it has said so far. It is read by name: a shared file would share its offset with the writer."""
        return Path(self._log.name).read_text(encoding="utf-8")


@pytest.fixture
def background() -> Iterator[Callable[..., Background]]:
    """`background("train", …)` starts the real command; whatever still runs at the end of the test is killed."""
    started: list[Background] = []

    def start(*arguments: object) -> Background:
        started.append(Background(*arguments))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.wait()


# --- Recipes and runs ------------------------------------------------------------------------------------------------

_LENGTHS = {"min_length": 1, "max_length": 6, "symbols": 8}

# A model that learns to copy or reverse six symbols without a mistake, in some ten seconds on one core.
LEARNER: dict[str, Any] = {
    "name": "copy",
    "data": {
        "train": {"task": "copy", "count": 20_000, "options": _LENGTHS},
        "valid": {"task": "copy", "count": 200, "options": _LENGTHS},
        "max_length": 16,
    },
    "tokenizer": {"kind": "symbols"},
    "model": {
        "width": 64,
        "heads": 4,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "feed_forward": 128,
        "dropout": 0.0,
    },
    "training": {
        "steps": 400,
        "batch_tokens": 512,
        "schedule": {"kind": "cosine", "rate": 0.005, "warmup": 50},
        "clip_norm": 1.0,
        "label_smoothing": 0.0,
        "checkpoint_every": 100,
        "log_every": 50,
        "threads": 1,
    },
    # Once, at the end: among several without a mistake the first would be called the best, and not the last.
    "validation": {"every": 1000, "metric": "exact_match", "sentences": 200, "samples": 1},
}

# A model that learns nothing, but quickly: for everything that is not about learning. It has dropout, so that a run
# depends on every random number.
SPRINTER: dict[str, Any] = {
    "name": "sprint",
    "data": {
        "train": {"task": "copy", "count": 300, "options": _LENGTHS},
        "valid": {"task": "copy", "count": 10, "options": _LENGTHS},
        "max_length": 16,
    },
    "tokenizer": {"kind": "symbols"},
    "model": {
        "width": 16,
        "heads": 2,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "feed_forward": 16,
        "dropout": 0.1,
    },
    "training": {
        "steps": 12,
        "batch_tokens": 64,
        "schedule": {"kind": "inverse_sqrt", "rate": 0.01, "warmup": 5},
        "checkpoint_every": 3,
        "log_every": 1,
        "keep_checkpoints": 2,
        "threads": 1,
    },
    "validation": {"every": 6, "metric": "loss", "sentences": 10, "samples": 0},
    "decoding": {"extra_length": 4},
}


WriteRecipe = Callable[..., Path]


def write_recipe(path: Path, changes: Mapping[str, Any] | None = None, *, base: Mapping[str, Any] = SPRINTER) -> Path:
    """Write a recipe file and return its path."""
    path.write_text(yaml.safe_dump(laid_over(base, changes or {}), sort_keys=False), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def recipe_at() -> WriteRecipe:
    """`recipe_at(path, {"training.steps": 5})` writes a recipe that runs in a second, and returns its path."""
    return write_recipe


@pytest.fixture
def sprint(tmp_path: Path) -> WriteRecipe:
    """`sprint({"training.steps": 5})` writes a recipe that runs in a second, and returns its path."""

    def write(changes: Mapping[str, Any] | None = None, *, name: str = "recipe.yaml") -> Path:
        return write_recipe(tmp_path / name, changes)

    return write


@pytest.fixture
def sprint_on(tmp_path: Path, sprint: WriteRecipe) -> WriteRecipe:
    """`sprint_on(sources, targets, changes)` writes two files and a recipe that trains on them."""

    def write(sources: list[str], targets: list[str], changes: Mapping[str, Any] | None = None) -> Path:
        files = {"source": tmp_path / "train.source", "target": tmp_path / "train.target"}
        files["source"].write_text("".join(f"{line}\n" for line in sources), encoding="utf-8")
        files["target"].write_text("".join(f"{line}\n" for line in targets), encoding="utf-8")
        train = {side: str(path) for side, path in files.items()}
        return sprint({"data.train": train, "data.valid": train, **(changes or {})})

    return write


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    """Let one process at a time into the block: parallel workers train a shared run once."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Return a folder that all parallel workers of this session see."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "trained"
    folder.mkdir(exist_ok=True)
    return folder


def _trained(factory: pytest.TempPathFactory, task: str, changes: Mapping[str, Any]) -> Path:
    """Train the learner on a task with the command; a run that is there already is left as it is."""
    folder = _shared_folder(factory)
    run = folder / task
    with _one_at_a_time(folder / f"{task}.lock"):
        recipe = write_recipe(
            folder / f"{task}.yaml",
            {"name": task, "data.train.task": task, "data.valid.task": task, **changes},
            base=LEARNER,
        )
        result = run_inside("train", recipe, "--out", run)
        assert result.code == 0, result.err
    return run


@pytest.fixture(scope="session")
def copy_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned to copy up to six symbols a … h. Read it, do not write into it."""
    return _trained(tmp_path_factory, "copy", {})


@pytest.fixture(scope="session")
def reverse_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned to reverse up to six symbols a … h. Read it, do not write into it."""
    return _trained(tmp_path_factory, "reverse", {"training.steps": 500})


@pytest.fixture(scope="session")
def dates_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned, most of the time, to read dates in three languages. Read it, do not write into it."""
    options = {"locales": ["fr", "en_US", "zh"], "first_year": 1980, "last_year": 2039}
    changes = {
        "data.train.options": options,
        "data.valid.options": options,
        "data.max_length": 64,
        "tokenizer": {"kind": "characters", "normalization": "identity"},
        "training.steps": 500,
        "training.batch_tokens": 1024,
    }
    return _trained(tmp_path_factory, "dates", changes)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[Path]:
    """How often each file was opened since the test began, by whatever code."""
    counts: Counter[Path] = Counter()
    open_file = io.open

    def count(file: Any, *arguments: Any, **options: Any) -> IO[Any]:
        if not isinstance(file, int):
            counts[Path(os.fsdecode(file))] += 1
        return open_file(file, *arguments, **options)

    monkeypatch.setattr("io.open", count)  # as pathlib calls it
    monkeypatch.setattr("builtins.open", count)
    return counts


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, bytes]]:
    """`contents(folder)` returns every file's bytes, to compare before and after."""

    def read(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
        }

    return read
