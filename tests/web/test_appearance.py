"""How the page looks before anything is asked: widths, colours, languages, without script."""

import re

import pytest
from playwright.sync_api import Page, expect

from app.web import words
from tests.processes import forked_service
from tests.web.asking import GST, NO_RESULTS, ask_and_wait
from tests.web.axe import SIZES, assert_fits, violations


def background(page: Page) -> list[int]:
    value = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    return [int(number) for number in re.findall(r"\d+", value)[:3]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280, 3840])
def test_the_empty_page_fits_and_axe_finds_nothing(open_page, width, scheme):
    page = open_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    expect(page.get_by_role("heading", level=1)).to_be_visible()

    assert (sum(background(page)) > 384) is (scheme == "light")
    assert_fits(page)


def test_the_box_has_the_focus_and_the_keyboard_reaches_everything_and_sees_where_it_is(page):
    expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    seen = set()
    page.get_by_role("textbox", name="Your question").focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        outlined = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.innerText"))
        if page.evaluate("document.activeElement !== document.body"):
            assert outlined != "none"
    controls = """[...document.querySelectorAll("a[href], button, input, select, textarea, [tabindex='0']")]
        .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled)
        .map((one) => one.id || one.innerText)"""

    assert set(page.evaluate(controls)) <= seen


def test_the_switch_of_colours_wins_over_the_system_and_is_kept(open_page):
    page = open_page(color_scheme="light")
    switch = page.get_by_role("button", name=re.compile("^Colours"))
    while "dark" not in switch.inner_text():
        switch.click()
    assert sum(background(page)) < 384

    page.reload()

    assert sum(background(page)) < 384
    expect(switch).to_contain_text("dark")
    assert violations(page) == []


@pytest.mark.parametrize(
    ("locale", "question", "told"),
    [
        ("id-ID", "Terima kasih!", "Sama-sama. Saya siap bila Anda punya pertanyaan lain."),
        ("de-DE", "Vielen Dank!", "Gern geschehen. Ich bin da, wenn Sie noch eine Frage haben."),
        ("de-DE", NO_RESULTS, "Zu diesem Thema habe ich in den Dokumenten, die ich durchsuchen kann"),
    ],
)
def test_a_text_in_the_place_of_an_answer_is_in_the_pages_language(open_page, locale, question, told):
    page = open_page(locale=locale)

    page.locator("#question").fill(question)
    page.locator("#question").press("Enter")

    expect(page.locator("article.exchange .answer")).to_contain_text(told)
    expect(page.locator("article.exchange .banner")).to_have_count(0)


@pytest.mark.parametrize("size", SIZES)
def test_the_page_fits_in_german_and_its_languages_are_found_by_keyboard(open_page, size):
    page = open_page(viewport=SIZES[size], locale="de-DE")
    page.locator("#open-languages").press("Enter")

    expect(page.get_by_role("link", name="Bahasa Indonesia")).to_be_visible()
    assert_fits(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Bahasa Indonesia")).to_be_hidden()


def test_another_language_is_one_click_away_and_kept(open_page):
    page = open_page(locale="id-ID")
    page.locator("#open-languages").click()
    page.get_by_role("link", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.goto("/")

    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.get_by_role("textbox", name="Your question")).to_be_visible()


def test_the_reason_of_a_badge_is_in_the_pages_language(open_page):
    page = open_page(locale="de-DE")
    exchange = page.locator("article.exchange")
    page.locator("#question").fill(GST)
    page.locator("#question").press("Enter")
    exchange.locator(".badge").hover()
    reason = page.locator("#card p").nth(1)

    expect(reason).to_have_text("Wahrscheinlich richtig")
    expect(reason).not_to_have_attribute("lang", "en")


def test_without_script_the_page_stands_and_says_what_is_missing(open_page):
    page = open_page(java_script_enabled=False)

    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("textbox")).to_be_visible()
    # Emulation leaves the parser as it is with script, so the words stand in the page and are not drawn.
    assert "Answers need JavaScript" in (page.locator("noscript").text_content() or "")


def test_nothing_moves_for_whom_motion_is_too_much(open_page):
    page = open_page(reduced_motion="reduce")
    moving = """[...document.querySelectorAll("*")].filter((one) => {
        const { animationName, transitionDuration } = getComputedStyle(one);
        return animationName !== "none" || /[1-9]/.test(transitionDuration);
    }).length"""

    assert page.evaluate(moving) == 0


def test_on_a_phone_the_header_takes_two_rows_and_an_answer_begins_at_the_top(open_page, model):
    page = open_page(viewport={"width": 360, "height": 740})
    header = page.locator("#header").bounding_box()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")  # As somebody who has read all the examples.
    exchange = ask_and_wait(page, GST)
    question = exchange.locator(".asked").bounding_box()

    assert header
    assert question
    assert header["height"] <= 100
    assert 0 <= question["y"] < 100


def test_the_printed_address_leads_to_a_page_that_answers_its_first_example(browser, watch, tmp_path):
    with forked_service(tmp_path, LLM_PROVIDER="offline") as started:
        (address,) = re.findall(r"Open the page at (\S+)", started.messages.read_text())
        context = browser.new_context()
        watch.follow(context)
        page = context.new_page()
        page.goto(address)
        page.locator("#examples button").first.click()

        exchange = page.locator("article.exchange")
        expect(exchange).to_have_attribute("data-outcome", "answered")
        expect(exchange.locator(".answer .chip").first).to_be_visible()
        context.close()
    watch.judge()


@pytest.mark.parametrize("language", words.languages())
@pytest.mark.parametrize(("width", "height"), [(360, 740), (390, 844), (320, 568), (740, 360)])
def test_on_a_phone_the_page_opens_at_its_top(open_page, language, width, height):
    page = open_page(f"/?lang={language}", is_mobile=True, has_touch=True, viewport={"width": width, "height": height})
    page.wait_for_selector("body[data-ready]")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("[scrollY, visualViewport.pageTop]") == [0, 0]
