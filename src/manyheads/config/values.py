"""The kinds of values that recipes have, and the base of every section."""

from __future__ import annotations

from pathlib import PureWindowsPath
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from manyheads.bounded.machine import as_bytes


def _no_truth_value(value: object) -> object:
    """Reject true and false for a number: YAML reads yes and on as true, and Python reads true as 1."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not yes or no")
    return value


def _switch(value: object) -> object:
    """Turn true and false back into on and off, which YAML reads as true and false."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


LONGEST_NAME = 100
WIDEST_BEAM, USUAL_VOCABULARY = 10_000, 8000
LARGEST = 2**63 - 1  # of whole numbers: tensors and files have no more elements


def _plain(name: str) -> str:
    """Check that a name is a plain name of a folder (runs/NAME): not a path, not hidden, not too long."""
    if not 1 <= len(name) <= LONGEST_NAME:
        raise ValueError(f"a name has 1 to {LONGEST_NAME} characters")
    if name[0] in ". " or name[-1] == " ":
        raise ValueError("a name begins with neither a dot nor a space, and does not end in a space")
    if not name.isprintable():
        raise ValueError("a name has no tabs, line breaks or other characters that cannot be printed")
    if PureWindowsPath(name).name != name:  # these have all the separators that other paths have, and drives
        raise ValueError("a name is not a path: it has neither / nor \\, and does not begin with a drive such as C:")
    return name


def plain_name(text: str) -> str:
    """Return a valid name that resembles a text, such as the name of a file; "run" if nothing of it is valid."""
    allowed = "".join(letter if letter.isprintable() and letter not in "/\\:" else "-" for letter in text)
    return allowed.strip(" .")[:LONGEST_NAME].strip() or "run"


Name = Annotated[str, AfterValidator(_plain)]
Number = BeforeValidator(_no_truth_value)
Switch = Annotated[Literal["auto", "on", "off"], BeforeValidator(_switch)]
Positive = Annotated[int, Number, Field(ge=1, le=LARGEST)]
Natural = Annotated[int, Number, Field(ge=0, le=LARGEST)]
Seed = Annotated[int, Field(ge=-LARGEST - 1, le=2 * LARGEST + 1)]
"""What PyTorch's generators take: 64 bits, with or without a sign."""
Probability = Annotated[float, Number, Field(ge=0.0, lt=1.0)]
Metric = Literal["loss", "bleu", "chrf", "chrf++", "ter", "exact_match", "word_error_rate", "symbol_error_rate"]
OVERLAP_METRICS: tuple[Metric, ...] = ("bleu", "chrf", "chrf++", "ter")
"""Those of sacreBLEU, which compare all outputs together with one reference each."""


def check_beam(beam: int) -> int:
    """Return the width of a beam; raise a `ValueError` for one that no machine can search with."""
    if beam > WIDEST_BEAM:
        needed = as_bytes(beam * USUAL_VOCABULARY * 4)
        raise ValueError(
            f"a beam of {beam:,} is too wide: its scores of one token would take {needed} of memory with "
            f"{USUAL_VOCABULARY:,} pieces; the widest is {WIDEST_BEAM:,}"
        )
    return beam


class Settings(BaseModel):
    """The base of every section: unknown keys are an error, and values are immutable after validation."""

    # A section is built when it is first used: nested ones never by themselves, those of other tasks not at all.
    model_config = ConfigDict(
        extra="forbid", frozen=True, protected_namespaces=(), defer_build=True, allow_inf_nan=False
    )
