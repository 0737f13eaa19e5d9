"""The page in a real browser, before a stand-in for the server. What it does with a model: test_page_with_model.py."""

import re
from collections.abc import Callable, Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from browsing import (
    Visit,
    chromium,
    has_no_sideways_scrolling,
    picture_of,
    visit_to,
    wait_for_frame,
    wait_for_other_picture,
)
from stand_in import HEADS, LAYERS, WEB, StandIn, inspected, pieces, searched, stand_in, stepped, translation

TEXT = "The animal was too tired"
LOOKING = {"cross": "Translation, looking", "encoder": "Source, looking", "decoder": "Being written, looking"}
VIEWS = ["attention", "steps", "beam", "positions"]
HOSTILE = "</script> <img/src=x/onerror=window.hacked=1> <svg/onload=window.hacked=1> &amp; \"' {{7*7}}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def server() -> Iterator[StandIn]:
    with stand_in() as running:
        yield running


@pytest.fixture
def visit(browser: Browser, server: StandIn) -> Iterator[Visit]:
    with visit_to(browser, server.address) as open_visit:
        yield open_visit


def wait_for_view(page: Page, view: str) -> None:
    """Wait until a view shows its content."""
    finished = {
        "attention": "#keys [role=option]",
        "steps": ".candidate",
        "beam": ".tree .node",
        "positions": "#view-positions canvas",
    }
    expect(page.locator(finished[view]).first).to_be_visible()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    wait_for_frame(page)


def percent(share: float) -> str:
    if 0 < share < 0.0005:
        return "< 0.1 %"
    return f"{share * 100:.{1 if share < 0.1 else 0}f} %"


# --- Translating -----------------------------------------------------------------------------------------------------


def test_typing_shows_the_translation_its_score_and_the_alternatives(visit: Visit, server: StandIn):
    page = visit.open()
    page.locator("#input").press_sequentially(TEXT)
    expect(page.locator("#output")).to_have_text(translation(TEXT))
    expect(page.locator(".reading > .note")).to_have_text("score −0.25")
    asked = server.bodies("/translate")[-1]
    expect(page.locator(".alternatives li")).to_have_count(asked["alternatives"])
    expect(page.locator(".alternatives li").first).to_have_text(f"{translation(TEXT)} 1−0.50")
    assert (asked["q"], asked["source"], asked["target"]) == (TEXT, "auto", "de")


def test_no_more_alternatives_are_asked_for_than_the_server_allows(visit: Visit, server: StandIn):
    server.settings["alternativesLimit"] = 1
    page = visit.open(q=TEXT)
    expect(page.locator("#output")).to_have_text(translation(TEXT))
    expect(page.locator(".alternatives li")).to_have_count(1)
    assert server.bodies("/translate")[-1]["alternatives"] == 1


def test_fast_typing_is_sent_once(visit: Visit, server: StandIn):
    page = visit.open()
    page.locator("#input").focus()
    for word in TEXT.split():  # insert_text comes in one event each, faster than anybody's patience
        page.keyboard.insert_text(f"{word} ")
    expect(page.locator("#output")).to_have_text(translation(TEXT))
    assert len(server.bodies("/translate")) < len(TEXT.split())


def test_a_newer_text_cancels_the_request_for_an_older_one(visit: Visit, server: StandIn):
    page = visit.open()
    with page.expect_request("**/translate"):
        page.locator("#input").fill("slow text")
    with page.expect_event("requestfailed", lambda request: "slow text" in (request.post_data or "")):
        page.locator("#input").fill("quick")
    expect(page.locator("#output")).to_have_text("kciuq")
    server.release.set()
    wait_for_frame(page)
    expect(page.locator("#output")).to_have_text("kciuq")


def test_clearing_the_text_clears_everything(visit: Visit):
    page = visit.open(q=TEXT)
    wait_for_view(page, "attention")
    page.locator("#input").fill("")
    expect(page.locator("#output")).to_be_empty()
    expect(page.locator("#keys")).to_be_hidden()
    expect(page.locator("#view-attention .empty")).to_be_visible()


