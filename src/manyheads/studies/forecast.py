"""A forecast: which score to expect of a training on some data, after how long, and whether that came true."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from manyheads.bounded.files import MOST_RECORDS, read_bytes
from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import Score
from manyheads.runs.atomic import write_file
from manyheads.runs.folder import RunFolder
from manyheads.runs.inputs import InputRecord
from manyheads.studies.conclusion import Table
from manyheads.studies.statistics import Estimate

SHOWN = (1.0, 3.0, 10.0)  # hours
MORE = 10_000  # pairs


class _Part(BaseModel):
    """A part of a forecast, kept as JSON."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TinyRun(_Part):
    """A run that a forecast was made from: its sizes, what it learned from, and what it reached."""

    width: int
    parameters: int
    pairs: int
    tokens: int
    loss: float
    score: float

    def __str__(self) -> str:
        return f"{self.pairs:,} pairs, width {self.width}: loss {self.loss:.2f}, score {self.score:.1f}"


class Expected(_Part):
    """What `train` is expected to reach in a time, with the size that it would choose, as far as data was given.

    `more` is what 10,000 more pairs would add.
    """

    hours: float
    width: int
    parameters: int
    tokens: int
    score: Estimate
    more: Estimate


class Forecast(_Part):
    """What to expect of a training on some data on this machine.

    `data` has the checksums of its files. Beyond `enough`, a width, larger models gain nothing from this data.
    """

    name: str
    data: tuple[str, ...]
    pairs: int
    metric: str
    minutes: float
    runs: tuple[TinyRun, ...]
    expected: tuple[Expected, ...]
    enough: int
    is_largest: bool

    def save(self, file: Path) -> None:
        """Write the forecast as JSON."""
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, self.model_dump_json(indent=1) + "\n")

    def after(self, hours: float) -> Estimate | None:
        """Return the score to expect after a time; None for times beyond those of the forecast."""
        times = [one.hours for one in self.expected]
        if not times[0] * 0.999 <= hours <= times[-1] * 1.001:
            return None
        scores = [one.score for one in self.expected]
        value, low, high = (
            float(np.interp(np.log(hours), np.log(times), [getattr(one, name) for one in scores]))
            for name in ("value", "low", "high")
        )
        return Estimate(value, low, high)

    def verdict(self, run: RunFolder, score: Score) -> str:
        """Return how wrong the forecast was for a run that has ended with a score, as a sentence."""
        inputs, minutes = run.inputs(), run.recipe().training.minutes
        if inputs is None or checksums(inputs.files) != self.data:
            return "The forecast was made for other data, so it is not compared."
        if score.name != self.metric or minutes is None:
            return f"The forecast is for {self.metric} after a time, so it is not compared."
        expected = self.after(minutes / 60)
        if expected is None:
            first, last = self.expected[0].hours, self.expected[-1].hours
            return f"The forecast is for {60 * first:g} minutes to {last:g} hours, so it is not compared."
        difference = score.value - expected.value
        inside = expected.low <= score.value <= expected.high
        return (
            f"Forecast: {_band(expected)} {self.metric}; reached: {score.value:.1f}, which is {abs(difference):.1f} "
            f"{'more' if difference > 0 else 'less'} and {'inside' if inside else 'outside'} the band."
        )

    def __str__(self) -> str:
        shown = [one for one in self.expected if one.hours in SHOWN]
        rows = tuple((f"{one.hours:g} h", one.width, _band(one.score), _band(one.more, sign="+")) for one in shown)
        columns = ("time", "width", self.metric, f"{MORE:,} more pairs")
        table = Table("What to expect on this machine, with 95 % bands", columns, rows)
        gain = (
            f"The largest size, a width of {self.enough}, still gains from these {self.pairs:,} pairs."
            if self.is_largest
            else f"Beyond a width of {self.enough}, larger models gain nothing from these {self.pairs:,} pairs."
        )
        return f"{table.markdown()}\n{gain}\n"


def load_forecast(file: Path) -> Forecast:
    """Read a forecast."""
    try:
        return Forecast.model_validate_json(read_bytes(file, most=MOST_RECORDS))
    except FileNotFoundError:
        raise ManyheadsError("there is no such forecast.", where=str(file), cure=_CURE) from None
    except ValidationError:
        raise ManyheadsError("this is not a forecast.", where=str(file), cure=_CURE) from None


def checksums(files: Sequence[InputRecord]) -> tuple[str, ...]:
    """Return the checksums of the training files of a run."""
    return tuple(sorted(one.sha256 for one in files if one.role == "training"))


def _band(estimate: Estimate, *, sign: str = "") -> str:
    """Return a score with its band."""
    return "{} [{}, {}]".format(*(f"{one:{sign}.1f}" for one in (estimate.value, estimate.low, estimate.high)))


_CURE = "Make one with: manyheads plan --source FILE --target FILE"
