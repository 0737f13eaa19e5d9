"""A checkpoint is complete or not there, is verified when it is read, and is kept as long as it should be."""

import json
from pathlib import Path

import numpy as np
import pytest

from manyheads.errors import ManyheadsError
from manyheads.training.state.checkpoint import (
    MODEL,
    OPTIMISER,
    STATE,
    Progress,
    Snapshot,
    checkpoint_folders,
    load_checkpoint,
    newest_checkpoint,
    prune_checkpoints,
    save_checkpoint,
)


def saved(folder: Path, step: int) -> Path:
    """Save a checkpoint whose arrays show its step."""
    progress = Progress(
        step=step, best_step=min(5, step), best_score=1.5, without_improvement=2, versions={"torch": "2"}
    )
    model = {"weight": np.full((2, 3), step, dtype=np.float32)}
    return save_checkpoint(folder, progress, Snapshot(model, {"exp_avg.weight": model["weight"] / 2}))


def steps(folder: Path) -> list[int]:
    return [int(path.name.removeprefix("step-")) for path in checkpoint_folders(folder)]


def test_a_checkpoint_survives_its_files(tmp_path: Path):
    place = saved(tmp_path, 12)
    assert place == tmp_path / "step-00000012"
    found = load_checkpoint(place)
    assert found.progress == Progress(
        step=12, best_step=5, best_score=1.5, without_improvement=2, versions={"torch": "2"}
    )
    assert (found.snapshot.model["weight"] == 12).all()
    assert (found.snapshot.optimiser["exp_avg.weight"] == 6).all()
    assert found.folder == place


def test_a_checkpoint_of_the_same_step_is_replaced(tmp_path: Path):
    place = saved(tmp_path, 3)
    (place / MODEL).write_bytes(b"damaged")
    saved(tmp_path, 3)
    assert (load_checkpoint(place).snapshot.model["weight"] == 3).all()
    assert [path.name for path in tmp_path.iterdir()] == [place.name]


def test_checkpoints_are_listed_by_step(tmp_path: Path):
    for step in (100_000_000, 9, 10):
        saved(tmp_path, step)
    (tmp_path / "step-draft").mkdir()
    (tmp_path / ".step-00000011.77").mkdir()
    assert steps(tmp_path) == [9, 10, 100_000_000]
    assert steps(tmp_path / "no") == []


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "a bit of the model": lambda place: flip(place / MODEL),
    "a bit of the optimiser": lambda place: flip(place / OPTIMISER),
    "half of the model": lambda place: (place / MODEL).write_bytes((place / MODEL).read_bytes()[:-20]),
    "no model": lambda place: (place / MODEL).unlink(),
    "no optimiser": lambda place: (place / OPTIMISER).unlink(),
    "no state": lambda place: (place / STATE).unlink(),
    "empty state": lambda place: (place / STATE).write_bytes(b""),
    "state of zeros": lambda place: (place / STATE).write_bytes(bytes(200)),
    "half of the state": lambda place: (place / STATE).write_text((place / STATE).read_text()[:-30]),
    "state of another kind": lambda place: (place / STATE).write_text('{"step": 3}'),
    "state without checksums": lambda place: (place / STATE).write_text('{"step": 3, "sha256": {}}'),
    "state that is a list": lambda place: (place / STATE).write_text("[]"),
    "state that is null": lambda place: (place / STATE).write_text("null"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_refused_and_the_one_before_taken(tmp_path: Path, damage: str):
    saved(tmp_path, 1)
    saved(tmp_path, 2)
    newest = saved(tmp_path, 3)
    DAMAGES[damage](newest)
    with pytest.raises(ManyheadsError) as caught:
        load_checkpoint(newest)
    assert str(newest) in str(caught.value)
    said: list[str] = []
    found = newest_checkpoint(tmp_path, tell=said.append)
    assert found is not None
    assert found.progress.step == 2
    assert len(said) == 1
    assert str(newest) in said[0]
    assert said[0].endswith("Falling back to the checkpoint before it.")


def test_when_all_are_damaged_it_is_an_error(tmp_path: Path):
    for step in (1, 2):
        flip(saved(tmp_path, step) / MODEL)
    said: list[str] = []
    with pytest.raises(ManyheadsError, match=r"none of the 2 checkpoints .*backup.*--out") as caught:
        newest_checkpoint(tmp_path, tell=said.append)
    assert caught.value.where == str(tmp_path)
    assert len(said) == 2
    assert "step-00000002" in said[0]
    assert "step-00000001" in said[1]


def test_without_checkpoints_there_is_none(tmp_path: Path):
    assert newest_checkpoint(tmp_path, tell=pytest.fail) is None


def test_drafts_of_a_killed_process_are_passed_over(tmp_path: Path):
    saved(tmp_path, 1)
    (tmp_path / ".step-00000002.4711").mkdir()
    (tmp_path / ".step-00000002.4711" / MODEL).write_bytes(b"half")
    found = newest_checkpoint(tmp_path, tell=pytest.fail)
    assert found is not None
    assert found.progress.step == 1


@pytest.mark.parametrize("keep", [{4, 5}, {1, 5}, {1, 2, 3, 4, 5}, {5, 77}])
def test_what_is_to_be_kept_is_kept_and_nothing_else(tmp_path: Path, keep: set[int]):
    for step in range(1, 6):
        saved(tmp_path, step)
    prune_checkpoints(tmp_path, keep=keep)
    left = sorted(keep & set(range(1, 6)))
    assert steps(tmp_path) == left
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"step-{step:08d}" for step in left]