def test_languages_can_be_chosen_and_swapped(visit: Visit):
    page = visit.open(q=TEXT, source="en")
    expect(page.locator("#output")).to_have_text(translation(TEXT))
    assert page.locator("#target option").all_inner_texts() == ["German", "French"]
    page.get_by_role("button", name="Swap languages").click()
    expect(page.locator("#output")).to_have_text(TEXT)
    assert (page.locator("#source").input_value(), page.locator("#target").input_value()) == ("de", "en")
    page.locator("#source").select_option("en")
    with page.expect_request(lambda one: one.url.endswith("/translate") and one.post_data_json["target"] == "fr"):
        page.locator("#target").select_option("fr")
    expect(page.get_by_role("button", name="Swap languages")).to_be_disabled()  # nothing comes from French
    expect(page).to_have_url(re.compile("target=fr"))


def test_a_detected_language_is_told_and_used_for_looking_inside(visit: Visit, server: StandIn):
    page = visit.open(q="Katze und Hund", source="auto", target="en")
    expect(page.locator("#detected")).to_have_text("Detected: German (90 %)")
    wait_for_view(page, "attention")
    assert server.bodies("/inspect")[-1]["source"] == "de"


def test_the_page_opens_with_detection_and_the_proposed_target(visit: Visit, server: StandIn):
    server.settings["language"] = {"source": {"code": "de"}, "target": {"code": "en"}}
    page = visit.open()
    assert (page.locator("#source").input_value(), page.locator("#target").input_value()) == ("auto", "en")


def test_an_unsure_detection_says_so_and_offers_the_likely_languages(visit: Visit, server: StandIn):
    page = visit.open(q="OK", target="de")
    expect(page.locator("#detected")).to_have_text("Not sure. Taken as English (30 %)")
    choices = page.get_by_role("group", name="Likely languages").get_by_role("button")
    expect(choices).to_have_text(["English (30 %)"])  # what is not translated into German is not offered
    page.locator("#target").select_option("en")
    expect(choices).to_have_text(["German (40 %)"])
    choices.first.click()
    expect(page.locator("#detected")).to_be_empty()
    expect(choices).to_have_count(0)
    asked = server.bodies("/translate")[-1]
    assert (asked["source"], asked["target"]) == ("de", "en")


# --- Attention -------------------------------------------------------------------------------------------------------


def test_hovering_a_word_shows_what_each_head_looks_at(visit: Visit):
    page = visit.open(q=TEXT)
    wait_for_view(page, "attention")
    answer = inspected(TEXT, "cross", None)
    word = 3
    page.locator("#queries [role=option]").nth(word).hover()
    for head, rows in enumerate(answer["weights"]):
        most = max(rows[word])
        looked_at = answer["keys"][rows[word].index(most)].replace("</s>", "⟨end⟩")
        caption = page.locator(".multiple").nth(head + 1).locator(".multiple-caption")
        expect(caption).to_have_text(f"{looked_at.replace('▁', '·')} {percent(most)}")
        expect(page.locator("#readout")).to_contain_text(f"in head {head + 1} ({percent(most)})")


def test_hovering_a_source_word_shows_which_words_look_at_it(visit: Visit):
    page = visit.open(q=TEXT, head=3)
    wait_for_view(page, "attention")
    answer = inspected(TEXT, "cross", None)
    column = [row[2] for row in answer["weights"][2]]
    looking = answer["queries"][column.index(max(column))].removeprefix("▁")
    page.locator("#keys [role=option]").nth(2).hover()
    said = f"“was” is looked at most by “{looking}” in head 3 ({percent(max(column))})."
    expect(page.locator("#readout")).to_have_text(said)


def test_lines_lead_to_the_hovered_word_alone(visit: Visit):
    page = visit.open(q=TEXT)
    wait_for_view(page, "attention")
    inked = """() => {
        const canvas = document.querySelector(".lines canvas");
        const count = document.querySelectorAll("#queries [role=option]").length;
        const ratio = canvas.height / canvas.clientHeight, row = document.querySelector(".token").offsetHeight;
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const edge = copy.getImageData((canvas.clientWidth - 6) * ratio, 0, 1, canvas.height).data;
        return Array.from({ length: count }, (_, at) => edge[4 * Math.floor((at + 0.5) * row * ratio) + 3] > 0);
    }"""
    count = len(pieces(TEXT))
    assert page.evaluate(inked) == [True] * count
    page.locator("#queries [role=option]").nth(1).hover()
    wait_for_frame(page)
    assert page.evaluate(inked) == [at == 1 for at in range(count)]


