"""Addresses: Back and Forward go through what was shown, a reload shows it again, and nothing leaves the page."""

import re

from playwright.sync_api import Page, Route, expect

from tests.web.asking import GST, PDF_QUESTION, ask_and_wait

CIF = "How does CIF differ from FOB in Incoterms 2020?"


def fragment(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def test_back_goes_through_conversations_and_ends_at_the_empty_page(page):
    ask_and_wait(page, GST)
    page.keyboard.press("Control+k")
    ask_and_wait(page, CIF)
    page.go_back()
    expect(page.locator("#welcome")).to_be_visible()
    page.go_back()
    expect(page.locator(".asked")).to_have_text(GST)
    expect(page.locator(".answer")).to_contain_text("9 %")
    page.go_back()
    expect(page.locator("#welcome")).to_be_visible()
    assert fragment(page) == ""

    for _ in range(3):
        page.go_forward()
    expect(page.locator(".asked")).to_have_text(CIF)


def test_a_question_before_the_page_knows_its_user_is_a_step_too(page):
    held: list[Route] = []
    page.route("**/api/me", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks the function.
    page.reload()
    ask_and_wait(page, GST)
    assert fragment(page) == ""
    held[0].continue_()
    expect(page).to_have_url(re.compile("#c="))
    page.go_back()

    expect(page.locator("#welcome")).to_be_visible()


def test_back_closes_a_document_and_forward_opens_it_at_its_words(page):
    exchange = ask_and_wait(page, GST)
    exchange.locator(".answer .chip").first.click()
    expect(page.locator("#viewer mark.quote").first).to_be_in_viewport()
    page.go_back()
    expect(page.locator("#viewer")).to_be_hidden()
    expect(page.locator(".asked")).to_have_text(GST)
    page.go_forward()

    expect(page.locator("#viewer mark.quote").first).to_be_in_viewport()


def test_each_page_of_a_pdf_has_an_address_that_a_reload_and_a_new_tab_show(page):
    ask_and_wait(page, PDF_QUESTION).locator(".answer .chip").first.click()
    sheet = page.locator("#viewer .paper")
    expect(sheet).to_have_attribute("data-page", "2")
    page.get_by_role("button", name="Next").click()
    expect(sheet).to_have_attribute("data-page", "3")
    assert "page=3" in fragment(page)
    page.reload()
    expect(sheet).to_have_attribute("data-page", "3")
    expect(page.locator(".asked")).to_have_text(PDF_QUESTION)

    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#viewer .paper")).to_have_attribute("data-page", "3")
    page.go_back()
    expect(sheet).to_have_attribute("data-page", "2")
    expect(page.locator("#viewer .box").first).to_be_visible()


def test_the_list_of_documents_has_an_address_and_the_link_to_the_box_moves_the_focus_only(page):
    ask_and_wait(page, GST)
    page.locator("#open-documents").click()
    expect(page.locator("#documents-list li").first).to_be_visible()
    page.reload()
    expect(page.locator("#documents-list li").first).to_be_visible()
    page.go_back()

    expect(page.locator("#documents")).to_be_hidden()
    expect(page.locator(".asked")).to_have_text(GST)
    page.locator(".skip").press("Enter")
    expect(page.locator(".asked")).to_have_text(GST)
    expect(page.locator("#question")).to_be_focused()


def test_a_deleted_conversation_is_told_of_when_back_leads_there(page):
    ask_and_wait(page, GST)
    page.get_by_role("button", name=f"Delete: {GST}").click()
    expect(page.locator("#welcome")).to_be_visible()
    page.go_back()

    expect(page.locator("#notice")).to_have_text(re.compile("not in this browser"))
    expect(page.locator("#welcome")).to_be_visible()
