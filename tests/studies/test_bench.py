"""The bench: what is recorded is never measured again, and a study that was killed gives the same result."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from pathlib import Path

import pytest
import torch
from tiny import Squares

from manyheads.errors import ManyheadsError
from manyheads.studies.bench import run_study


def times_measured(folder: Path) -> dict[str, int]:
    """Return how often each item was measured, finished or not."""
    return {run.name: len(list(run.iterdir())) for run in (folder / "runs").iterdir()}


def written(folder: Path) -> dict[str, bytes]:
    """Return the files of a report that do not depend on time."""
    return {name: (folder / name).read_bytes() for name in ("table.md", "figure.png", "figure.svg")}


def test_a_report_has_what_was_concluded(tmp_path: Path):
    lines: list[str] = []
    result = run_study(Squares(), out=tmp_path, tell=lines.append)
    report = json.loads((tmp_path / "result.json").read_text())
    assert report == json.loads(json.dumps(result.to_json()))
    assert [entry["record"]["square"] for entry in report["entries"]] == [number**2 for number in range(1, 7)]
    assert "| 6 | 36 |" in (tmp_path / "table.md").read_text()
    assert "The largest is 36. That is certain." in (tmp_path / "table.md").read_text()
    assert len(lines) == 6
    assert all("left" in line for line in lines[:-1])


def test_what_is_recorded_is_not_measured_again(tmp_path: Path):
    run_study(Squares(), quick=True, out=tmp_path)
    lines: list[str] = []
    run_study(Squares(), out=tmp_path, tell=lines.append)
    assert lines[0].startswith("3 of 6")
    assert set(times_measured(tmp_path).values()) == {1}


@pytest.mark.parametrize("parallel", [1, 2])
def test_a_study_that_was_killed_goes_on_and_gives_the_same(tmp_path: Path, parallel: int):
    run_study(Squares(), out=tmp_path / "whole")
    arguments = {"out": tmp_path / "killed", "parallel": parallel}
    begun = multiprocessing.get_context("spawn").Process(
        target=run_study, args=(Squares(killed_at=4),), kwargs=arguments
    )
    begun.start()
    begun.join()
    assert begun.exitcode == (-signal.SIGKILL if parallel == 1 else 1)  # or one of its own processes was killed
    (tmp_path / "killed" / "records" / ".number-4.json.0123456789abcdef.draft").touch()
    recorded = {file.stem for file in (tmp_path / "killed" / "records").glob("*.json")}
    assert "number-4" not in recorded
    before = times_measured(tmp_path / "killed")
    run_study(Squares(killed_at=4), **arguments)
    assert written(tmp_path / "killed") == written(tmp_path / "whole")
    after = times_measured(tmp_path / "killed")
    assert {name for name, times in after.items() if times > before.get(name, 0)} == set(after) - recorded
    assert not list((tmp_path / "killed" / "records").glob(".*"))


def test_processes_measure_side_by_side_with_one_thread(tmp_path: Path):
    threads = torch.get_num_threads()
    result = run_study(Squares(), out=tmp_path, parallel=2)
    processes = {entry.record["process"] for entry in result.entries}
    assert os.getpid() not in processes
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("parallel", [1, 2])
def test_an_error_ends_the_study_and_what_was_measured_stays(tmp_path: Path, parallel: int):
    with pytest.raises(ArithmeticError, match="number-3"):
        run_study(Squares(broken_at=3), out=tmp_path, parallel=parallel)
    assert (tmp_path / "records" / "number-1.json").exists()
    run_study(Squares(), out=tmp_path)


def test_records_of_another_study_are_refused(tmp_path: Path):
    run_study(Squares(), out=tmp_path)
    file = tmp_path / "records" / "number-2.json"
    file.write_text(file.read_text().replace('"number": 2', '"number": 22'))
    with pytest.raises(ManyheadsError, match=r"number-2\.json: .* of another study, .* with --out"):
        run_study(Squares(), out=tmp_path)
    file.write_text('{"square": 4}')
    with pytest.raises(ManyheadsError, match=r"number-2\.json: .* not a record .* Remove it"):
        run_study(Squares(), out=tmp_path)
    file.unlink()
    run_study(Squares(), out=tmp_path)
