"""The HTML file in a real browser: it shows what it holds, runs nothing else, and asks nobody for anything."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from manyheads.inspection.html_page import html_page
from manyheads.inspection.views import Everything

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

SOURCE = [
    "▁the",
    "</script><script>document.title='run'</script>",
    "<img src=x onerror=\"document.title='run'\">",
    "</s>",
]
TARGET = ["▁die", "▁Katze", "</s>"]


def chromium() -> str:
    """Return the browser that is installed, or skip the test that asks for it."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


@pytest.fixture(scope="module")
def seen() -> Everything:
    random = np.random.default_rng(1)

    def weights(queries: int, keys: int) -> np.ndarray:
        return random.dirichlet(np.ones(keys), size=(2, 3, queries)).astype(np.float32)

    attention = {"encoder": weights(4, 4), "decoder": weights(3, 3), "cross": weights(3, 4)}
    nothing = np.zeros((3, 1), dtype=np.float32)
    inputs = ["<s>", *TARGET[:-1]]
    return Everything("the <b>", "die Katze", 0.0, 0.0, SOURCE, TARGET, inputs, [0] * 3, attention, {}, nothing)


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser, seen: Everything, tmp_path: Path) -> Iterator[object]:
    """The page, opened from a file without any network; complaints and requests fail the test at its end."""
    (tmp_path / "page.html").write_text(html_page(seen), encoding="utf-8")
    complaints: list[str] = []
    asked: list[str] = []
    context = browser.new_context(offline=True, viewport={"width": 400, "height": 800})
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    yield page
    assert complaints == []
    assert asked == [(tmp_path / "page.html").as_uri()]
    context.close()


def shown_by_heads(page) -> list[list[float]]:
    """Return the weights that the page shows for each head."""
    rows = page.locator("#heads tr").all()
    return [
        [float(cell.get_attribute("title").rsplit(": ", 1)[1]) for cell in row.locator("td[title]").all()]
        for row in rows
    ]


def test_tokens_that_look_like_markup_are_text(page):
    assert page.title() == "Attention"
    assert page.locator("script").count() == 2 and page.locator("img, b").count() == 0
    assert SOURCE[1].replace("</s>", "∎") in page.locator("#keys").inner_text()


def test_pointing_at_a_token_shows_what_each_head_looks_at(page, seen):
    for number in (2, 0):
        page.locator("#queries button").nth(number).hover()
        assert np.allclose(shown_by_heads(page), seen.attention["cross"][1][:, number], atol=6e-4)


def test_the_keyboard_reaches_every_token(page, seen):
    page.locator("#queries button").nth(0).focus()
    page.keyboard.press("Tab")
    assert np.allclose(shown_by_heads(page), seen.attention["cross"][1][:, 1], atol=6e-4)


def test_layer_head_and_kind_can_be_chosen(page, seen):
    page.select_option("#layer", label="1")
    page.select_option("#head", label="3")
    assert "layer 1, head 3" in page.locator("#matrix-title").inner_text()
    page.select_option("#kind", "decoder")
    page.locator("#queries button").nth(1).hover()
    assert np.allclose(shown_by_heads(page), seen.attention["decoder"][0][:, 1], atol=6e-4)
    assert page.locator("#matrix thead th").all_inner_texts()[1:] == ["<s>", "·die", "·Katze"]


def test_dark_and_light_differ_and_a_narrow_page_does_not_scroll_sideways(page):
    colours = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours[0] != colours[1]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