def test_kind_layer_and_head_can_be_chosen_and_one_layer_is_fetched_at_a_time(visit: Visit, server: StandIn):
    page = visit.open(q=TEXT)
    wait_for_view(page, "attention")
    matrix = page.locator(".matrix canvas")
    for kind in ("encoder", "decoder", "cross"):
        page.get_by_role("radio", name=kind.capitalize()).check(force=True)
        expect(page.get_by_role("group", name="Layer").get_by_role("radio")).to_have_count(LAYERS[kind])
        expect(page.locator(".lines-headings")).to_contain_text(LOOKING[kind])
    wait_for_frame(page)
    before = picture_of(matrix)
    page.get_by_role("group", name="Layer").get_by_role("radio", name="1").check(force=True)
    wait_for_other_picture(matrix, before)
    before = picture_of(matrix)
    page.get_by_role("group", name="Head").get_by_role("radio", name="Head 2").check(force=True)
    wait_for_other_picture(matrix, before)
    fetched = [(body["kind"], body.get("layer")) for body in server.bodies("/inspect")]
    assert fetched == [("cross", None), ("encoder", None), ("decoder", None), ("cross", None), ("cross", 1)]


def test_the_last_layer_is_shown_first(visit: Visit):
    page = visit.open(q=TEXT)
    wait_for_view(page, "attention")
    layers = page.get_by_role("group", name="Layer")
    expect(layers.get_by_role("radio", checked=True)).to_have_count(1)
    expect(layers.get_by_role("radio", name=str(LAYERS["cross"]))).to_be_checked()


def test_a_kind_with_fewer_layers_shows_its_last(visit: Visit, server: StandIn):
    page = visit.open(q=TEXT, layer=3)
    wait_for_view(page, "attention")
    page.get_by_role("radio", name="Encoder").check(force=True)
    expect(page.locator(".lines-headings")).to_contain_text("Source, looking")
    assert "layer" not in server.bodies("/inspect")[-1]
    expect(page.get_by_role("group", name="Layer").get_by_role("radio", name="2")).to_be_checked()
    expect(page.locator("#view-attention [role=alert]")).to_be_hidden()


def test_small_multiples_show_every_head(visit: Visit):
    page = visit.open(q=TEXT)
    wait_for_view(page, "attention")
    pictures = [picture_of(canvas) for canvas in page.locator(".multiple canvas").all()]
    assert len(set(pictures)) == HEADS + 1  # every head looks elsewhere; all of them together make one more


def test_hovering_a_cell_of_the_matrix_tells_its_weight(visit: Visit):
    page = visit.open(q=TEXT, head=2)
    wait_for_view(page, "attention")
    box = page.locator(".matrix canvas").bounding_box()
    page.locator(".matrix canvas").hover(position={"x": box["width"] - 3, "y": box["height"] - 4})
    weight = inspected(TEXT, "cross", None)["weights"][1][-1][-1]
    expect(page.locator("#readout")).to_have_text(f"“⟨end⟩” looks at “⟨end⟩” with weight {weight:.3f} (head 2).")


# --- Decoding --------------------------------------------------------------------------------------------------------


def test_decoding_can_be_stepped_through(visit: Visit):
    page = visit.open(q=TEXT, view="steps")
    wait_for_view(page, "steps")
    steps = list(stepped(TEXT))[:-1]
    newest, place = page.locator(".written-token.newest"), page.locator(".step-place")
    expect(place).to_have_text(f"1 of {len(steps)}")
    expect(page.locator("#step-back")).to_be_disabled()
    page.locator("#step-next").click()
    expect(newest).to_have_text(steps[1]["token"].removeprefix("▁"))
    expect(page.locator(".candidate")).to_have_count(len(steps[1]["candidates"]))
    expect(page.locator(".candidate.chosen .number")).to_have_text(percent(steps[1]["probability"]))
    expect(page.locator(".chip")).to_have_count(len(pieces(TEXT)))
    page.locator("#step-back").click()
    expect(place).to_have_text(f"1 of {len(steps)}")
    page.locator("#step-slider").fill(str(len(steps)))
    expect(newest).to_have_text("⟨end⟩")
    expect(page.locator("#step-next")).to_be_disabled()