def test_a_checkpoint_has_no_pickle(tmp_path: Path):
    place = saved(tmp_path, 1)
    assert sorted(path.name for path in place.iterdir()) == [MODEL, OPTIMISER, STATE]
    assert json.loads((place / STATE).read_text())["step"] == 1
    for name in (MODEL, OPTIMISER):
        header = int.from_bytes((place / name).read_bytes()[:8], "little")
        assert json.loads((place / name).read_bytes()[8 : 8 + header])


# --- The state -------------------------------------------------------------------------------------------------------


def change_state(place: Path, *, whole: bool = False, **changes: object) -> None:
    """Change values of a state; `whole` leaves it without the checksum of its own, as earlier versions wrote it."""
    state = {**json.loads((place / STATE).read_text()), **changes}
    if whole:
        del state["checksum"]
    (place / STATE).write_text(json.dumps(state))


def test_a_state_is_covered_by_a_checksum_of_its_own(tmp_path: Path):
    place = saved(tmp_path, 3)
    change_state(place)
    assert load_checkpoint(place).progress.step == 3, "the order and the spaces of JSON do not matter"
    change_state(place, batches=1)
    with pytest.raises(ManyheadsError, match=r"state\.json: this checkpoint's state is damaged"):
        load_checkpoint(place)


def test_a_state_of_an_earlier_version_is_taken(tmp_path: Path):
    place = saved(tmp_path, 7)
    change_state(place, whole=True)
    assert load_checkpoint(place).progress.step == 7


@pytest.mark.parametrize(
    "changes",
    [
        {"step": -1},
        {"step": 3.0},
        {"step": "3"},
        {"step": 10**400},
        {"step": 4},
        {"batches": -1},
        {"batches": True},
        {"best_step": 99},
        {"best_score": float("inf")},
        {"best_score": float("nan")},
        {"best_score": "1.5"},
        {"without_improvement": None},
        {"scores": {"three": 1.0}},
        {"scores": {"3": float("nan")}},
        {"scores": []},
        {"versions": {"torch": 2}},
        {"sha256": {"model.safetensors": "12"}},
        {"sha256": None},
        {"unknown": 1},
    ],
)
def test_a_state_that_cannot_be_is_refused(tmp_path: Path, changes: dict[str, object]):
    place = saved(tmp_path, 3)
    change_state(place, whole=True, **{"best_step": 3, **changes})
    with pytest.raises(ManyheadsError, match=r"state\.json: this"):
        load_checkpoint(place)


def test_a_score_that_is_not_a_number_keeps_no_checkpoint_from_being_read(tmp_path: Path):
    progress = Progress(step=3, best_step=3, best_score=float("nan"), scores={"2": 1.0, "3": float("inf")})
    place = save_checkpoint(tmp_path, progress, Snapshot({}, {}))
    assert load_checkpoint(place).progress == Progress(step=3, scores={"2": 1.0})
