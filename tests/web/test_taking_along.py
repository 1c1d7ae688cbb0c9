"""Taking an answer along: copied in three forms, printed, and judged."""

import re
from io import BytesIO
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from tests.web.asking import GST, GST_GUIDE, ask_and_wait

LCL = "How early must I book an LCL shipment?"
BOOKING = "Booking Procedure: Sea and Air Freight"
CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.fixture
def answered(open_page, model) -> Page:
    page: Page = open_page(permissions=CLIPBOARD)
    ask_and_wait(page, GST)
    return page


def pdf_text(pdf: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(BytesIO(pdf)).pages)


def clipboard(page: Page) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


# The button, what it says, how the copy begins, what it holds, and what it does not.
COPIES = {
    "as text with numbered sources": (
        *("copy-text", "Copied with its sources.", "9 % of the CIF value plus any duty [1]"),
        *(rf"Sources:\n\[1\] {re.escape(GST_GUIDE)}.*https://", "**"),
    ),
    "as markdown": (
        *("copy-markdown", "Markdown copied.", "**9 %** of the CIF value plus any duty [1]"),
        *(rf"1\. \[{re.escape(GST_GUIDE)}.*\]\(<https://", "as of"),
    ),
    "for a customer, without numbers, with dates and public links": (
        *("copy-customer", "Copied for the customer", "9 % of the CIF value plus any duty.\n\n- Goods by air"),
        *(r"Sources:\n- Singapore GST Guide.*, as of Mar 12, 2026\n  https://", "[1]"),
    ),
}


def test_an_answer_is_copied_with_its_sources(answered):
    for form, (button, says, begins, holds, lacks) in COPIES.items():
        answered.locator(f"[data-do={button}]").click()
        expect(answered.get_by_text(says).first).to_be_visible()
        text = clipboard(answered)
        assert text.startswith(f"Import GST in Singapore is {begins}"), form
        assert re.search(holds, text), form
        assert lacks not in text, form
    assert text.count(GST_GUIDE) == 1  # The last is for a customer.


def test_a_customer_is_told_no_internal_title_and_the_agent_is_warned(open_page, model):
    model.say(LCL, f"Five working days before ETD [{BOOKING} > How early to book].")
    page = open_page(permissions=CLIPBOARD)
    ask_and_wait(page, LCL)
    page.locator("[data-do=copy-customer]").click()

    expect(page.locator(".said")).to_contain_text("It also uses internal documents")
    assert clipboard(page) == "Five working days before ETD."


def test_as_an_e_mail(answered, watch):
    watch.expected += ["mailto:"]  # The browser of the tests has no mail program.
    with answered.expect_request(lambda request: request.url.startswith("mailto:")) as handed:
        answered.locator("[data-do=mail]").click()
    expect(answered.get_by_text("Opened in your mail program.").first).to_be_visible()

    told = parse_qs(urlsplit(handed.value.url).query)
    assert told["subject"] == [GST]
    assert told["body"][0].startswith("Import GST in Singapore is 9 %")
    assert f"- {GST_GUIDE}, as of" in told["body"][0]


def test_a_thumb_is_sent_can_be_taken_back_and_has_a_reason_with_it(answered):
    for thumb, score in (("up", 1), ("down", -1)):
        button = answered.locator(f"[data-do={thumb}]")
        with answered.expect_request("**/api/feedback") as sent:
            button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        assert sent.value.post_data_json["score"] == score
        with answered.expect_request("**/api/feedback") as undone:
            answered.get_by_role("button", name="Undo").click()
        assert undone.value.post_data_json["score"] == 0
        assert undone.value.response().status == 202
        expect(button).to_have_attribute("aria-pressed", "false")
    answered.locator("[data-do=down]").click()
    answered.get_by_label("Out of date").check()
    answered.get_by_role("textbox", name=re.compile("What should be better")).fill("The rate is from 2023.")
    with answered.expect_request("**/api/feedback") as sent:
        answered.get_by_role("button", name="Send", exact=True).click()
    assert sent.value.post_data_json["comment"] == "outdated; The rate is from 2023."
    expect(answered.get_by_text("Thank you for the reason.").first).to_be_visible()


def test_on_paper_stand_the_question_the_answer_and_its_sources_with_date_and_links(answered):
    answered.emulate_media(media="print")

    for shown in (".asked", ".answer", ".sources"):
        expect(answered.locator(shown).first).to_be_visible()
    for hidden in ("#ask", "#header", "#conversations", ".actions"):
        expect(answered.locator(hidden).first).to_be_hidden()
    text = pdf_text(answered.pdf(format="A4", landscape=True))

    assert "2026" in text.split(GST)[1].split("Import GST")[0]  # When it was asked.
    assert "Import GST in Singapore is 9 % of the CIF value plus any duty" in text  # In one line.
    assert "Mar 12, 2026" in text
    assert "https://" in text
