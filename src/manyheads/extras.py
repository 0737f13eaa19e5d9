"""Packages that only some uses need, and the extra that installs each.

`pip install manyheads` translates and serves with CTranslate2. Everything that computes with PyTorch, draws pictures or
exchanges models needs an extra, and says which where it is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from manyheads.errors import ManyheadsError

EXTRAS = {
    "torch": "train",
    "babel": "train",
    "sacrebleu": "train",
    "matplotlib": "plots",
    "fastapi": "serve",
    "uvicorn": "serve",
    "multipart": "serve",
    "prometheus_client": "serve",
    "tokenizers": "huggingface",
    "transformers": "huggingface",
    "tensorboard": "tensorboard",
    "opencc": "chinese",
}


class MissingPackageError(ManyheadsError):
    """A package that an extra installs is not there."""

    def __init__(self, name: str, *, what: str = "this") -> None:
        cure = f"Install it with: pip install 'manyheads[{EXTRAS[name]}]'"
        super().__init__(f"{what} needs the library '{name}', which is not installed.", cure=cure)


@contextmanager
def naming_extras(what: str = "this") -> Iterator[None]:
    """Where an import within the block fails for want of an extra, raise an error that names it."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = missing_package(error)
        if name is None:
            raise
        raise MissingPackageError(name, what=what) from None


def missing_package(error: BaseException) -> str | None:
    """Return the package of an extra whose import failed, if that is the error."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return name if name in EXTRAS else None
