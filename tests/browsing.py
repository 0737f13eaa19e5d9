"""A real browser for tests: Chromium as the system has it, and visits on which nothing may go wrong unnoticed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Request, expect, sync_playwright

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)

PATIENCE = 30_000  # milliseconds until something that ought to happen at once is called a failure
expect.set_options(timeout=PATIENCE)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run Chromium for the length of the block; a test that needs it is skipped where it is not installed."""
    if not CHROMIUM:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium).")
    # Its sandbox does not work for root, as whom continuous integration often runs.
    arguments = ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@dataclass
class Visit:
    """A visit to the page; `faults` lists console errors, uncaught exceptions and requests to other hosts."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def open(self, **state: Any) -> Page:
        """Open the page with a state in its address, and wait for what it shows."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}#{urlencode(state)}")
        expect(self.page.locator("#source option")).not_to_have_count(0)
        return self.page

    def forgive(self, words: str) -> None:
        """Check that a fault with these words happened, and forget it."""
        assert any(words in fault for fault in self.faults), (words, self.faults)
        self.faults = [fault for fault in self.faults if words not in fault]


@contextmanager
def visit_to(browser: Browser, address: str, **settings: Any) -> Iterator[Visit]:
    """Visit an address in a window of its own; at the end there must be no fault left."""
    context = browser.new_context(
        **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **settings}
    )
    context.set_default_timeout(PATIENCE)
    visit = Visit(context.new_page(), address)
    home = urlsplit(address).netloc

    def watch_request(request: Request) -> None:
        url = urlsplit(request.url)
        if url.scheme not in ("data", "blob", "about") and url.netloc != home:
            visit.faults.append(f"a request left the host: {request.url}")

    def watch_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            visit.faults.append(f"console {message.type}: {message.text}")

    context.route(lambda url: urlsplit(url).netloc not in (home, ""), lambda route: route.abort())
    context.on("request", watch_request)
    context.on("console", watch_console)
    context.on("weberror", lambda fault: visit.faults.append(f"exception: {fault.error}"))
    try:
        yield visit
        assert visit.faults == []
    finally:
        context.close()


def picture_of(canvas: Locator) -> str:
    """Return what a canvas shows, to compare."""
    return canvas.evaluate("canvas => canvas.toDataURL()")


def wait_for_other_picture(canvas: Locator, before: str) -> None:
    """Wait until a canvas shows something else."""
    canvas.page.wait_for_function("([c, before]) => c.toDataURL() !== before", arg=[canvas.element_handle(), before])


def wait_for_frame(page: Page) -> None:
    """Wait until everything that was asked for is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def has_no_sideways_scrolling(page: Page) -> bool:
    """Say whether the page is no wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")
