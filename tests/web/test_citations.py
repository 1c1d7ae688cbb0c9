"""Citations: a chip shows the source's own words, and opens the document there, as text or as a page's picture."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.asking import GST, GST_ANSWER, GST_GUIDE, PDF_QUESTION, ask_and_wait
from tests.web.axe import SIZES, assert_fits, violations
from tests.web.corpus import HTML_QUOTE, HTML_TITLE

HTML_QUESTION = "How high are pallets stacked in Johor?"
QUOTED = "Import GST in Singapore is 9 % of the CIF value plus any duty"


@pytest.fixture(autouse=True)
def _answers(model) -> None:
    model.say(GST, f"{GST_ANSWER}\n\nSee also [Atlantis Guide > Rates].")
    model.say(HTML_QUESTION, f"{HTML_QUOTE[:-1]} [{HTML_TITLE} > Stacking].")


def chips(page: Page, question: str) -> Locator:
    return ask_and_wait(page, question).locator(".answer .chip")


def test_each_citation_is_a_chip_with_a_name_and_opens_its_document_by_keyboard(page):
    found = chips(page, GST)

    expect(found.first).to_have_text("1")
    expect(found.first).to_have_accessible_name(f"Source 1: {GST_GUIDE}, What the tax is charged on")
    assert "[" not in found.first.locator("xpath=..").inner_text()
    reference = found.filter(has_not_text="1").last
    reference.hover()
    expect(page.locator("#card")).to_contain_text("No document was found for this reference.")
    chip = found.first
    chip.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#viewer-title")).to_be_focused()
    page.keyboard.press("Escape")

    expect(page.locator("#viewer")).to_be_hidden()
    expect(chip).to_be_focused()


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_the_card_shows_the_sources_words_with_the_supporting_ones_marked(page, way):
    chip = chips(page, GST).first
    if way == "mouse":
        chip.hover()
    else:
        chip.focus()
    card = page.locator("#card")

    expect(card).to_be_visible()
    expect(card.locator("mark")).to_contain_text(QUOTED)
    expect(card).to_contain_text(GST_GUIDE)
    expect(card).to_contain_text("What the tax is charged on")
    expect(card).to_contain_text("Waypoint trade desk")
    expect(card).to_contain_text("2026")
    expect(card).to_contain_text("The source says this.")
    expect(chip).to_have_attribute("aria-describedby", "card")
    assert violations(page) == []


def test_the_card_opens_at_the_quoted_words_where_it_has_to_be_scrolled(open_page):
    page = open_page(viewport={"width": 1280, "height": 220})
    chips(page, GST).first.focus()
    card, mark = (page.locator(place).first.bounding_box() for place in ("#card", "#card mark"))

    assert page.locator("#card").evaluate("card => card.scrollHeight > card.clientHeight")
    assert card
    assert mark
    assert card["y"] <= mark["y"]
    assert mark["y"] + mark["height"] <= card["y"] + card["height"]


def test_a_tap_shows_the_card_and_the_next_one_opens_the_document(open_page):
    page = open_page(has_touch=True, is_mobile=True, viewport=SIZES["phone"])
    chip = chips(page, GST).first
    chip.tap()
    expect(page.locator("#card")).to_be_visible()
    expect(page.locator("#viewer")).to_be_hidden()
    chip.tap()

    expect(page.locator("#viewer")).to_be_visible()


def test_the_document_opens_with_the_quoted_words_in_sight(open_page, shape):
    page = open_page(**shape)
    chips(page, GST).first.click()
    mark = page.locator("#viewer mark.quote").first

    expect(mark).to_be_in_viewport()
    assert "".join(page.locator("#viewer mark.quote").all_inner_texts()).startswith(QUOTED)
    expect(page.locator("#viewer")).to_contain_text(GST_GUIDE)
    assert_fits(page)


def test_a_page_of_a_pdf_is_a_picture_with_the_words_framed(open_page, shape):
    page = open_page(**shape)
    chips(page, PDF_QUESTION).first.click()
    paper = page.locator("#viewer .paper")
    expect(paper).to_have_attribute("data-page", "2")
    box = paper.locator(".box").first

    expect(box).to_be_in_viewport()
    assert paper.locator("img").evaluate("(one) => one.decode().then(() => one.naturalWidth)") > 300
    sheet, words = paper.bounding_box(), box.bounding_box()
    assert sheet
    assert words
    assert sheet["x"] < words["x"]
    assert words["y"] + words["height"] < sheet["y"] + sheet["height"] / 2  # The quote stands near the page's top.
    assert_fits(page)


def test_pages_are_turned_and_the_same_document_is_read_as_text(page):
    chips(page, PDF_QUESTION).first.click()
    paper = page.locator("#viewer .paper")
    expect(paper).to_have_attribute("data-page", "2")
    page.locator("#viewer [data-do=next]").click()
    expect(paper).to_have_attribute("data-page", "3")
    expect(page.locator("#viewer [data-do=next]")).to_be_disabled()
    page.locator("#viewer [data-do=show-text]").click()

    expect(page.locator("#viewer .words")).to_contain_text("Lifting a container costs RM 45.")
    expect(page.locator("#viewer mark.quote").first).to_contain_text("The depot at Penang accepts")


def test_a_web_page_is_read_as_text_without_its_scripts(page):
    chips(page, HTML_QUESTION).first.click()
    words = page.locator("#viewer .words")

    expect(words.locator("mark.quote").first).to_contain_text("Pallets in the Johor warehouse")
    expect(words.get_by_role("cell", name="3 m")).to_be_visible()
    assert words.locator("script, [onclick]").count() == 0
    assert page.title() == "Waypoint Co-Pilot"


def test_a_document_has_an_address_of_its_own_that_needs_no_script(open_page):
    page = open_page("/documents/01_regulatory_sg_gst_guide?quote=Import%20GST", java_script_enabled=False)

    expect(page.locator("mark.quote").first).to_have_text("Import GST")
    expect(page.get_by_role("heading", name=GST_GUIDE).first).to_be_visible()
