"""Weblate's client for LibreTranslate, played against the real command with its default options.

It asks /languages, checks its settings by translating "test" from English into German, and sends lists of up to 20
strings with [X0X] in place of what its checks highlight. After certain answers it asks nothing for half an hour.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

PAUSING = {401, 403, 429, 456, 503}  # what it takes for a limit of its rate
AT_ONCE = 20  # strings in a list
PATIENCE = 120
SERVING = re.compile(r"Serving .* at (http://\S+)")


class Weblate:
    """The requests of Weblate's client, and whether it would pause."""

    def __init__(self, url: str, key: str = "") -> None:
        self.url = url.rstrip("/")
        self.key = key
        self.pauses = False

    def request(self, method: str, path: str, **settings: Any) -> Any:
        headers = {"Referer": "https://weblate.example.org", "Accept": "application/json; charset=utf-8"}
        answer = httpx.request(method, f"{self.url}/{path}", headers=headers, timeout=PATIENCE, **settings)
        self.pauses |= answer.status_code in PAUSING
        answer.raise_for_status()
        return answer.json()

    def languages(self) -> list[str]:
        return [one["code"] for one in self.request("get", "languages")]

    def translate(self, texts: list[str], source: str = "en", target: str = "de") -> list[str]:
        sent = {"api_key": self.key, "q": texts, "source": source, "target": target}
        found = self.request("post", "translate", json=sent)["translatedText"]
        assert len(found) == len(texts)
        return found

    def check_settings(self) -> None:
        self.languages()
        self.translate(["test"])


@pytest.fixture
def started(background: Callable[..., Any]) -> Iterator[Callable[..., str]]:
    """`started("tatoeba")` starts `manyheads serve tatoeba` on a free port, and returns its address."""

    def start(*words: object) -> str:
        process = background("serve", *words, "--port", 0)
        process.wait_for(lambda: SERVING.search(process.said()) is not None)
        return SERVING.search(process.said())[1]

    yield start


def strings(number: int) -> list[str]:
    """Return a list of strings as Weblate sends them, no two alike in the lists of a test."""
    return [
        "[X0X]",
        f"Open [X5X], please, or take {number}.",
        f"[X0X] of [X7X] files in {number} days",
        f"<p>Write to [X9X] or [X18X]!</p> {number}",
        *(f"I have {count} books in house {number}." for count in range(AT_ONCE - 4)),
    ]


def placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"\[X\d+X\]", text))


def test_a_burst_of_lists_is_queued_and_every_placeholder_comes_back(started: Callable[..., str]):
    client = Weblate(started("tatoeba") + "/")
    client.check_settings()
    assert {"en", "de", "fr", "zh"} <= set(client.languages())
    with ThreadPoolExecutor(8) as senders:
        for burst in range(2):
            lists = [strings(8 * burst + number) for number in range(8)]
            answers = list(senders.map(client.translate, lists))
            for sent, found in zip(lists, answers, strict=True):
                assert list(map(placeholders, found)) == list(map(placeholders, sent))
    assert not client.pauses


def test_its_key_is_accepted_and_a_wrong_one_makes_it_pause(started: Callable[..., str], tmp_path: Path):
    keys = tmp_path / "keys.txt"
    keys.write_text("secret\n")
    url = started("tatoeba", "--api-keys", keys)
    right, wrong, without = Weblate(url, "secret"), Weblate(url, "wrong"), Weblate(url)
    right.check_settings()
    for client in (wrong, without):
        assert client.languages()
        with pytest.raises(httpx.HTTPStatusError):
            client.check_settings()
    assert (right.pauses, wrong.pauses, without.pauses) == (False, True, False)


def test_a_server_without_english_into_german_fails_its_settings_check(started: Callable[..., str]):
    client = Weblate(started("en-fr=tatoeba"))
    assert client.translate(["test"], target="fr")
    with pytest.raises(httpx.HTTPStatusError):
        client.check_settings()
    assert not client.pauses