def test_decoding_plays_to_the_end_and_pauses(visit: Visit):
    page = visit.open(q="two words", view="steps")
    wait_for_view(page, "steps")
    play = page.locator("#step-play")
    play.click()
    expect(play).to_have_text("Pause")
    play.click()
    expect(play).to_have_text("Play")
    play.click()
    expect(page.locator(".step-place")).to_have_text("3 of 3")
    expect(play).to_have_text("Play")  # by itself, at the end


def test_the_beam_is_a_tree_whose_paths_can_be_traced(visit: Visit, server: StandIn):
    page = visit.open(q=TEXT)
    page.get_by_role("tab", name="Beam").click()
    answer = searched(TEXT, 4)
    expect(page.locator(".tree .node")).to_have_count(len(answer["nodes"]))
    expect(page.locator(".tree .edge")).to_have_count(len(answer["nodes"]) - 1)
    best = [node for node in answer["nodes"] if node["state"] == "best"]
    expect(page.locator(".tree .node.best")).to_have_count(len(best))
    expect(page.locator(".hypothesis")).to_have_count(len(answer["hypotheses"]))
    page.mouse.move(0, 0)  # to focus scrolls, and a node that comes under a resting pointer is traced instead
    page.locator(".hypothesis").nth(1).focus()
    expect(page.locator(".tree .node.traced")).to_have_count(len(pieces(TEXT)) + 1)
    page.locator("#beam-width").select_option("2")
    expect(page.locator(".tree .node")).to_have_count(len(searched(TEXT, 2)["nodes"]))
    assert [body.get("beam") for body in server.bodies("/beam")] == [None, 2]  # first as wide as for the translation


def test_of_several_sentences_one_can_be_chosen_in_every_view(visit: Visit, server: StandIn):
    page = visit.open(q="the cat sat! it purred a lot! end")
    choice = page.get_by_label("Sentence")
    expect(choice.locator("option")).to_have_text(["1. the cat sat!", "2. it purred a lot!", "3. end"])
    expect(page.locator("#queries [role=option]")).to_have_count(len(pieces("the cat sat!")))
    choice.select_option("2")
    expect(page.locator("#queries [role=option]")).to_have_count(len(pieces("it purred a lot!")))
    page.get_by_role("tab", name="Step by step").click()
    expect(page.locator(".step-place")).to_have_text(f"1 of {len(pieces('it purred a lot!'))}")
    page.get_by_role("tab", name="Beam").click()
    expect(page.locator(".hypothesis").first).to_have_text("ti derrup a !tol")
    for path in ("/inspect", "/steps", "/beam"):
        body = server.bodies(path)[-1]
        translated = server.bodies("/translate")[-1]
        assert (body["sentence"], body["alternatives"]) == (2, translated["alternatives"])
    expect(page).to_have_url(re.compile(r"sentence=2"))
    page.get_by_role("tab", name="Positions").click()
    expect(choice).to_be_hidden()
    page.get_by_role("tab", name="Beam").click()
    page.locator("#input").fill("one alone")
    expect(page.locator(".hypothesis").first).to_have_text("eno enola")
    expect(choice).to_be_hidden()


def test_a_sentence_that_the_text_has_not_gives_way_to_the_first(visit: Visit):
    page = visit.open(q="the cat! it sat", sentence=9, view="beam")
    expect(page.locator(".hypothesis").first).to_have_text("eht !tac")
    visit.forgive("status of 400")


def test_positions_are_shown_without_any_text(visit: Visit, server: StandIn):
    page = visit.open(view="positions")
    wait_for_view(page, "positions")
    assert server.bodies("/positions") == [{"length": 50, "width": 128}]
    maps = page.locator("#view-positions figure")
    maps.first.locator("canvas").hover(position={"x": 1, "y": 1})
    expect(maps.first.locator(".note")).to_have_text("position 0, dimension 0: 0.000")
    maps.last.locator("canvas").hover(position={"x": 1, "y": 1})
    expect(maps.last.locator(".note")).to_have_text("positions 0 and 0: 64.000")  # sin² + cos², 64 times


