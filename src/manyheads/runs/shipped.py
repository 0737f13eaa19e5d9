"""Models that come with the package: found by name, and checked against their checksums before they are used.

Each is a run folder below `manyheads/shipped`, with one more file, `about.json`, that says what it is.
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
                raise ManyheadsError(
                    "this file is not as it was shipped.", where=str(file), cure="Install the package once more."
                )
        return self.path


def shipped_models() -> list[Shipped]:
    """Return the models that come with the package; the first is the one to take where none is named."""
    files = sorted(FOLDER.glob(f"*/{ABOUT}"))
    return [Shipped(**json.loads(file.read_text(encoding="utf-8"))) for file in files]


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


def _is_named(model: Shipped, name: str) -> bool:
    """Whether a name is that of a model, or of one that it replaces, which is noted."""
    if name in model.replaces:
        warnings.warn(f"the model '{name}' was replaced by '{model.name}', which is used.", Notice, stacklevel=4)
    return name == model.name or name in model.replaces
