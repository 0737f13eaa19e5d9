"""The page before the real command with a real, if tiny, model: what it shows is what the inspector sees."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browsing import Visit, chromium, has_no_sideways_scrolling, picture_of, visit_to, wait_for_other_picture
from manyheads.decoding.translator import Translator
from manyheads.inspection.inspector import Inspector
from run_folders import PROSE, make_run

TEXT = "Sunday, 15 November 2026"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two layers on both sides."""
    return make_run(tmp_path_factory.mktemp("page") / "run", decoder_layers=2).path


@pytest.fixture(scope="module")
def prose_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that reads running text."""
    return make_run(tmp_path_factory.mktemp("page") / "run", data=PROSE).path


@contextmanager
def page_of(background: Callable, *words: object) -> Iterator[Visit]:
    """Visit the page of `manyheads serve`."""
    with chromium() as browser:
        server = background("serve", *words, "--port", 0)
        server.wait_for(lambda: "(Ctrl-C stops)" in server.said())
        address = re.search(r"http://\S+", server.said())[0]
        with visit_to(browser, f"{address}/") as open_visit:
            yield open_visit


@pytest.fixture
def visit(run: Path, background: Callable) -> Iterator[Visit]:
    """The page of a run."""
    with page_of(background, run) as open_visit:
        yield open_visit


@pytest.fixture
def prose_visit(prose_run: Path, background: Callable) -> Iterator[Visit]:
    """The page of a run that reads running text, with a low limit for looking inside."""
    with page_of(background, prose_run, "--inspect-limit", 30) as open_visit:
        yield open_visit


def percent(share: float) -> str:
    if 0 < share < 0.0005:
        return "< 0.1 %"
    return f"{share * 100:.{1 if share < 0.1 else 0}f} %"


def translate(page: Page, run: Path) -> None:
    """Type the text and wait for what the engine itself would say."""
    page.locator("#input").fill(TEXT)
    best = Translator(run).translations([TEXT], n_best=4)[0].candidates
    expect(page.locator("#output")).to_have_text(best[0].text)
    expect(page.locator(".alternative")).to_have_text([one.text for one in best[1:]])


def hover_and_switch(page: Page, inspector: Inspector) -> None:
    """Hover a word in two layers, all heads and one, and compare with the inspector."""
    matrix = page.locator(".matrix canvas")
    for layer in (2, 1):  # the last is shown first
        before = picture_of(matrix)
        page.get_by_role("group", name="Layer").get_by_role("radio", name=str(layer)).check(force=True)
        if layer == 1:
            wait_for_other_picture(matrix, before)
        expect(page.locator("#view-attention")).not_to_have_attribute("aria-busy", "true")
        seen = inspector.attention(TEXT, kind="cross", layer=layer).to_json()
        expect(page.locator("#queries [role=option]")).to_have_count(len(seen["queries"]))
        page.locator("#queries [role=option]").nth(1).hover()
        for head, rows in enumerate(seen["weights"]):
            expect(page.locator("#readout")).to_contain_text(f"in head {head + 1} ({percent(max(rows[1]))})")
    before = picture_of(matrix)
    page.get_by_role("radio", name="Head 2").check(force=True)
    wait_for_other_picture(matrix, before)
    for kind in ("Encoder", "Decoder"):
        before = picture_of(matrix)
        page.get_by_role("radio", name=kind).check(force=True)
        wait_for_other_picture(matrix, before)


def step_through(page: Page, inspector: Inspector) -> None:
    """Take the first two steps."""
    tokens = Translator(inspector.folder).translations([TEXT], n_best=4)[0].candidates[0].tokens
    *steps, _ = (one.to_json() for one in inspector.steps(TEXT, tokens=tokens))
    page.get_by_role("tab", name="Step by step").click()
    expect(page.locator(".step-place")).to_have_text(f"1 of {len(steps)}")
    for at in (0, 1):
        numbers = [percent(one["probability"]) for one in steps[at]["candidates"]]
        expect(page.locator(".candidate .number")).to_have_text(numbers)
        page.locator("#step-next").click()


def open_the_beam(page: Page, inspector: Inspector) -> None:
    """Open the tree."""
    tree = inspector.beam(TEXT, beam=4).to_json()
    page.get_by_role("tab", name="Beam").click()
    expect(page.locator(".tree .node")).to_have_count(len(tree["nodes"]))
    expect(page.locator(".hypothesis")).to_have_text([one["text"] for one in tree["hypotheses"]])


def test_the_page_of_the_real_server_shows_what_the_inspector_sees(visit: Visit, run: Path):
    page = visit.open()
    inspector = Inspector(run, device="cpu")
    translate(page, run)
    hover_and_switch(page, inspector)
    step_through(page, inspector)
    open_the_beam(page, inspector)
    page.get_by_role("tab", name="Positions").click()
    expect(page.locator("#view-positions canvas").first).to_be_visible()
    page.get_by_role("radio", name="Dark").check(force=True)
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
    page.set_viewport_size({"width": 400, "height": 800})
    for view in ("Attention", "Step by step", "Beam", "Positions"):
        page.get_by_role("tab", name=view).click()
        assert has_no_sideways_scrolling(page)


def test_every_view_shows_the_sentence_that_the_panel_shows(prose_visit: Visit, prose_run: Path):
    sentences = ["Sunday, 15 November 2026!", "Then it was June?"]
    page, translator = prose_visit.open(q=" ".join(sentences)), Translator(prose_run)
    best = [one.text for one in translator.translations(sentences, n_best=4)]
    expect(page.locator("#output")).to_have_text(" ".join(best))
    for number in (1, 0):
        page.get_by_label("Sentence").select_option(str(number + 1))
        page.get_by_role("tab", name="Beam").click()
        expect(page.locator(".hypothesis").first).to_have_text(best[number])
        page.get_by_role("tab", name="Step by step").click()
        tokens = translator.translations(sentences, n_best=4)[number].candidates[0].tokens
        expect(page.locator(".step-place")).to_have_text(f"1 of {len(tokens)}")


def test_a_sentence_that_is_too_long_to_look_into_is_translated_and_the_view_says_why(prose_visit: Visit):
    page = prose_visit.open(q="Sunday the fifteenth of November 2026")
    expect(page.locator("#view-attention [role=alert]")).to_contain_text("limit (30)")
    expect(page.locator("#output")).not_to_be_empty()
    prose_visit.forgive("status of 400")
