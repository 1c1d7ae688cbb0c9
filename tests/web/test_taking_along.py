"""Taking an answer along: copied in three forms, printed, and judged."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.web.asking import GST, GST_ANSWER, GST_GUIDE, ask_and_wait

CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.fixture
def answered(open_page, model) -> Page:
    model.say(GST, GST_ANSWER)
    page: Page = open_page(permissions=CLIPBOARD)
    ask_and_wait(page, GST)
    return page


def clipboard(page: Page) -> str:
    """Return what was copied."""
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_as_text_with_numbered_sources(answered):
    answered.locator("[data-do=copy-text]").click()
    expect(answered.get_by_text("Copied with its sources.").first).to_be_visible()

    text = clipboard(answered)
    assert text.startswith("Import GST in Singapore is 9 % of the CIF value plus any duty [1]")
    assert re.search(rf"Sources:\n\[1\] {re.escape(GST_GUIDE)}.*https://", text)
    assert "**" not in text


def test_as_markdown(answered):
    answered.locator("[data-do=copy-markdown]").click()
    expect(answered.get_by_text("Markdown copied.").first).to_be_visible()

    text = clipboard(answered)
    assert text.startswith("Import GST in Singapore is **9 %** of the CIF value plus any duty [1]")
    assert re.search(rf"1\. \[{re.escape(GST_GUIDE)}.*\]\(<https://", text)


def test_as_an_e_mail(answered, watch):
    watch.expected += ["mailto:"]  # The browser of the tests has no mail program.
    with answered.expect_request(lambda request: request.url.startswith("mailto:")) as handed:
        answered.locator("[data-do=mail]").click()
    expect(answered.get_by_text("Opened in your mail program.").first).to_be_visible()

    told = parse_qs(urlsplit(handed.value.url).query)
    assert told["subject"] == [GST]
    assert f"{GST}\r\n\r\nImport GST in Singapore is 9 %" in told["body"][0]
    assert f"[1] {GST_GUIDE}" in told["body"][0]


@pytest.mark.parametrize("thumb", ["up", "down"])
def test_a_thumb_is_sent_and_can_be_taken_back(answered, thumb):
    button = answered.locator(f"[data-do={thumb}]")
    with answered.expect_request("**/api/feedback") as sent:
        button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert sent.value.post_data_json["score"] == (1 if thumb == "up" else -1)
    with answered.expect_request("**/api/feedback") as undone:
        answered.get_by_role("button", name="Undo").click()

    assert undone.value.post_data_json["score"] == 0
    assert undone.value.response().status == 202
    expect(button).to_have_attribute("aria-pressed", "false")


def test_a_reason_goes_with_a_thumb_down(answered):
    answered.locator("[data-do=down]").click()
    answered.get_by_label("Out of date").check()
    answered.get_by_role("textbox", name=re.compile("What should be better")).fill("The rate is from 2023.")
    with answered.expect_request("**/api/feedback") as sent:
        answered.get_by_role("button", name="Send", exact=True).click()

    assert sent.value.post_data_json["comment"] == "outdated; The rate is from 2023."
    expect(answered.get_by_text("Thank you for the reason.").first).to_be_visible()


def test_on_paper_stand_the_question_the_answer_and_its_sources(answered):
    answered.emulate_media(media="print")

    for shown in (".asked", ".answer", ".sources"):
        expect(answered.locator(shown).first).to_be_visible()
    for hidden in ("#ask", "#header", "#conversations", ".actions"):
        expect(answered.locator(hidden).first).to_be_hidden()
    assert answered.pdf()
