"""A run folder belongs to one training at a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from manyheads.errors import ManyheadsError
from manyheads.runs.claim import claimed

pytest.importorskip("fcntl", reason="this system cannot lock folders")
HOLDER = """
import sys
from pathlib import Path
from manyheads.runs.claim import claimed
with claimed(Path(sys.argv[1])):
    print("claimed", flush=True)
    sys.stdin.read()
"""


def test_a_folder_is_free_again_when_the_process_that_had_it_is_killed(tmp_path: Path):
    folder = tmp_path / "run"
    command = [sys.executable, "-c", HOLDER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "claimed\n"
        with pytest.raises(ManyheadsError, match=r"another training is writing.*--out"), claimed(folder):
            pass
        holder.kill()
        holder.wait()
        with claimed(folder):
            assert folder.is_dir()


def test_an_empty_folder_does_not_stay_and_a_full_one_does(tmp_path: Path):
    with claimed(tmp_path / "runs" / "failed"):
        pass
    assert not (tmp_path / "runs" / "failed").exists()
    with claimed(tmp_path / "runs" / "good"):
        (tmp_path / "runs" / "good" / "recipe.yaml").write_text("name: good")
    assert (tmp_path / "runs" / "good" / "recipe.yaml").exists()