# --- Faults ----------------------------------------------------------------------------------------------------------


def test_a_complaint_of_the_server_is_shown_as_its_sentence(visit: Visit):
    page = visit.open(q="refuse <b>this</b>")
    alert = page.locator("#translator [role=alert]")
    expect(alert).to_have_text("refuse <b>this</b> is not a text")
    visit.forgive("status of 400")
    page.locator("#input").fill("busy now")
    expect(alert).to_have_text("Too many requests. Try again in 7 s.")
    visit.forgive("status of 503")
    page.locator("#input").fill(TEXT)
    expect(page.locator("#output")).to_have_text(translation(TEXT))
    expect(alert).to_be_hidden()


@pytest.mark.parametrize(("view", "path"), [("attention", "inspect"), ("steps", "steps"), ("beam", "beam")])
def test_a_view_whose_request_fails_says_so_and_tries_again(visit: Visit, view: str, path: str):
    visit.page.route(f"**/{path}", lambda route: route.abort(), times=1)
    page = visit.open(q=TEXT, view=view)
    alert = page.locator(f"#view-{view} [role=alert]")
    expect(alert).to_have_text("The server does not answer. Is it still running?")
    visit.forgive("net::ERR_FAILED")
    page.get_by_role("tab", name="Positions").click()
    page.locator(f"#tab-{view}").click()
    wait_for_view(page, view)
    expect(alert).to_be_hidden()


def test_a_stream_that_breaks_off_is_told(visit: Visit):
    half = '{"step": 1, "token"'
    visit.page.route("**/steps", lambda route: route.fulfill(body=half, content_type="application/x-ndjson"))
    page = visit.open(q=TEXT, view="steps")
    expect(page.locator("#view-steps [role=alert]")).to_have_text("The server broke off its answer. Try again.")


def test_a_server_that_comes_late_is_found_when_something_is_typed(visit: Visit):
    visit.page.route("**/languages", lambda route: route.abort(), times=1)
    visit.page.goto(visit.address)
    alert = visit.page.locator("#translator [role=alert]")
    expect(alert).to_have_text("The server does not answer. Is it still running?")
    visit.forgive("net::ERR_FAILED")
    visit.page.locator("#input").fill(TEXT)
    expect(visit.page.locator("#output")).to_have_text(translation(TEXT))
    expect(alert).to_be_hidden()


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_tokens_are_inert(visit: Visit, view: str):
    page = visit.open(q=HOSTILE, view=view)
    wait_for_view(page, view)
    expect(page.locator("#output")).to_have_text(translation(HOSTILE))
    if view == "attention":
        assert page.locator("#keys [role=option]").nth(0).inner_text() == "·</script>"
        page.locator("#keys [role=option]").nth(1).hover()
    assert page.evaluate("document.images.length + document.querySelectorAll('main script').length") == 0
    assert page.evaluate("window.hacked") is None


def test_no_script_writes_markup():
    writers = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function")
    scripts = list(WEB.glob("*.js"))
    assert scripts
    assert [script.name for script in scripts if writers.search(script.read_text(encoding="utf-8"))] == []


def test_the_page_itself_forbids_whatever_is_elsewhere(visit: Visit):
    page = visit.open()
    blocked = """() => fetch("http://elsewhere.invalid/").then(() => "reached", () => "blocked")"""
    assert page.evaluate(blocked) == "blocked"
    visit.forgive("Content Security Policy")
    visit.faults = [fault for fault in visit.faults if "elsewhere.invalid" not in fault]


def test_an_api_key_is_asked_for_and_sent_where_it_is_needed(visit: Visit, server: StandIn):
    server.settings["keyRequired"] = True
    page = visit.open(q=TEXT)
    page.get_by_label("API key").fill("secret")
    page.get_by_label("API key").press("Tab")
    wait_for_view(page, "attention")
    expect(page.locator("#output")).to_have_text(translation(TEXT))
    assert server.bodies("/translate")[-1]["api_key"] == "secret"
    assert "secret" not in page.evaluate("location.href + JSON.stringify(localStorage)")


# --- Addresses -------------------------------------------------------------------------------------------------------


