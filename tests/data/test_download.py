"""Downloads against a real server on loopback: resumed, verified, refused; and archives that mean harm."""

import gzip
import hashlib
import io
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from manyheads.data.public import catalogue
from manyheads.data.public.download import content_sha256, fetch, get, unpack
from manyheads.data.public.public_corpus import Corpus, DataFile
from manyheads.errors import ManyheadsError

CONTENT = bytes(range(256)) * 4096  # 1 MiB: several chunks
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `files` by path and remembers what was asked; the sets name the paths that misbehave."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None, str | None]] = []  # path, Range, If-Range
        self.drops = 0  # so many answers break off half way
        self.busy = 0  # so many answers are 503
        self.ranges = True
        self.entity_tag: str | None = None

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"

    def serve(self, path: str, content: bytes) -> str:
        self.files[path] = content
        return self.url(path)

    def asked_ranges(self) -> list[str | None]:
        return [asked for _, asked, _ in self.requests]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, path = self.server, self.path.lstrip("/")
        asked = self.headers["Range"]
        server.requests.append((path, asked, self.headers["If-Range"]))
        if path not in server.files:
            return self.send_error(404)
        if server.busy:
            server.busy -= 1
            return self.send_error(503)
        content, start = server.files[path], 0
        if asked and server.ranges:
            start = int(asked.removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                return self.end_headers()
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        return self.send_body(content[start:])

    def send_body(self, body: bytes) -> None:
        if self.server.entity_tag:
            self.send_header("ETag", self.server.entity_tag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.server.drops:
            self.server.drops -= 1
            body = body[: len(body) // 2]
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def part_of(path: Path) -> Path:
    return path.with_name(path.name + ".part")


# fetch


def test_a_file_arrives_whole_and_reports_its_progress(server: Server, tmp_path: Path):
    target = tmp_path / "deep" / "file"
    seen: list[tuple[int, int | None]] = []
    assert fetch(server.serve("a", CONTENT), target, sha256=SHA256, progress=lambda *at: seen.append(at)) == target
    assert target.read_bytes() == CONTENT
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert list(target.parent.iterdir()) == [target]


def test_a_dropped_connection_is_resumed_where_it_broke(server: Server, tmp_path: Path):
    server.drops = 2
    fetch(server.serve("a", CONTENT), tmp_path / "file", sha256=SHA256, pause=0)
    assert (tmp_path / "file").read_bytes() == CONTENT
    half = len(CONTENT) // 2
    assert server.asked_ranges() == [None, f"bytes={half}-", f"bytes={half + half // 2}-"]


def test_a_later_call_goes_on_from_the_part(server: Server, tmp_path: Path):
    url = server.serve("a", CONTENT)
    server.drops = 1
    with pytest.raises(ManyheadsError, match="the connection closed after 524,288 of 1,048,576 bytes"):
        fetch(url, tmp_path / "file", sha256=SHA256, attempts=1)
    assert part_of(tmp_path / "file").read_bytes() == CONTENT[: len(CONTENT) // 2]
    assert not (tmp_path / "file").exists()
    fetch(url, tmp_path / "file", sha256=SHA256)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked_ranges() == [None, f"bytes={len(CONTENT) // 2}-"]


def test_a_server_that_ignores_ranges_sends_the_whole(server: Server, tmp_path: Path):
    server.ranges = False
    part_of(tmp_path / "file").write_bytes(b"from before")
    fetch(server.serve("a", CONTENT), tmp_path / "file", sha256=SHA256)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked_ranges() == ["bytes=11-"]


def test_a_part_of_another_file_is_noticed_and_the_download_starts_afresh_once(server: Server, tmp_path: Path):
    part_of(tmp_path / "file").write_bytes(b"another edition")
    fetch(server.serve("a", CONTENT), tmp_path / "file", sha256=SHA256)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked_ranges() == ["bytes=15-", None]


def test_a_part_that_is_whole_already_is_not_fetched_again(server: Server, tmp_path: Path):
    part_of(tmp_path / "file").write_bytes(CONTENT)
    fetch(server.serve("a", CONTENT), tmp_path / "file", sha256=SHA256)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked_ranges() == [f"bytes={len(CONTENT)}-"]


def test_a_part_that_is_too_long_is_thrown_away(server: Server, tmp_path: Path):
    part_of(tmp_path / "file").write_bytes(CONTENT + b"more")
    fetch(server.serve("a", CONTENT), tmp_path / "file", sha256=SHA256, pause=0)
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_wrong_bytes_are_refused_with_both_sums_and_not_kept(server: Server, tmp_path: Path):
    url = server.serve("a", b"something else")
    with pytest.raises(ManyheadsError) as raised:
        fetch(url, tmp_path / "file", sha256=SHA256)
    message = str(raised.value)
    assert url in message
    assert SHA256 in message
    assert hashlib.sha256(b"something else").hexdigest() in message
    assert "--from FOLDER" in message
    assert list(tmp_path.iterdir()) == []
    assert len(server.requests) == 1


def test_a_missing_page_is_not_tried_again(server: Server, tmp_path: Path):
    url = server.url("nowhere")
    with pytest.raises(ManyheadsError, match="404") as raised:
        fetch(url, tmp_path / "file", sha256=SHA256)
    assert url in str(raised.value)
    assert "--from FOLDER" in str(raised.value)
    assert len(server.requests) == 1


def test_no_network_names_the_address_and_the_way_out(server: Server, tmp_path: Path):
    url = server.url("a")
    server.server_close()  # the port is free now, and nobody answers
    with pytest.raises(ManyheadsError, match="cannot be fetched") as raised:
        fetch(url, tmp_path / "file", sha256=SHA256, attempts=2, pause=0)
    assert url in str(raised.value)
    assert "--from FOLDER" in str(raised.value)


def test_a_busy_server_is_asked_again(server: Server, tmp_path: Path):
    server.busy = 2
    fetch(server.serve("a", CONTENT), tmp_path / "file", sha256=SHA256, pause=0)
    assert (tmp_path / "file").read_bytes() == CONTENT
    server.busy = 2
    with pytest.raises(ManyheadsError, match="503"):
        fetch(server.url("a"), tmp_path / "other", sha256=SHA256, attempts=2, pause=0)


def test_without_a_checksum_an_old_part_is_not_trusted(server: Server, tmp_path: Path):
    part_of(tmp_path / "file").write_bytes(CONTENT[:100])
    fetch(server.serve("a", CONTENT), tmp_path / "file", sha256=None)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert server.asked_ranges() == [None]


def test_without_a_checksum_halves_are_joined_only_under_the_same_entity_tag(server: Server, tmp_path: Path):
    url = server.serve("a", CONTENT)
    server.drops, server.entity_tag = 1, '"edition-1"'
    fetch(url, tmp_path / "tagged", sha256=None, pause=0)
    assert server.requests == [("a", None, None), ("a", f"bytes={len(CONTENT) // 2}-", '"edition-1"')]
    server.requests.clear()
    server.drops, server.entity_tag = 1, None
    fetch(url, tmp_path / "untagged", sha256=None, pause=0)
    assert server.asked_ranges() == [None, None]
    assert (tmp_path / "tagged").read_bytes() == (tmp_path / "untagged").read_bytes() == CONTENT


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a device that is always full.")
def test_a_full_disk_is_said_plainly(server: Server, tmp_path: Path):
    part_of(tmp_path / "file").symlink_to("/dev/full")
    with pytest.raises(ManyheadsError, match="the disk is full"):
        fetch(server.serve("a", CONTENT), tmp_path / "file", sha256=SHA256)
    assert not (tmp_path / "file").exists()


def test_a_folder_that_cannot_be_written_is_said_plainly(server: Server, tmp_path: Path):
    (tmp_path / "taken").write_text("a file, not a folder")
    with pytest.raises(ManyheadsError, match="cannot be read or written"):
        fetch(server.serve("a", CONTENT), tmp_path / "taken" / "file", sha256=SHA256)


# unpack


def tar_gz(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, link
    return entry


def zipped(path: Path, *members: tuple[str, bytes], mode: int = 0) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            entry = zipfile.ZipInfo(name)
            entry.filename = name  # the constructor tidies names; the hostile ones must stay as they are
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return path


def tree(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def test_both_kinds_of_archive_are_unpacked(tmp_path: Path):
    tar = tar_gz(tmp_path / "a.tar.gz", (member("./en/one.txt"), b"1"), (member("en/sub/two.txt"), b"2"))
    zip_ = zipped(tmp_path / "a.zip", ("en/", b""), ("en/one.txt", b"1"), ("en/sub/two.txt", b"2"))
    for archive, name in ((tar, "from_tar"), (zip_, "from_zip")):
        folder = unpack(archive, tmp_path / name)
        assert tree(folder) == {"en", "en/one.txt", "en/sub", "en/sub/two.txt"}
        assert (folder / "en/sub/two.txt").read_bytes() == b"2"


HOSTILE_MEMBERS = {
    "absolute path": member("/tmp/evil"),
    "parent folder": member("../evil"),
    "parent folder, deep": member("en/../../evil"),
    "drive letter": member("C:\\evil"),
    "backslashes": member("..\\evil"),
    "symbolic link outside": member("link", tarfile.SYMTYPE, "../.."),
    "symbolic link inside": member("link", tarfile.SYMTYPE, "good"),
    "hard link": member("link", tarfile.LNKTYPE, "/etc/passwd"),
    "character device": member("null", tarfile.CHRTYPE),
    "block device": member("disk", tarfile.BLKTYPE),
    "pipe": member("pipe", tarfile.FIFOTYPE),
}


@pytest.mark.parametrize("kind", HOSTILE_MEMBERS)
def test_a_hostile_tar_is_refused_and_nothing_is_left(kind: str, tmp_path: Path):
    archive = tar_gz(tmp_path / "a.tar.gz", (member("good"), b"fine"), (HOSTILE_MEMBERS[kind], b""))
    with pytest.raises(ManyheadsError, match="refused: its member") as raised:
        unpack(archive, tmp_path / "inside" / "folder")
    assert HOSTILE_MEMBERS[kind].name in str(raised.value)
    assert tree(tmp_path) == {"a.tar.gz", "inside"}


@pytest.mark.parametrize("name", ["/tmp/evil", "../evil", "en/../../evil", "..\\evil", "C:\\evil", "\\evil"])
def test_a_hostile_zip_is_refused_and_nothing_is_left(name: str, tmp_path: Path):
    archive = zipped(tmp_path / "a.zip", ("good", b"fine"), (name, b"evil"))
    with pytest.raises(ManyheadsError, match="points outside the folder"):
        unpack(archive, tmp_path / "inside" / "folder")
    assert tree(tmp_path) == {"a.zip", "inside"}


def test_a_link_in_a_zip_is_refused(tmp_path: Path):
    archive = zipped(tmp_path / "a.zip", ("link", b"../.."), mode=stat.S_IFLNK | 0o777)
    with pytest.raises(ManyheadsError, match="neither a file nor a folder"):
        unpack(archive, tmp_path / "folder")
    assert tree(tmp_path) == {"a.zip"}


@pytest.mark.parametrize("name", ["a.tar.gz", "a.zip", "a.txt"])
def test_a_damaged_archive_leaves_nothing(name: str, tmp_path: Path):
    content = os.urandom(100_000)
    path = tmp_path / name
    if name == "a.txt":
        path.write_bytes(content)
    else:
        make: Callable[[Path], Path] = (
            (lambda at: zipped(at, ("big", content)))
            if name == "a.zip"
            else (lambda at: tar_gz(at, (member("big"), content)))
        )
        path.write_bytes(make(tmp_path / "whole").read_bytes()[:50_000])
        (tmp_path / "whole").unlink()
    with pytest.raises(ManyheadsError, match=r"not a complete \.tar\.gz or \.zip archive"):
        unpack(path, tmp_path / "folder")
    assert tree(tmp_path) == {name}


def test_a_folder_that_exists_is_not_touched(tmp_path: Path):
    archive = tar_gz(tmp_path / "a.tar.gz", (member("good"), b"fine"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(ManyheadsError, match="exists already"):
        unpack(archive, tmp_path / "folder")
    assert tree(tmp_path) == {"a.tar.gz", "folder"}


# get

TASKS = {"qa1_test.txt": b"1 Where?\n", "qa1_train.txt": b"1 There.\n", "qa3_train.txt": b"left out\n"}


def listing(*names: str) -> str:
    lines = [f"{hashlib.sha256(TASKS[name]).hexdigest()}  {name}\n" for name in sorted(names)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def corpus(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """One corpus with a file in each public form, served on loopback."""
    kept = gzip.compress(b"kept as it is\n")
    public_zip = zipped(tmp_path / "public.zip", ("deu.txt", b"Hi.\tHallo!\n"), ("_about.txt", b"CC-BY\n"))
    public_tar = tar_gz(
        tmp_path / "public.tar.gz",
        *((member(f"tasks/en-10k/{name}"), content) for name, content in TASKS.items()),
        (member("tasks/hn/qa1_test.txt"), b"not this language\n"),
    )
    made = Corpus(
        name="sample",
        description="a sample",
        licence="CC0",
        spdx="CC0-1.0",
        attribution="Bacon",
        shippable=True,
        homepage="https://example.org",
        files=(
            DataFile(
                path="s/kept.gz",
                url=server.serve("kept.gz", kept),
                content_sha256=sha256(b"kept as it is\n"),
                content_bytes=14,
                packed_sha256=sha256(kept),
            ),
            DataFile(
                path="s/plain.txt.gz",
                url=server.serve("raw.txt", b"plain\n"),
                content_sha256=sha256(b"plain\n"),
                content_bytes=6,
            ),
            DataFile(
                path="s/member.tsv.gz",
                url=server.serve("deu-eng.zip", public_zip.read_bytes()),
                member="deu.txt",
                content_sha256=sha256(b"Hi.\tHallo!\n"),
                content_bytes=11,
            ),
            DataFile(
                path="s/tasks.tar.gz",
                url=server.serve("tasks_v1.tar.gz", public_tar.read_bytes()),
                member="tasks/en-10k",
                folder="en10k",
                leave_out=("qa3_train.txt",),
                content_sha256=listing("qa1_test.txt", "qa1_train.txt"),
                content_bytes=18,
            ),
        ),
    )
    public_zip.unlink()
    public_tar.unlink()
    monkeypatch.setattr(catalogue, "CATALOGUE", (made,))
    return made


def unpacked_names(path: Path) -> list[str]:
    with tarfile.open(path, "r:gz") as archive:
        return archive.getnames()


def test_every_public_form_ends_under_the_same_names(corpus: Corpus, tmp_path: Path):
    paths = get("sample", tmp_path / "data")
    assert [path.relative_to(tmp_path / "data").as_posix() for path in paths] == [file.path for file in corpus.files]
    assert [gzip.decompress(path.read_bytes()) for path in paths[:3]] == [
        b"kept as it is\n",
        b"plain\n",
        b"Hi.\tHallo!\n",
    ]
    assert unpacked_names(paths[3]) == ["en10k/qa1_test.txt", "en10k/qa1_train.txt"]
    assert tree(tmp_path / "data") == {"s", *(file.path for file in corpus.files)}


def test_the_same_content_gives_the_same_bytes(corpus: Corpus, tmp_path: Path):
    one, two = get("sample", tmp_path / "one"), get("sample", tmp_path / "two")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    assert all(path.read_bytes()[4:8] == bytes(4) for path in one[1:])  # no time in the gzip header


def test_what_is_right_is_not_fetched_again_and_what_is_wrong_is(corpus: Corpus, server: Server, tmp_path: Path):
    paths = get("sample", tmp_path)
    server.requests.clear()
    assert get("sample", tmp_path) == paths
    assert server.requests == []
    paths[0].write_bytes(gzip.compress(b"changed\n"))
    paths[1].write_bytes(b"no longer gzip")
    paths[3].write_bytes(paths[3].read_bytes()[:40])
    get("sample", tmp_path)
    assert [path for path, _, _ in server.requests] == ["kept.gz", "raw.txt", "tasks_v1.tar.gz"]
    assert gzip.decompress(paths[0].read_bytes()) == b"kept as it is\n"


def test_progress_names_the_file(corpus: Corpus, tmp_path: Path):
    seen: dict[str, int] = {}
    get("sample", tmp_path, progress=lambda path, done, total: seen.update({path: done}))
    assert list(seen) == [file.path for file in corpus.files]


def test_the_folder_is_named_by_the_environment(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MANYHEADS_DATA", str(tmp_path / "named"))
    assert get("sample")[0] == tmp_path / "named" / "s" / "kept.gz"
    monkeypatch.delenv("MANYHEADS_DATA")
    monkeypatch.chdir(tmp_path)
    assert get("sample")[0] == Path("data/s/kept.gz")


def test_a_folder_serves_instead_of_the_network_in_every_form(corpus: Corpus, server: Server, tmp_path: Path):
    source = tmp_path / "source"
    (source / "s").mkdir(parents=True)
    (source / "s" / "kept.gz").write_bytes(gzip.compress(b"kept as it is\n", 1))
    (source / "plain.txt").write_bytes(b"plain\n")
    (source / "deu-eng.zip").write_bytes(server.files["deu-eng.zip"])
    (source / "tasks_v1.tar.gz").write_bytes(server.files["tasks_v1.tar.gz"])
    paths = get("sample", tmp_path / "data", source=source)
    assert server.requests == []
    # And what it made serves the next one, though its layout is not the publisher's.
    again = get("sample", tmp_path / "again", source=tmp_path / "data")
    assert [path.read_bytes() for path in paths] == [path.read_bytes() for path in again]


def test_a_corpus_is_found_in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As `--from …/multi30k` for multi30k/raw/train.en.gz."""
    sample = DataFile(path="s/raw/deep.gz", content_sha256=sha256(b"deep\n"), content_bytes=5)
    monkeypatch.setattr(catalogue, "CATALOGUE", (replace(catalogue.CATALOGUE[0], name="sample", files=(sample,)),))
    for number, name in enumerate(("s/raw/deep.gz", "raw/deep.gz", "raw/deep", "deep")):
        source = tmp_path / f"source{number}"
        (source / name).parent.mkdir(parents=True)
        (source / name).write_bytes(gzip.compress(b"deep\n") if name.endswith("gz") else b"deep\n")
        (path,) = get("sample", tmp_path / f"data{number}", source=source)
        assert gzip.decompress(path.read_bytes()) == b"deep\n"


def test_a_folder_with_the_wrong_file_is_refused_with_both_sums(corpus: Corpus, tmp_path: Path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "kept").write_bytes(b"another text\n")
    with pytest.raises(ManyheadsError) as raised:
        get("sample", tmp_path / "data", source=tmp_path / "source")
    assert sha256(b"another text\n") in str(raised.value)
    assert corpus.files[0].content_sha256 in str(raised.value)
    assert tree(tmp_path / "data") == {"s"}


def test_a_folder_without_the_file_says_what_would_do(corpus: Corpus, tmp_path: Path):
    with pytest.raises(ManyheadsError, match=r"has none of: s/kept\.gz, s/kept, kept\.gz, kept\."):
        get("sample", tmp_path / "data", source=tmp_path)
    with pytest.raises(ManyheadsError, match="is not a folder"):
        get("sample", tmp_path / "data", source=tmp_path / "nowhere")


def test_an_archive_that_changed_is_refused(corpus: Corpus, server: Server, tmp_path: Path):
    newer = zipped(tmp_path / "newer.zip", ("deu.txt", b"Hi.\tServus!\n"))
    server.serve("deu-eng.zip", newer.read_bytes())
    with pytest.raises(ManyheadsError, match="is not the file of the catalogue") as raised:
        get("sample", tmp_path / "data")
    assert server.url("deu-eng.zip") in str(raised.value)
    assert tree(tmp_path / "data") == {"s", "s/kept.gz", "s/plain.txt.gz"}
    other = zipped(tmp_path / "other.zip", ("fra.txt", b"Hi.\tSalut !\n"))
    server.serve("deu-eng.zip", other.read_bytes())
    with pytest.raises(ManyheadsError, match=r"has no member 'deu\.txt'"):
        get("sample", tmp_path / "data")


def test_a_corpus_without_an_address_asks_for_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ManyheadsError) as raised:
        get("tatoeba-deu-eng", tmp_path)
    assert "https://www.manythings.org/anki/" in str(raised.value)
    assert "manyheads data get tatoeba-deu-eng --from FOLDER" in str(raised.value)
    assert tree(tmp_path) == set()


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs the program sha256sum.")
def test_the_checksum_of_an_archive_is_what_the_shell_computes(tmp_path: Path):
    path = tar_gz(
        tmp_path / "a.tar.gz",
        (member("README.txt"), b"at the top level: does not count"),
        *((member(f"en/{name}"), TASKS[name]) for name in reversed(TASKS)),
    )
    folder = unpack(path, tmp_path / "folder") / "en"
    shell = subprocess.run(
        "LC_ALL=C sha256sum * | sha256sum", shell=True, cwd=folder, capture_output=True, text=True, check=True
    )
    assert content_sha256(path, archive=True) == listing(*TASKS) == shell.stdout.split()[0]


def test_the_module_is_free_of_torch():
    code = "import sys, manyheads.data.public.download; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
