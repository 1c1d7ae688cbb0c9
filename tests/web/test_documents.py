"""The documents on the page: listed by category, searched, read, and removed from list and answers alike."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from app.wiring import open_index
from tests.web.asking import GST, GST_GUIDE, PDF_QUESTION, ask_and_wait
from tests.web.axe import assert_fits, overflow, violations
from tests.web.corpus import HOSTILE_QUOTE, HOSTILE_TITLE, HTML_TITLE, PDF_TITLE
from tests.web.service import serving, settings_over


@pytest.fixture
def of_its_own(corpus, tmp_path, model, open_page) -> Iterator[Page]:
    store = Path(shutil.copytree(corpus, tmp_path / "store"))
    with serving(store, model, cache_enabled=True) as url:
        yield open_page(url)


@pytest.fixture(scope="module")
def url(store, model) -> Iterator[str]:
    with serving(store, model, cache_enabled=True) as url:
        yield url


@pytest.fixture
def listed(page) -> Page:
    return open_list(page)


def open_list(page: Page) -> Page:
    page.locator("#open-documents").press("Enter")
    expect(page.locator("#documents-list li").first).to_be_visible()
    return page


def titles(page: Page) -> Locator:
    return page.locator("#documents-list [data-do=open]")


def test_the_list_fits_and_axe_finds_nothing(open_page, shape):
    page = open_list(open_page(**shape))

    expect(page.get_by_role("heading", name="Documents", level=1)).to_be_visible()
    assert_fits(page)


def test_documents_stand_below_their_categories_and_one_or_words_narrow_the_list(listed):
    field = listed.get_by_role("searchbox", name="Search documents")
    expect(field).to_be_focused()
    headings = listed.locator("#documents-list h2").all_inner_texts()
    assert headings[0] == "Carrier"
    assert set(headings) >= {"Carrier", "Internal", "Reference", "Regulatory"}
    guide = listed.locator("#documents-list li").filter(has_text=GST_GUIDE)

    expect(guide.locator(".facts")).to_contain_text(re.compile(r"Added: .+20\d\d · Passages: \d+"))
    internal = listed.locator("#documents-list ul[data-category=internal] li").first
    expect(internal).to_contain_text("Staff only")
    everything = titles(listed).count()
    reference = listed.locator("[data-do=category][data-category=reference]")
    reference.click()
    expect(reference).to_have_attribute("aria-pressed", "true")
    expect(listed.locator("#documents-list h2")).to_have_text(["Reference"])
    assert int(re.findall(r"\d+", reference.inner_text())[0]) == titles(listed).count() < everything
    listed.locator("[data-do=category][data-category='']").click()

    expect(titles(listed)).to_have_count(everything)
    field.press_sequentially("johor")
    expect(titles(listed)).to_have_text([HTML_TITLE])
    expect(listed.locator("#documents-count")).to_have_text("1 document")
    field.fill("xylophone")

    expect(titles(listed)).to_have_count(0)
    expect(listed.locator("#documents-count")).to_have_text("0 documents")
    assert violations(listed) == []


def test_thousands_of_documents_come_as_they_are_scrolled_to_in_the_chosen_order(listed):
    asked = many_documents(listed)
    listed.get_by_role("combobox", name="Sort by").select_option("updated")
    expect(listed.locator("#documents-count")).to_have_text("5000 documents")
    rows = listed.locator("#documents-list li")
    expect(rows).to_have_count(100)
    expect(listed.locator("#documents-list h2")).to_have_count(0)
    expect(rows.first).to_contain_text("No date")
    expect(rows.first).to_contain_text("Used in answers: 3")
    rows.last.scroll_into_view_if_needed()

    expect(rows).to_have_count(200)
    assert asked[-1]["sort"] == ["updated"]
    assert violations(listed) == []


def many_documents(page: Page) -> list[dict[str, list[str]]]:
    """Answer the page's requests for the list with 5,000 documents; return what was asked for."""
    asked: list[dict[str, list[str]]] = []

    def answer(route: Route) -> None:
        wanted = parse_qs(urlsplit(route.request.url).query)
        asked.append(wanted)
        offset = int(wanted["offset"][0])
        found = route.fetch(url=route.request.url.replace(f"offset={offset}", "offset=0")).json()
        one = found["documents"][0]
        found["total"] = 5000
        found["documents"] = [
            one | {"doc_id": f"d{number}", "title": f"Document {number}", "used": 3, "warnings": ["undated"]}
            for number in range(offset, offset + 100)
        ]
        route.fulfill(json=found)

    page.route("**/api/documents?*", answer)
    return asked


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_document_is_read_beside_the_list_and_closed_again(listed, way):
    one = titles(listed).filter(has_text=GST_GUIDE)
    one.click() if way == "mouse" else one.press("Enter")
    viewer = listed.locator("#viewer")
    expect(viewer.locator("#viewer-title")).to_be_focused()
    expect(viewer.locator("#viewer-title")).to_have_text(GST_GUIDE)
    expect(viewer.locator(".words")).to_contain_text("Import GST in Singapore is 9 %")
    expect(viewer.locator("mark")).to_have_count(0)
    expect(viewer.get_by_role("link", name="Original")).to_have_attribute("rel", re.compile("noopener"))
    assert violations(listed) == []
    viewer.get_by_role("button", name="Close").click() if way == "mouse" else listed.keyboard.press("Escape")

    expect(viewer).to_be_hidden()
    expect(one).to_be_focused()


