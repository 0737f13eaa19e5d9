"""Models that come with the package: found by name, and checked against their checksums before they are used.

Each is a run folder below `manyheads/shipped`, with one more file, `about.json`, that says what it is and has the
checksums of the others. Its own checksum is in `about.json.sha256`, which `sha256sum -c` can read too.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path

from manyheads.errors import ManyheadsError, Notice

FOLDER = Path(__file__).resolve().parent.parent / "shipped"
ABOUT = "about.json"
SEAL = "about.json.sha256"


@dataclass(frozen=True, kw_only=True)
class Shipped:
    """A model that comes with the package."""

    name: str
    description: str
    languages: list[str]
    parameters: int
    scores: dict[str, float]
    """BLEU by direction (en-de) on held-out sentences."""
    signatures: dict[str, str]
    """sacreBLEU's signature of each of these scores."""
    data: str
    licence: str
    attribution: str
    sha256: dict[str, str]
    """The checksum of each file."""
    domains: dict[str, dict[str, float]] = field(default_factory=dict)
    """BLEU by kind of text (software) and direction (en-de)."""
    replaces: list[str] = field(default_factory=list)
    """Names of earlier models, which now stand for this one."""

    @property
    def path(self) -> Path:
        """The run folder."""
        return FOLDER / self.name

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum((self.path / file).stat().st_size for file in self.sha256)

    def check(self) -> Path:
        """Return the run folder, every file of which is as it was shipped."""
        for name, wanted in self.sha256.items():
            file = self.path / name
            try:
                found = hashlib.sha256(file.read_bytes()).hexdigest()
            except OSError:
                found = "nothing"
            if found != wanted:
                raise _changed(file)
        return self.path


def shipped_models() -> list[Shipped]:
    """Return the models that come with the package; the first is the one to take where none is named."""
    return [Shipped(**json.loads(_sealed(file))) for file in sorted(FOLDER.glob(f"*/{ABOUT}"))]


def write_about(folder: Path, content: str) -> None:
    """Write `about.json` with its checksum beside it."""
    (folder / ABOUT).write_text(content, encoding="utf-8")
    (folder / SEAL).write_text(
        f"{hashlib.sha256((folder / ABOUT).read_bytes()).hexdigest()}  {ABOUT}\n", encoding="utf-8"
    )


def find_run(run: PathLike[str] | str | None) -> Path:
    """Return the path of a run: of a folder, of a shipped model by its name, or of the first shipped model for None."""
    name = None if run is None else fspath(run)
    if name is not None and (Path(name).is_dir() or Path(name).name != name):
        return Path(name)
    models = shipped_models()
    if name is None:
        if not models:
            raise ManyheadsError(
                "no model comes with this package.", where="--model", cure="Name a run folder: --model runs/mine"
            )
        return models[0].check()
    return next((model.check() for model in models if _is_named(model, name)), Path(name))


def _sealed(file: Path) -> bytes:
    """Return the content of an `about.json` that has the checksum beside it."""
    try:
        content, seal = file.read_bytes(), file.with_name(SEAL).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise _changed(file.with_name(SEAL)) from None
    if seal != _seal(content):
        raise _changed(file)
    return content


def _seal(about: bytes) -> str:
    """Return the content of the file beside an `about.json`, as `sha256sum` writes it."""
    return f"{hashlib.sha256(about).hexdigest()}  {ABOUT}\n"


def _changed(file: Path) -> ManyheadsError:
    """Return the error for a file that is not as it was shipped."""
    return ManyheadsError("this file is not as it was shipped.", where=str(file), cure="Install the package once more.")


def _is_named(model: Shipped, name: str) -> bool:
    """Whether a name is that of a model, or of one that it replaces, which is noted."""
    if name in model.replaces:
        warnings.warn(f"the model '{name}' was replaced by '{model.name}', which is used.", Notice, stacklevel=4)
    return name == model.name or name in model.replaces
