"""Forecasts: laws with priors on made-up runs, a plan for an invented language, and what came true."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manyheads
from manyheads.errors import ManyheadsError
from manyheads.metrics.scores import Score
from manyheads.runs.folder import RunFolder
from manyheads.runs.inputs import InputRecord, Inputs
from manyheads.studies import plan as planning
from manyheads.studies.forecast import Expected, Forecast, TinyRun, load_forecast
from manyheads.studies.outlook import DEVIATIONS, MEANS, REFERENCE, Outlook, estimate
from manyheads.studies.power_laws import JOINT_IN_TIME
from manyheads.studies.statistics import Estimate
from manyheads.training import defaults, fitting
from manyheads.training import planning as training_planning
from manyheads.training.files import Files
from manyheads.training.fitting import SCALES, Scale

Command = Callable[..., Any]
WORDS = {"red": "rot", "green": "grün", "house": "Haus", "street": "Straße", "sees": "sieht", "buys": "kauft"}


# --- Laws ------------------------------------------------------------------------------------------------------------

TRUTH = MEANS + 0.7 * DEVIATIONS * [1, -1, -1, 1, 1, -1]
SCORE = 4.6, 0.75
TINY = [(600_000, 29_000, 1e5), (600_000, 29_000, 4e5), (600_000, 1500, 2e5), (600_000, 400, 2e5), (1e6, 29_000, 5e5)]
LARGE = (3e6, 29_000, 2e7)


def reached(size: float, pairs: float, tokens: float) -> tuple[float, float]:
    """Return the loss and the score of a made-up run."""
    point = np.exp(np.log([[size, pairs, tokens]]) - REFERENCE)
    loss = float(np.exp(JOINT_IN_TIME.log_value(TRUTH[None], point))[0, 0])
    return loss, float(np.exp(SCORE[0] - SCORE[1] * loss))


def tiny_runs() -> list[TinyRun]:
    found = []
    for size, pairs, tokens in TINY:
        loss, score = reached(size, pairs, tokens)
        found.append(TinyRun(width=96, parameters=int(size), pairs=pairs, tokens=int(tokens), loss=loss, score=score))
    return found


def test_a_large_run_is_forecast_and_tiny_ones_narrow_the_band():
    runs = tiny_runs()
    known, prior = (estimate(Outlook.of(some, "bleu").score(*LARGE)) for some in (runs, runs[:1]))
    _, truth = reached(*LARGE)
    assert known.low < truth < known.high
    assert known.high - known.low < prior.high - prior.low


def test_more_of_anything_is_never_worse():
    outlook = Outlook.of(tiny_runs(), "bleu")
    size, pairs, tokens = LARGE
    for more in ((2 * size, pairs, tokens), (size, 2 * pairs, tokens), (size, pairs, 2 * tokens)):
        assert (outlook.score(*more) >= outlook.score(*LARGE)).all()


# --- What came true --------------------------------------------------------------------------------------------------


def forecast(**changes: object) -> Forecast:
    """Return a forecast that rises by ten points from one hour to ten."""
    expected = [
        Expected(
            hours=hours,
            width=96,
            parameters=600_000,
            tokens=1,
            score=Estimate(middle, middle - 2, middle + 2),
            more=Estimate(1.0, 0.5, 1.5),
        )
        for hours, middle in ((1.0, 20.0), (10.0, 30.0))
    ]
    values: dict[str, Any] = {"name": "p", "data": ("b", "c"), "pairs": 9, "metric": "bleu", "minutes": 1.0, "runs": ()}
    return Forecast(**{**values, "expected": tuple(expected), "enough": 192, "is_largest": False, **changes})


class Ended(RunFolder):
    """A run that has ended, as far as a forecast looks at it."""

    def __init__(self, minutes: float | None, *sums: str) -> None:
        super().__init__(Path("run"))
        self.minutes, self.sums = minutes, sums

    def inputs(self) -> Inputs:
        facts = {"given": "f", "name": "f", "bytes": 1, "lines": 1}
        return Inputs(files=tuple(InputRecord(role="training", sha256=one, **facts) for one in self.sums))

    def recipe(self) -> Any:
        return type("Recipe", (), {"training": type("Training", (), {"minutes": self.minutes})})


@pytest.mark.parametrize(
    ("run", "score", "said"),
    [
        (Ended(60, "c", "b"), Score("bleu", 21.5), "20.0 [18.0, 22.0] bleu; reached: 21.5, which is 1.5 more and in"),
        (Ended(600, "c", "b"), Score("bleu", 27.0), "reached: 27.0, which is 3.0 less and outside the band"),
        (Ended(189.7, "c", "b"), Score("bleu", 25.0), "25.0 [23.0, 27.0]"),
        (Ended(60, "b"), Score("bleu", 21.5), "made for other data"),
        (Ended(60, "b", "c"), Score("chrf", 21.5), "is for bleu"),
        (Ended(None, "b", "c"), Score("bleu", 21.5), "after a time"),
        (Ended(5, "b", "c"), Score("bleu", 21.5), "for 60 minutes to 10 hours, so it is not compared"),
    ],
)
def test_a_forecast_says_how_wrong_it_was(run: RunFolder, score: Score, said: str):
    assert said in forecast().verdict(run, score)


def test_a_forecast_is_kept_as_it_is(tmp_path: Path):
    forecast().save(tmp_path / "deep" / "plan.json")
    assert load_forecast(tmp_path / "deep" / "plan.json") == forecast()
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ManyheadsError, match="not a forecast"):
        load_forecast(tmp_path / "other.json")
    with pytest.raises(ManyheadsError, match="no such forecast"):
        load_forecast(tmp_path / "none.json")


def test_a_forecast_is_shown_as_a_table():
    shown = str(forecast())
    assert "| 10 h | 96 | 30.0 [28.0, 32.0] | +1.0 [+0.5, +1.5] |" in shown
    assert "Beyond a width of 192, larger models gain nothing from these 9 pairs." in shown
    assert "still gains" in str(forecast(is_largest=True))


# --- A plan ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Write an invented corpus of 1,200 pairs of different words, so that it looks like sentences."""
    chance, folder = random.Random(1), tmp_path_factory.mktemp("corpus")
    rows = [[*chance.choices(sorted(WORDS), k=chance.randint(4, 8)), f"n{number}"] for number in range(1200)]
    source, target = folder / "train.en", folder / "train.de"
    source.write_text("".join(" ".join(row) + "\n" for row in rows))
    target.write_text("".join(" ".join(WORDS.get(word, word) for word in row) + "\n" for row in rows))
    return source, target


