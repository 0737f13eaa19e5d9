"""`manyheads data list` and `manyheads data get`, as a user calls them."""

import gzip
import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from manyheads.cli.data import app
from manyheads.data.public import catalogue
from manyheads.data.public.catalogue import CATALOGUE
from manyheads.data.public.public_corpus import Corpus, DataFile
from manyheads.errors import ManyheadsError

TEXT = b"To be, or not to be\n"
runner = CliRunner()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder served on loopback, and a catalogue of one corpus whose file is there."""
    folder = tmp_path / "public"
    folder.mkdir()
    (folder / "input.txt").write_bytes(TEXT)
    monkeypatch.setenv("no_proxy", "*")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder))) as server:
        file = DataFile(
            path="lm/hamlet.txt.gz",
            url=f"http://127.0.0.1:{server.server_address[1]}/input.txt",
            content_sha256=hashlib.sha256(TEXT).hexdigest(),
            content_bytes=len(TEXT),
        )
        corpus = Corpus(
            name="hamlet",
            description="a line",
            licence="public domain",
            spdx="CC0-1.0",
            attribution="Bacon",
            shippable=True,
            homepage="https://example.org",
            files=(file,),
            note="Handle with care.",
        )
        monkeypatch.setattr(catalogue, "CATALOGUE", (corpus,))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield folder
        server.shutdown()
        thread.join()


def test_list_shows_every_corpus_with_its_licence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "400")
    result = runner.invoke(app, ["list"])
    assert result.exit_code == 0
    for corpus in CATALOGUE:
        assert corpus.name in result.stdout
        assert corpus.licence in result.stdout


def test_list_as_json_is_the_whole_catalogue():
    result = runner.invoke(app, ["list", "--json"])
    listed = json.loads(result.stdout)
    assert [corpus["name"] for corpus in listed] == [corpus.name for corpus in CATALOGUE]
    assert listed[0]["files"][0]["path"] == "multi30k/raw/train.en.gz"
    assert set(listed[0]["files"][0]) >= {"path", "url", "content_sha256", "content_bytes"}


def test_get_fetches_and_prints_the_paths(public: Path, tmp_path: Path):
    result = runner.invoke(app, ["get", "hamlet", "--to", str(tmp_path / "data")])
    assert result.exit_code == 0, result.exception
    path = tmp_path / "data" / "lm" / "hamlet.txt.gz"
    assert result.stdout == f"{path}\n"
    assert "checksums right. Licence: public domain. Handle with care." in result.stderr
    assert gzip.decompress(path.read_bytes()) == TEXT


def test_get_as_json_prints_nothing_else(public: Path, tmp_path: Path):
    result = runner.invoke(app, ["get", "hamlet", "--to", str(tmp_path / "data"), "--json"])
    assert json.loads(result.output) == {
        "name": "hamlet",
        "files": [str(tmp_path / "data" / "lm" / "hamlet.txt.gz")],
    }


def test_get_copies_from_a_folder(public: Path, tmp_path: Path):
    (public / "input.txt").rename(tmp_path / "hamlet.txt")
    result = runner.invoke(app, ["get", "hamlet", "--to", str(tmp_path / "data"), "--from", str(tmp_path)])
    assert result.exit_code == 0, result.exception
    assert gzip.decompress((tmp_path / "data" / "lm" / "hamlet.txt.gz").read_bytes()) == TEXT


def test_get_uses_the_folder_of_the_environment(public: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MANYHEADS_DATA", str(tmp_path / "named"))
    runner.invoke(app, ["get", "hamlet"])
    assert (tmp_path / "named" / "lm" / "hamlet.txt.gz").exists()


def test_mistakes_reach_the_top_as_errors_with_a_cure(public: Path, tmp_path: Path):
    result = runner.invoke(app, ["get", "hamlett"])
    assert isinstance(result.exception, ManyheadsError)
    assert "Did you mean 'hamlet'?" in str(result.exception)
    (public / "input.txt").unlink()
    result = runner.invoke(app, ["get", "hamlet", "--to", str(tmp_path / "data")])
    assert isinstance(result.exception, ManyheadsError)
    assert "404" in str(result.exception)
    assert "--from FOLDER" in str(result.exception)


def test_the_progress_bar_is_for_terminals(public: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from rich.progress import Progress

    from manyheads.cli.data import progress_bar

    shown: list[float] = []
    monkeypatch.setattr(Progress, "update", lambda self, task, **to: shown.append(to["completed"]))
    with progress_bar() as progress:
        assert progress is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar() as progress:
        assert progress is not None
        progress("lm/hamlet.txt.gz", 10, 20)
        progress("lm/hamlet.txt.gz", 20, 20)
    assert shown == [10, 20]


def test_the_command_starts_without_torch_or_the_network_modules():
    code = (
        "import sys, manyheads.cli.data; "
        "sys.exit(any(name in sys.modules for name in ('torch', 'numpy', 'manyheads.data.public.download')))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