def test_a_document_says_why_the_last_answer_did_not_use_it(page, model):
    ask_and_wait(page, GST)
    titles(open_list(page)).filter(has_text=HTML_TITLE).click()
    control = page.locator("#viewer details.why")
    control.locator("summary").press("Enter")
    expect(control.get_by_role("textbox")).to_have_value(GST)
    assert violations(page) == []
    control.get_by_role("textbox").press("Enter")

    expect(control.get_by_role("status")).to_contain_text(re.compile("its best passage|none of its|shown it"))
    assert_fits(page)
    titles(page).filter(has_text=GST_GUIDE).click()
    control.locator("summary").click()
    control.get_by_role("button", name="Find out").click()
    expect(control.get_by_role("status")).to_contain_text(f"the answer cites {GST_GUIDE}")


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_the_pages_of_a_pdf_are_turned_forward_and_back(listed, way):
    titles(listed).filter(has_text=PDF_TITLE).click()
    paper, viewer = listed.locator("#viewer .paper"), listed.locator("#viewer")

    def turn(name: str) -> None:
        button = viewer.locator(f"[data-do={name}]")
        button.click() if way == "mouse" else button.press("Enter")

    for name, number in [("next", 2), ("next", 3), ("previous", 2), ("previous", 1)]:
        turn(name)
        expect(paper).to_have_attribute("data-page", str(number))
        expect(viewer.locator(".pages")).to_contain_text(f"Page {number} of 3")
    expect(viewer.locator("[data-do=previous]")).to_be_disabled()
    expect(viewer.locator("[data-do=next]")).to_be_focused()


def test_a_hostile_document_does_nothing_where_it_is_listed_read_and_removed(listed):
    one = titles(listed).filter(has_text="Carrier Notice 77")
    expect(one).to_have_text(HOSTILE_TITLE)
    one.click()
    expect(listed.locator("#viewer .words")).to_contain_text(HOSTILE_QUOTE)
    assert listed.locator("#viewer .words").locator("script, img, iframe, style, form, input, [onerror]").count() == 0
    addresses = listed.locator("#viewer a").evaluate_all("all => all.map((one) => one.protocol)")
    assert set(addresses) <= {"https:", "http:"}
    listed.get_by_role("button", name=f"Remove {HOSTILE_TITLE}").click()
    expect(listed.get_by_role("dialog")).to_contain_text(HOSTILE_TITLE)
    assert listed.locator("dialog img").count() == 0

    listed.get_by_role("button", name="Cancel").click()
    assert listed.title() == "Waypoint Co-Pilot"
    assert overflow(listed) <= 0


def test_a_removal_can_be_thought_over_and_waits_for_an_ingestion(listed, store, model, watch):
    watch.expected.append("status of 409")
    removes = listed.get_by_role("button", name=f"Remove {HTML_TITLE}")
    removes.click()
    dialog = listed.get_by_role("dialog")
    expect(dialog).to_contain_text("Everybody who may ask sees it now.")
    expect(dialog).to_contain_text("Answers will no longer use it.")
    expect(dialog).to_contain_text("their citations of it no longer open")
    assert violations(listed) == []
    listed.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(removes).to_be_focused()
    with open_index(settings_over(store, model.url)).stored.locked():
        removes.press("Enter")
        dialog.get_by_role("button", name="Remove", exact=True).click()

        expect(dialog.get_by_role("alert")).to_contain_text("Try again when that is done")


def test_a_removed_document_is_gone_from_answers_list_and_viewer_at_once(of_its_own, model):
    page = of_its_own
    ask_and_wait(page, PDF_QUESTION)
    page.keyboard.press("Control+k")
    answered = ask_and_wait(page, PDF_QUESTION)
    expect(answered.locator(".sources")).to_contain_text(PDF_TITLE)
    answered.locator(".badge").focus()
    expect(page.locator("#card")).to_contain_text("from the cache")
    answered.locator(".answer .chip").first.click()
    page.locator("#viewer .paper img").evaluate("(one) => one.decode()")
    open_list(page)
    page.get_by_role("button", name=f"Remove {PDF_TITLE}").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()

    expect(titles(page).filter(has_text=PDF_TITLE)).to_have_count(0)
    expect(page.locator("#viewer")).to_be_hidden()
    expect(page.locator("#documents-search")).to_be_focused()
    page.keyboard.press("Control+k")
    again = ask_and_wait(page, PDF_QUESTION)
    expect(again).not_to_have_attribute("data-outcome", "answered")
    for part in again.locator(".answer, .sources, .related, .closest").all():
        expect(part).not_to_contain_text(PDF_TITLE)
        expect(part).not_to_contain_text("accepts empty containers")
