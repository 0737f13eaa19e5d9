"""The command: its options, its log, and how it ends."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from manyheads.errors import ManyheadsError
from manyheads.serving.logs import JsonFormatter
from manyheads.serving.options import ServerOptions, build_options, options_table, variable
from served import PATIENCE, held, serving, wait_until

PAGE = Path(__file__).resolve().parents[2] / "docs" / "serving.md"
SECRET = "1 May 2020 unmistakable"


def started(background, *arguments):
    """Start the real command and wait until it answers."""
    command = background("serve", *arguments, "--port", 0)
    command.wait_for(lambda: "(Ctrl-C" in command.said())
    found = re.search(r"http://\S+", command.said())
    assert found
    return command, found[0]


def ask(url: str, text: str = SECRET, **more: object) -> httpx.Response:
    return httpx.post(f"{url}/translate", json={"q": text, "source": "en", "target": "de", **more}, timeout=PATIENCE)


def log_lines(said: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def test_the_command_serves_logs_without_texts_and_stops_on_a_signal(background, runs):
    command, url = started(background, runs["there"])
    assert ask(url).status_code == 200
    assert ask(url, source="unmistakable").status_code == 400
    httpx.post(f"{url}/translate", params={"q": SECRET, "source": "en", "target": "de"}, timeout=PATIENCE)
    ended = command.end(signal.SIGTERM)
    assert ended.code == 0, ended.err
    assert "en → de" in ended.err
    assert "unmistakable" not in ended.err
    requests = [line for line in log_lines(ended.err) if line["event"] == "request"]
    assert [line["status"] for line in requests] == [200, 400, 200]
    assert requests[0]["path"] == "/translate"
    assert requests[0]["characters"] == len(SECRET)
    assert requests[0]["direction"] == "en-de"


def test_texts_are_logged_with_the_option(background, runs):
    command, url = started(background, runs["there"], "--log-texts")
    translation = ask(url).json()["translatedText"]
    ended = command.end(signal.SIGINT)
    assert ended.code == 0, ended.err
    logged = next(line for line in log_lines(ended.err) if line["event"] == "request")
    assert (logged["q"], logged["translatedText"]) == (SECRET, [translation])


def test_every_option_is_an_environment_variable(background, runs, monkeypatch):
    monkeypatch.setenv("MANYHEADS_CHAR_LIMIT", "5")
    monkeypatch.setenv("MANYHEADS_RUNS", f"fr-it={runs['there']} {runs['back']}")
    command, url = started(background)
    assert httpx.get(f"{url}/frontend/settings").json()["charLimit"] == 5
    assert [one["code"] for one in httpx.get(f"{url}/languages").json()] == ["de", "en", "fr", "it"]
    assert command.end(signal.SIGTERM).code == 0


def test_torch_is_not_loaded_before_the_first_inspection(background, runs):
    command, url = started(background, runs["there"])
    assert ask(url).status_code == 200
    loaded = Path(f"/proc/{command.process.pid}/maps")
    if not loaded.exists():
        pytest.skip("this system does not show what a process has loaded")
    assert "ctranslate2" in loaded.read_text()
    assert "libtorch" not in loaded.read_text()


def test_help_shows_every_option_and_its_variable(process):
    import os

    said = process("serve", "--help", env={**os.environ, "COLUMNS": "200", "TERMINAL_WIDTH": "200"}).out
    for name in ServerOptions.model_fields:
        assert "--" + name.replace("_", "-") in said
        assert variable(name) in said


def test_the_page_has_the_table_of_options():
    assert options_table() in PAGE.read_text(encoding="utf-8")


def test_stopping_finishes_what_was_begun(runs, translator):
    with serving([runs["there"]]) as server, ThreadPoolExecutor(1) as clients:
        with held(server):
            begun = clients.submit(server.translate, "1 May 2020")
            wait_until(lambda: server.service.admission.active == 1)
            server.stop()
            with pytest.raises(httpx.TransportError):
                while True:  # until it takes nothing new
                    server.get("/health")
            assert not server.ended()
        assert begun.result().json() == {"translatedText": translator.translate("1 May 2020")}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"port": 70_000}, ("--port", "MANYHEADS_PORT", "65535")),
        ({"char_limit": 0}, ("--char-limit", "1")),
        ({"request_seconds": -1}, ("--request-seconds",)),
    ],
)
def test_an_impossible_option_is_an_error(change, words):
    with pytest.raises(ManyheadsError) as error:
        build_options(change)
    for word in words:
        assert word in str(error.value)


def test_runs_that_cannot_be_served_are_errors_at_once(command, runs, tmp_path):
    nameless = tmp_path / "nameless"
    shutil.copytree(runs["there"], nameless)
    recipe = (nameless / "recipe.yaml").read_text(encoding="utf-8")
    (nameless / "recipe.yaml").write_text(recipe.replace("target_language: de", "target_language: null"))
    command("serve", tmp_path / "nothing").refuses("there is no such run folder")
    command("serve", nameless).refuses("does not name its languages", "manyheads serve en-de=")
    command("serve", runs["there"], runs["back"]).refuses("two runs translate from en into de")
    command("serve", runs["there"], "--port", "-1").refuses("--port")
    command("serve", runs["there"], "--host", "no.such.host.invalid").refuses("cannot listen there")
    command("serve", runs["there"], "--api-keys", tmp_path / "none").refuses("the keys cannot be read")


def test_a_port_in_use_is_an_error(command, runs):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command("serve", runs["there"], "--port", taken.getsockname()[1]).refuses("cannot listen there")


def test_a_missing_extra_is_named(command, runs, monkeypatch):
    monkeypatch.setattr("manyheads.cli.serve.find_spec", lambda name: None)
    command("serve", runs["there"]).refuses("fastapi", "pip install 'manyheads[serve]'")


def test_an_unexpected_error_is_logged_without_its_message():
    import logging
    import sys

    try:
        raise KeyError(SECRET)
    except KeyError:
        record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "broken", (), sys.exc_info())
    line = JsonFormatter().format(record)
    assert SECRET not in line
    assert json.loads(line)["error"] == "KeyError"
    assert "test_running.py" in line