def test_an_address_brings_back_the_view_it_was_copied_from(visit: Visit):
    page = visit.open(q=TEXT)
    wait_for_view(page, "attention")
    page.get_by_role("radio", name="Encoder").check(force=True)
    page.get_by_role("group", name="Layer").get_by_role("radio", name="2").check(force=True)
    page.get_by_role("radio", name="Head 3").check(force=True)
    page.locator("#queries [role=option]").nth(2).click()
    expect(page).to_have_url(re.compile("token=q2.*head=3"))
    said = page.locator("#readout").inner_text()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator("#readout")).to_have_text(said)
    expect(page.locator("#queries [aria-selected=true]")).to_have_text("·was")
    expect(page.get_by_role("radio", name="Encoder")).to_be_checked()
    expect(page.get_by_role("radio", name="Head 3")).to_be_checked()


@pytest.mark.parametrize(
    "fragment",
    ["view=nothing&kind=x&layer=-1&head=99&token=z9&beam=1e9", "%E0%A4%A", "layer=&step=NaN", "token=q9999&q=a"],
)
def test_a_broken_address_opens_the_page_all_the_same(visit: Visit, fragment: str):
    visit.page.goto(f"{visit.address}#{fragment}")
    visit.page.locator("#input").fill(TEXT)
    wait_for_view(visit.page, "attention")


def test_changing_the_address_by_hand_changes_the_view(visit: Visit):
    page = visit.open(q=TEXT)
    wait_for_view(page, "attention")
    page.evaluate("location.hash = 'q=other+text&view=beam'")
    expect(page.locator("#output")).to_have_text(translation("other text"))
    expect(page.locator("#input")).to_have_value("other text")
    wait_for_view(page, "beam")


# --- Appearance ------------------------------------------------------------------------------------------------------


def brightness(page: Page) -> float:
    """Return how bright the page's ground is, 0 to 255."""
    channels = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).map(Number)")
    return sum(channels[:3]) / 3


def test_the_page_is_dark_where_the_system_is(browser: Browser, server: StandIn):
    with visit_to(browser, server.address, color_scheme="dark") as visit:
        assert brightness(visit.open()) < 64
        visit.page.emulate_media(color_scheme="light")
        assert brightness(visit.page) > 192


def test_the_switch_overrides_the_system_redraws_and_is_remembered(visit: Visit):
    page = visit.open(q=TEXT)
    wait_for_view(page, "attention")
    matrix = page.locator(".matrix canvas")
    light = picture_of(matrix)
    page.get_by_role("radio", name="Dark").check(force=True)
    assert brightness(page) < 64
    wait_for_other_picture(matrix, light)
    page.reload()
    wait_for_view(page, "attention")
    assert brightness(page) < 64
    page.get_by_role("radio", name="Auto").check(force=True)
    assert brightness(page) > 192


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "text", [TEXT, "w" * 300, " ".join(f"word{at}" for at in range(40))], ids=["short", "one", "many"]
)
def test_four_hundred_pixels_are_wide_enough(browser: Browser, server: StandIn, view: str, text: str):
    with visit_to(browser, server.address, viewport={"width": 400, "height": 800}) as visit:
        page = visit.open(q=text, view=view, token="q0")
        wait_for_view(page, view)
        expect(page.locator("#output")).to_have_text(translation(text))
        assert has_no_sideways_scrolling(page)


def test_motion_is_left_away_where_the_system_asks_for_that(browser: Browser, server: StandIn):
    moving = "getComputedStyle(document.querySelector('[role=tab]')).transitionDuration"
    with visit_to(browser, server.address, reduced_motion="no-preference") as visit:
        assert visit.open().evaluate(moving) != "0s"
        visit.page.emulate_media(reduced_motion="reduce")
        assert visit.page.evaluate(moving) == "0s"


# --- For everybody ---------------------------------------------------------------------------------------------------


def tab_to(page: Page, selector: str, key: str = "Tab") -> None:
    """Press Tab until an element has the focus."""
    for _ in range(40):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab never reaches {selector}")


