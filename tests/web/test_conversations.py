"""Conversations: kept in this browser, found, opened, deleted, linked to, and never sent."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.web.asking import GST, ask_and_wait, box
from tests.web.axe import SIZES, overflow, violations

CIF = "How does CIF differ from FOB in Incoterms 2020?"


@pytest.fixture
def two(page):
    ask_and_wait(page, GST)
    page.keyboard.press("Control+k")
    expect(page.locator("article.exchange")).to_have_count(0)
    ask_and_wait(page, CIF)
    return page


def test_a_new_conversation_begins_by_key_and_the_list_is_searched_beside_the_documents(two):
    expect(two.locator("#conversations li[data-id]")).to_have_count(2)
    two.keyboard.press("Control+k")

    expect(two.locator("#welcome")).to_be_visible()
    expect(box(two)).to_be_focused()
    listed = two.locator("#conversations li[data-id]")
    two.locator("#conversations input[type=search]").fill("gst")
    expect(listed).to_have_count(1)
    listed.locator("button.open").click()

    expect(two.locator(".asked")).to_have_text(GST)
    expect(two.locator(".answer")).to_contain_text("9 %")
    assert violations(two) == []
    two.locator("#open-documents").click()
    expect(two.locator("#documents-list li").first).to_be_visible()
    aside, documents = two.locator("#conversations").bounding_box(), two.locator("#documents").bounding_box()

    assert aside
    assert documents
    assert aside["x"] + aside["width"] <= documents["x"]


def test_a_conversation_is_saved_as_markdown_and_a_deleted_one_stays_gone_unless_it_is_taken_back(two):
    listed = two.locator("#conversations li[data-id]")
    listed.locator("button.open").last.click()
    with two.expect_download() as download:
        two.get_by_role("button", name="Save as markdown").click()
    text = download.value.path().read_text(encoding="utf-8")
    assert download.value.suggested_filename == "What-is-the-GST-rate-on-imports-into-Singapore.md"
    assert text.startswith(f"# {GST}\n\nConversation of ")
    assert f"## {GST}\n\nImport GST in Singapore is **9 %** of the CIF value plus any duty [1]." in text
    assert "1. [Singapore GST Guide" in text
    two.get_by_role("button", name=f"Delete: {GST}").click()
    expect(listed).to_have_count(1)
    two.locator("#conversations [data-do=undo]").click()
    expect(listed).to_have_count(2)
    two.get_by_role("button", name=f"Delete: {GST}").click()
    two.reload()

    expect(listed).to_have_count(1)
    assert GST not in two.evaluate("JSON.stringify(localStorage)")


def test_a_conversation_is_renamed_by_keyboard_and_keeps_its_name(two):
    current = two.locator("#conversations li:has([aria-current])")
    current.get_by_role("button", name="Rename").press("Enter")
    field = two.get_by_role("textbox", name="New name")
    expect(field).to_be_focused()
    assert violations(two) == []
    field.fill("Incoterms for Jo")
    field.press("Enter")
    expect(current.locator(".name")).to_have_text("Incoterms for Jo")
    expect(current.get_by_role("button", name="Rename")).to_be_focused()
    current.get_by_role("button", name="Rename").press("Enter")
    field.fill("Something else")
    field.press("Escape")
    ask_and_wait(two, "And the freight?")
    two.reload()

    expect(current.locator(".name")).to_have_text("Incoterms for Jo")


def test_printing_shows_the_conversation_whole_and_nothing_around_it(open_page):
    page = open_page(viewport=SIZES["phone"])
    ask_and_wait(page, GST)
    page.evaluate("window.print = () => { window.printed = true; }")
    page.locator("#open-conversations").click()
    page.get_by_role("button", name="Print or save as PDF").click()
    assert page.evaluate("window.printed")
    page.emulate_media(media="print")

    expect(page.locator(".answer li").first).to_be_visible()
    for around in ("#header", "#ask", "#conversations", ".unfold"):
        expect(page.locator(around).first).to_be_hidden()


def test_conversations_are_never_sent(open_page):
    page = open_page()
    sent = []
    page.on("request", lambda request: sent.append((request.url, request.post_data or "")))
    ask_and_wait(page, GST)
    page.keyboard.press("Control+k")
    ask_and_wait(page, CIF)
    page.reload()
    expect(page.locator("#conversations li[data-id]")).to_have_count(2)
    page.locator("#conversations input[type=search]").fill("gst")

    asked = [json.loads(body)["input"] for url, body in sent if url.endswith("/copilot/stream")]
    assert [(one["question"], one["history"]) for one in asked] == [(GST, []), (CIF, [])]
    others = [body for url, body in sent if not url.endswith(("/copilot/stream", "/page/render"))]
    assert not any(GST in body or "gst" in body for body in others)


def test_a_link_leads_to_one_answer_of_the_conversation(open_page, model):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    first = ask_and_wait(page, GST)
    for number in range(3):
        ask_and_wait(page, f"What is import GST for parcel {number} in Singapore?")
    first.locator("[data-do=link]").click()
    expect(first).to_contain_text("Link copied")
    link = page.evaluate("navigator.clipboard.readText()")
    page.goto("about:blank")
    page.goto(link)

    target = page.locator("article.exchange").first
    expect(target.locator(".asked")).to_have_text(GST)
    expect(target).to_be_in_viewport()
    expect(page.locator("article.exchange")).to_have_count(4)


def test_a_link_from_another_browser_says_why_it_leads_nowhere(open_page):
    page = open_page("/#c=nowhere&a=nothing")

    expect(page.get_by_text(re.compile("not in this browser"))).to_be_visible()


def test_on_a_phone_the_list_lies_over_the_conversation_until_one_is_opened(open_page):
    page = open_page(viewport=SIZES["phone"], has_touch=True)
    ask_and_wait(page, GST)
    page.locator("#new-conversation").tap()
    opens = page.get_by_role("button", name="Conversations")
    opens.tap()
    expect(opens).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#conversations [data-do=delete]")).to_have_css("opacity", "1")
    assert violations(page) == []
    page.locator("#conversations li[data-id] button.open").tap()

    expect(page.locator(".asked")).to_have_text(GST)
    expect(page.locator("#conversations")).to_be_hidden()
    assert overflow(page) <= 0