def test_a_plan_is_printed_kept_and_compared_with_what_came_true(
    command: Command, corpus: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    sizes = (Scale(16, 2, 1, 1, 32), Scale(24, 2, 1, 1, 48))
    shares = [share._replace(scale=sizes[share.scale != SCALES[0]]) for share in planning.SHARES]
    for place in (planning, defaults, fitting):
        monkeypatch.setattr(place, "SCALES", sizes)
    for place in (planning, training_planning):
        monkeypatch.setattr(place, "SHORTEST_PROBE", 0.01)
    monkeypatch.setattr(training_planning, "PROBE", 0.0)
    monkeypatch.setattr(planning, "SHARES", shares)
    monkeypatch.setattr(planning, "LEAST_SECONDS", 0.5)
    monkeypatch.setattr(planning, "HOURS", (0.001, 1.0, 3.0, 10.0))
    files = ("--source", corpus[0], "--target", corpus[1])
    file = tmp_path / "plan.json"
    printed = command("plan", *files, "--minutes", 0.1, "--out", file).out
    kept = load_forecast(file)
    assert printed.startswith(str(kept))
    assert f"--plan {file}" in printed
    assert kept.pairs == 1140
    assert [run.pairs for run in kept.runs].count(1140) == 3
    assert all(run.pairs <= 570 for run in kept.runs if run.pairs != 1140)
    assert [one.hours for one in kept.expected] == [0.001, 1.0, 3.0, 10.0]
    said = command("train", *files, "--max-minutes", 0.06, "--out", tmp_path / "run", "--plan", file)
    assert "Forecast: " in said.err
    assert "the band" in said.err


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([f"a b c d e{number}" for number in range(90)], "at least 1,000 pairs to learn from, and there are 86"),
        (["yes" if number % 2 else "no" for number in range(400)], "judged by exact_match"),
    ],
)
def test_what_cannot_be_forecast_is_refused(rows: list[str], said: str, tmp_path: Path):
    for name, lines in (("a.en", [f"{number} of it" for number in range(len(rows))]), ("a.de", rows)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    with pytest.raises(ManyheadsError, match=said):
        manyheads.plan(Files(source=tmp_path / "a.en", target=tmp_path / "a.de"))
    with pytest.raises(ManyheadsError, match="one direction"):
        manyheads.plan(Files(source=tmp_path / "a.en", target=tmp_path / "a.de", both=True))


def test_json_is_the_forecast(command: Command, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(planning, "plan", lambda *_, **__: forecast())
    assert Forecast.model_validate(json.loads(command("plan", "--pairs", "p.tsv", "--json").out)) == forecast()
