"""A link to an answer: it opens for a colleague who may see it, and says why not to others."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.access import key_entry
from tests.web.asking import GST, GST_ANSWER, ask_and_wait
from tests.web.axe import violations
from tests.web.service import serving
from tests.web.test_audience import QUESTION, WORDS, sign_in

KEYS = ",".join([key_entry("staff", "staff-key", "ask:internal+feedback"), key_entry("desk", "desk-key", "ask")])


@pytest.fixture(scope="module")
def url(corpus, model) -> Iterator[str]:
    with serving(corpus, model, allow_anonymous=True, api_keys=KEYS, answer_log=True) as url:
        yield url


@pytest.fixture(autouse=True)
def _answers(model, watch) -> None:
    watch.expected += ["status of 403", "status of 404"]
    model.say(GST, GST_ANSWER)
    model.say(QUESTION, f"{WORDS[:-1]} [Booking Procedure: Sea and Air Freight > How early to book].")


def link_of(page: Page, question: str) -> str:
    exchange = ask_and_wait(page, question)
    exchange.locator("[data-do=link]").click()
    expect(exchange).to_contain_text("It opens for colleagues who may see this answer.")
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_a_link_opens_for_a_colleague_with_its_sources_and_outlives_a_reload(open_page):
    asker = open_page(permissions=["clipboard-read", "clipboard-write"])
    sign_in(asker, "staff-key")
    link = link_of(asker, QUESTION)
    colleague = open_page()
    sign_in(colleague, "staff-key")
    colleague.goto("about:blank")
    colleague.goto(link)

    expect(colleague.locator(".asked")).to_have_text(QUESTION)
    expect(colleague.locator("#notice")).to_contain_text("opened by a link")
    expect(colleague.locator(".badge")).to_be_visible()
    assert violations(colleague) == []
    colleague.locator(".answer .chip").first.click()
    expect(colleague.locator("#viewer mark.quote").first).to_be_in_viewport()
    colleague.reload()
    expect(colleague.locator(".asked")).to_have_text(QUESTION)


def test_a_stranger_is_told_to_sign_in_and_then_why_the_answer_stays_closed(open_page):
    asker = open_page(permissions=["clipboard-read", "clipboard-write"])
    sign_in(asker, "staff-key")
    link = link_of(asker, QUESTION)
    stranger = open_page()
    stranger.goto("about:blank")
    stranger.goto(link)
    expect(stranger.locator("#notice")).to_contain_text("Sign in to open this answer")
    expect(stranger.locator("article.exchange")).to_have_count(0)
    sign_in(stranger, "desk-key")

    expect(stranger.locator("#notice")).to_contain_text("internal documents, which you may not see")
    expect(stranger.locator("body")).not_to_contain_text("five working days")


def test_another_browser_lists_what_its_user_asked_before_and_opens_it(open_page):
    first = open_page()
    sign_in(first, "desk-key")
    ask_and_wait(first, GST)
    other = open_page()
    sign_in(other, "desk-key")
    earlier = other.locator("#conversations li.earlier").first
    expect(earlier).to_contain_text(GST)
    expect(first.locator("#conversations li.earlier")).to_have_count(0)
    earlier.get_by_role("button").click()

    expect(other.locator(".asked")).to_have_text(GST)
    expect(other.locator(".answer")).to_contain_text("9 %")
    assert violations(other) == []
