"""The page on localisation: its commands run in their order, the training shortened, and Weblate's client is served."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from commands import PATIENCE
from document_examples import APP
from manyheads.data.generated import task
from manyheads.documents.opening import open_document

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "localisation.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
COMMANDS = [
    line.removeprefix("$ ") for block in BLOCKS for line in block.splitlines() if line.startswith("$ manyheads")
]
*BEFORE, SERVE = COMMANDS
SHORT = ["--set", "training.steps=2", "--set", "training.batch_tokens=256", "--set", "validation.sentences=4"]
HEADER = 'msgid ""\nmsgstr "Language: de\\nContent-Type: text/plain; charset=UTF-8\\n"\n'
SERVING = re.compile(r"Serving .* at http://[^:]+:(\d+)")


def catalogue(path: Path, count: int, *, seed: int) -> None:
    """Write a catalogue of dates."""
    path.parent.mkdir(exist_ok=True)
    pairs = list(task("dates").pairs("train", count=count, seed=seed))
    entries = {one.source: f'\nmsgid "{one.source}"\nmsgstr "{one.target}"\n' for one in pairs if '"' not in one.source}
    path.write_text(HEADER + "".join(entries.values()), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the page begins with, after its commands but the last."""
    place = tmp_path_factory.mktemp("localisation")
    catalogue(place / "po" / "app.po", 60, seed=1)
    catalogue(place / "test" / "guide.po", 6, seed=2)
    (place / "app.po").write_text(APP, encoding="utf-8")
    (place / "keys.txt").write_text("secret\n")
    for command in BEFORE:
        words = shlex.split(command)[1:]
        if words[0] == "train":
            words = [*words[: words.index("--max-minutes")], *SHORT]
        done = subprocess.run(
            [sys.executable, "-m", "manyheads", *words], cwd=place, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return place


def test_the_catalogue_is_filled_and_marked(folder: Path):
    segments = open_document(folder / "app.de.po").document.segments
    assert [bool(one.target) for one in segments] == [True] * len(segments)
    assert sum(one.is_unsure for one in segments) == len(segments) - 1


def test_the_server_answers_weblate_by_the_name_and_the_key_of_the_page(folder: Path):
    url, key = re.search(r"\| API URL \| `(.*?)` \|", PAGE)[1], "secret"
    host = re.search(r"--allowed-hosts (\S+)", SERVE)[1]
    assert host in url
    environment = {**os.environ, "MANYHEADS_PORT": "0", "PYTHONUNBUFFERED": "1"}
    log = folder / "log"
    with log.open("w") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", *shlex.split(SERVE)], cwd=folder, env=environment, stdout=output, stderr=output
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while (found := SERVING.search(log.read_text())) is None:
            assert server.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.01)
        client = httpx.Client(base_url=f"http://127.0.0.1:{found[1]}", headers={"Host": host}, timeout=PATIENCE)
        codes = [one["code"] for one in client.get("/languages").json()]
        asked = {"api_key": key, "q": ["test"], "source": "en", "target": "de"}
        answer = client.post("/translate", json=asked)
        refused = client.post("/translate", json=asked, headers={"Host": "elsewhere.example.org"})
        direct = client.post("/translate", json={**asked, "target": "fr"})
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE)
    assert codes == ["de", "en", "fr"]
    assert len(answer.json()["translatedText"]) == 1
    assert refused.status_code == 421
    assert direct.status_code == 200 and "pivotLanguage" not in direct.json()
