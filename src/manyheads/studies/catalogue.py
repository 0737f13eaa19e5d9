"""The names of all studies, and where they are."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from manyheads.errors import ManyheadsError, did_you_mean
from manyheads.studies.study import Study

_PLACES = {
    "complexity": "Complexity",
    "path-length": "PathLength",
    "gradients": "Gradients",
    "positions": "Positions",
    "norms": "Norms",
    "heads": "Heads",
    "scaling": "Scaling",
    "ablations": "Ablations",
    "algorithms": "Algorithms",
}
"""The class of each study, in the file of the study's name."""


def study_named(name: str) -> Study[Any]:
    """Return a study, or raise an error that suggests a name."""
    if name not in _PLACES:
        raise ManyheadsError(f"there is no study '{name}'.", cure=did_you_mean(name, _PLACES))
    module = import_module(f"manyheads.studies.{name.replace('-', '_')}")
    study: Study[Any] = getattr(module, _PLACES[name])()
    return study


def all_studies() -> list[Study[Any]]:
    """Return every study."""
    return [study_named(name) for name in _PLACES]
