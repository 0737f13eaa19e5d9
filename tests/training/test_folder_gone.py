"""A running training whose folder is renamed or deleted says so, and saves what it has learned beside it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from manyheads.training.progress import Reporter

Command = Callable[..., Any]
LAST = 12  # steps


@pytest.fixture
def at_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], Any]], None]:
    """`at_step(5, act)` acts during step 5."""

    def plan(step: int, act: Callable[[], Any]) -> None:
        update = Reporter.update

        def acting(self: Reporter, at: int, facts: str) -> None:
            update(self, at, facts)
            if at == step:
                monkeypatch.setattr(Reporter, "update", update)
                act()

        monkeypatch.setattr(Reporter, "update", acting)

    return plan


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")  # TensorBoard writes in a thread
@pytest.mark.parametrize("step", [1, 3, 6, 8, LAST])
@pytest.mark.parametrize("act", ["renamed", "deleted", "replaced"])
def test_what_was_learned_is_saved_beside_it(
    tmp_path: Path,
    command: Command,
    sprint: Callable[..., Path],
    at_step: Callable[..., None],
    step: int,
    act: str,
):
    run, recipe = tmp_path / "run", sprint({"validation.every": 6})
    command("train", recipe, "--out", tmp_path / "whole").succeeds()

    def happen() -> None:
        run.rename(tmp_path / "elsewhere")
        if act == "deleted":
            shutil.rmtree(tmp_path / "elsewhere")
        if act == "replaced":
            run.mkdir()
            (run / "other").write_text("not a part of the run")

    at_step(step, happen)
    words = ("run: this folder was renamed or deleted", "run.rescued-1", "--out")
    result = command("train", recipe, "--out", run)
    result.refuses(*words)
    assert run.exists() == (act == "replaced")
    rescued = tmp_path / "run.rescued-1"
    assert f"Continuing from step {step} " in command("train", recipe, "--out", rescued).succeeds() or step == LAST
    assert (rescued / "model.safetensors").read_bytes() == (tmp_path / "whole" / "model.safetensors").read_bytes()