def test_everything_can_be_done_with_the_keyboard_alone(visit: Visit):
    page = visit.open()
    tab_to(page, "#input")
    page.keyboard.type(TEXT)
    wait_for_view(page, "attention")
    tab_to(page, "[name=kind]")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Encoder")).to_be_checked()
    expect(page.locator(".lines-headings")).to_contain_text("Source, looking")
    tab_to(page, "[name=layer]")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("group", name="Layer").get_by_role("radio", name="1")).to_be_checked()
    tab_to(page, "[name=head]")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Head 1")).to_be_checked()
    tab_to(page, "#keys [role=option]")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#readout")).to_contain_text("“animal” is looked at most by")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#readout")).to_contain_text("“animal” looks most at")
    page.keyboard.press("End")
    expect(page.locator("#readout")).to_contain_text("“⟨end⟩” looks most at")
    page.keyboard.press("Escape")
    expect(page.locator("#readout")).to_contain_text("Hover or focus a word")
    tab_to(page, "#tab-attention", "Shift+Tab")
    page.keyboard.press("ArrowRight")
    wait_for_view(page, "steps")
    tab_to(page, "#step-next")
    page.keyboard.press("Enter")
    expect(page.locator(".step-place")).to_contain_text("2 of")
    tab_to(page, "#tab-steps", "Shift+Tab")
    page.keyboard.press("ArrowRight")
    wait_for_view(page, "beam")
    tab_to(page, ".hypothesis")
    expect(page.locator(".tree .node.traced")).not_to_have_count(0)


def test_a_focused_word_keeps_the_focus_when_another_layer_arrives(visit: Visit, server: StandIn):
    page = visit.open(q=TEXT, kind="encoder")
    wait_for_view(page, "attention")
    held = []
    page.route("**/inspect", lambda route: held.append(route), times=1)
    with page.expect_request("**/inspect"):
        page.get_by_role("group", name="Layer").get_by_role("radio", name="1").check(force=True)
    tab_to(page, "#keys [role=option]")
    page.keyboard.press("ArrowDown")
    held[0].continue_()
    wait_for_view(page, "attention")
    assert server.bodies("/inspect")[-1]["layer"] == 1
    expect(page.locator("#keys [role=option]:focus")).to_have_attribute("aria-label", "“animal”")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#readout")).to_contain_text("“animal” looks most at")


@pytest.mark.parametrize(("scheme", "words"), [("light", 5), ("dark", 5), ("light", 150)])
@pytest.mark.parametrize("view", VIEWS)
def test_an_accessibility_checker_finds_nothing(browser: Browser, server: StandIn, view: str, scheme: str, words: int):
    with visit_to(browser, server.address, color_scheme=scheme) as visit:
        page = visit.open(q="animal " * words, view=view, token="q2")
        wait_for_view(page, view)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


# --- Long texts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", ["attention", "steps", "beam"])
def test_two_hundred_tokens_are_shown(visit: Visit, view: str):
    text = " ".join(f"word{at}" for at in range(199))
    page = visit.open(q=text, view=view)
    wait_for_view(page, view)
    shown: dict[str, Callable[[], None]] = {
        "attention": lambda: expect(page.locator("#queries [role=option]")).to_have_count(200),
        "steps": lambda: expect(page.locator(".step-place")).to_have_text("1 of 200"),
        "beam": lambda: expect(page.locator(".tree .node.best")).to_have_count(201),
    }
    shown[view]()


def test_however_often_something_changes_it_is_drawn_once_in_a_frame(visit: Visit):
    page = visit.open(q=" ".join(f"word{at}" for at in range(199)))
    wait_for_view(page, "attention")
    drawn = page.evaluate("""async () => {
        const counts = { clears: 0, strokes: 0 };
        const lines = document.querySelector(".lines canvas");
        for (const [method, count] of [["clearRect", "clears"], ["stroke", "strokes"]]) {
            const original = CanvasRenderingContext2D.prototype[method];
            CanvasRenderingContext2D.prototype[method] = function (...given) {
                if (this.canvas === lines) counts[count] += 1;
                return original.apply(this, given);
            };
        }
        for (const word of document.querySelectorAll("#queries [role=option]"))
            word.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        return counts;
    }""")
    assert drawn["clears"] == 1
    assert 0 < drawn["strokes"] <= 10  # lines of about the same weight at once, not each by itself
