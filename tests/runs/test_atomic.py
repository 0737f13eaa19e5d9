"""Files and folders appear complete or not at all, whatever happens while they are written."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from manyheads.errors import ManyheadsError
from manyheads.runs.atomic import leftovers, new_file, new_folder, remove_folder, remove_leftovers, write_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def small_files(limit: int) -> Iterator[None]:
    """Let no file of this process grow beyond a limit: what a full disk does, without filling one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_is_replaced(tmp_path: Path):
    path = tmp_path / "file"
    write_file(path, "größer")
    assert path.read_text(encoding="utf-8") == "größer"
    write_file(path, b"\0\1")
    assert path.read_bytes() == b"\0\1"
    assert names(tmp_path) == ["file"]


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path):
    path = tmp_path / "file"
    write_file(path, "before")
    with small_files(1000), pytest.raises(ManyheadsError, match=r"cannot be written: File too large") as caught:
        write_file(path, bytes(5000))
    assert caught.value.where == str(path)
    assert "What was written before is intact" in str(caught.value.cure)
    assert path.read_text() == "before"
    assert names(tmp_path) == ["file"]


def test_a_file_in_a_folder_that_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(ManyheadsError, match="No such file or directory"):
        write_file(tmp_path / "no" / "file", "x")


def test_a_reader_never_sees_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "file"
    write_file(path, "before")
    seen: list[str] = []
    synchronise = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (seen.append(path.read_text()), synchronise(number))[1])
    write_file(path, "after")
    assert seen == ["before", "after"], "the content is on the disk before the name is, and then the name too"


def test_a_folder_appears_when_it_is_complete(tmp_path: Path):
    path = tmp_path / "folder"
    with new_folder(path) as draft:
        (draft / "a").write_text("1")
        assert not path.exists()
    assert (path / "a").read_text() == "1"
    assert names(tmp_path) == ["folder"]


def test_a_folder_takes_the_place_of_the_one_before(tmp_path: Path):
    path = tmp_path / "folder"
    for name in ("a", "b"):
        with new_folder(path) as draft:
            (draft / name).write_text(name)
    assert names(path) == ["b"]
    assert names(tmp_path) == ["folder"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_folder_that_fails_leaves_the_one_before(tmp_path: Path, error: type[BaseException]):
    path = tmp_path / "folder"
    with new_folder(path) as draft:
        (draft / "a").write_text("1")
    with pytest.raises(error), new_folder(path) as draft:
        (draft / "b").write_text("2")
        raise error
    assert names(path) == ["a"]
    assert names(tmp_path) == ["folder"]


def test_a_full_disk_leaves_the_folder_as_it_was(tmp_path: Path):
    path = tmp_path / "folder"
    with new_folder(path) as draft:
        (draft / "a").write_text("1")
    with (
        small_files(1000),
        pytest.raises(ManyheadsError, match=r"cannot be written: File too large"),
        new_folder(path) as draft,
    ):
        (draft / "b").write_bytes(bytes(5000))
    assert names(path) == ["a"]
    assert names(tmp_path) == ["folder"]


def test_a_folder_is_removed(tmp_path: Path):
    path = tmp_path / "folder"
    (path / "inner").mkdir(parents=True)
    remove_folder(path)
    remove_folder(path)  # what is gone already is no error
    assert names(tmp_path) == []


def test_leftovers_are_removed_and_nothing_else(tmp_path: Path):
    (tmp_path / "step-1").mkdir()
    (tmp_path / "metrics.jsonl").touch()
    (tmp_path / ".step-2.123").mkdir()
    (tmp_path / ".step-2.123" / "model").touch()
    (tmp_path / ".step-0.123.doomed").mkdir()
    (tmp_path / ".card.md.123").touch()
    remove_leftovers(tmp_path, r"step-\d+|card\.md")
    assert names(tmp_path) == ["metrics.jsonl", "step-1"]


def test_what_is_being_written_is_what_a_killed_process_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with new_file(tmp_path / "card.md"), new_folder(tmp_path / "step-1") as draft:
        assert leftovers(tmp_path, r"step-\d+") == [draft]
        assert len(leftovers(tmp_path, r"step-\d+|card\.md")) == 2
        assert leftovers(tmp_path, "other|md") == []
    monkeypatch.setattr("shutil.rmtree", lambda *arguments, **options: None)  # killed before the removal
    remove_folder(tmp_path / "step-1")
    monkeypatch.undo()
    assert len(leftovers(tmp_path, r"step-\d+")) == 1
    remove_leftovers(tmp_path, r"step-\d+")
    assert names(tmp_path) == ["card.md"]


FOREIGN = [".env.local", ".gitlab-ci.yml", ".git.bak", ".card.md.swp", ".card.md.12x", ".card.md.abcd.draft", ".x.123"]


def test_hidden_entries_of_others_are_no_leftovers(tmp_path: Path):
    for name in FOREIGN:
        (tmp_path / name).mkdir()
    remove_leftovers(tmp_path, r"card\.md")
    assert names(tmp_path) == sorted(FOREIGN)


def test_a_leftover_that_is_a_link_is_removed_and_not_followed(tmp_path: Path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "work").touch()
    (tmp_path / ".step-1.123").symlink_to(precious)
    remove_leftovers(tmp_path, r"step-\d+")
    assert names(tmp_path) == ["precious"]
    assert names(precious) == ["work"]


def test_a_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / f".file.{os.getpid()}").symlink_to(tmp_path / "victim")
    write_file(tmp_path / "file", "content")
    assert (tmp_path / "victim").read_text() == "precious", "the name of a draft cannot be foreseen"
    monkeypatch.setattr("secrets.token_hex", lambda size: "0" * 2 * size)
    (tmp_path / ".other.0000000000000000.draft").symlink_to(tmp_path / "victim")
    with pytest.raises(ManyheadsError, match="File exists"):
        write_file(tmp_path / "other", "content")
    with pytest.raises(ManyheadsError, match="File exists"), new_folder(tmp_path / "other"):
        pass
    assert (tmp_path / "victim").read_text() == "precious", "and what has that name already is not opened"
    assert (tmp_path / ".other.0000000000000000.draft").is_symlink(), "nor removed"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to the superuser")
def test_a_read_only_folder_is_told(tmp_path: Path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(ManyheadsError, match="Permission denied"):
        write_file(locked / "file", "x")
    with pytest.raises(ManyheadsError, match="Permission denied"), new_folder(locked / "folder"):
        pass
