"""Make the pictures of the page anew: serve a run with the real command, and photograph its views in Chromium.

python docs/screenshots.py                                                  those with the translator in the box
python docs/screenshots.py mul-iso=runs/dates "dimanche 15 novembre 2026"   all others
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, ViewportSize, expect, sync_playwright

IMAGES = Path(__file__).parent / "images"
LARGEST = 200_000  # bytes of a picture
WIDE, NARROW = ViewportSize(width=1200, height=960), ViewportSize(width=400, height=900)
SENTENCE = "Ich bin müde, weil ich zu viel gearbeitet habe."
PARAGRAPH = "Ich war müde. Ich ging nach Hause. Meine Frau schlief schon. Der Hund auch."
Picture = tuple[str, ViewportSize, str, dict[str, str | int], str]
# name, window, light or dark, state of the page, what must be there before the picture is taken
TRANSLATOR: list[Picture] = [
    (
        "page-translator",
        WIDE,
        "light",
        {"view": "attention", "source": "de", "target": "en", "layer": 2, "token": "q6"},
        "#queries [aria-selected=true]",
    ),
    (
        "page-sentences",
        WIDE,
        "light",
        {"q": PARAGRAPH, "view": "attention", "source": "auto", "target": "en", "sentence": 2},
        "#queries [role=option]",
    ),
]
DATES: list[Picture] = [
    ("page-light", WIDE, "light", {"view": "attention", "layer": 2, "token": "q7"}, "#queries [aria-selected=true]"),
    (
        "page-dark",
        WIDE,
        "dark",
        {"view": "attention", "layer": 2, "head": 3},
        "#queries [role=option]",
    ),
    ("page-narrow", NARROW, "light", {"view": "attention", "layer": 2, "token": "q7"}, "#queries [aria-selected=true]"),
    ("page-steps", WIDE, "light", {"view": "steps", "step": 6}, ".written-token:nth-child(6).newest"),
    ("page-beam", WIDE, "light", {"view": "beam"}, ".tree .node"),
    ("page-positions", WIDE, "dark", {"view": "positions"}, "#view-positions canvas"),
]


@contextmanager
def served(run: str | None) -> Iterator[str]:
    """Serve a run, or the translator in the box, for the length of the block; yield the address."""
    command = [sys.executable, "-m", "manyheads", "serve", *([] if run is None else [run]), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        first = server.stderr.readline()
        address = re.search(r"http://\S+", first)
        if address is None:
            sys.exit(first + server.stderr.read())
        try:
            yield address[0]
        finally:
            server.terminate()


def photograph(browser: Browser, address: str, text: str, pictures: list[Picture]) -> None:
    """Take pictures."""
    for name, window, scheme, state, awaited in pictures:
        page = browser.new_page(viewport=window, color_scheme=scheme, reduced_motion="reduce")
        page.goto(f"{address}/#{urlencode({'q': text, **state})}")
        expect(page.locator(awaited).first).to_be_visible(timeout=60_000)
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        taken = Image.open(BytesIO(page.screenshot(full_page=True))).convert("RGB")
        file = IMAGES / f"{name}.png"
        taken.quantize(colors=256, dither=Image.Dither.NONE).save(file, optimize=True)
        if file.stat().st_size > LARGEST:
            sys.exit(f"{file} has {file.stat().st_size} bytes, more than {LARGEST}")
        page.close()


def main(run: str | None = None, text: str = SENTENCE) -> None:
    """Serve the run and photograph its page."""
    IMAGES.mkdir(exist_ok=True)
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []  # Chromium's sandbox does not work for root
    with served(run) as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=arguments)
        photograph(browser, address, text, TRANSLATOR if run is None else DATES)


if __name__ == "__main__":
    main(*sys.argv[1:])
