"""An answer that is not sure: shown as one, with its source, above passages drawn as they stand in the document.

The service has no language model, and the question is one that it has no sure answer to.
"""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, expect

from tests.web.asking import ask_and_wait
from tests.web.axe import SIZES, assert_fits, overflow
from tests.web.service import serving

VAGUE = (
    *("What is the quotation turnaround time for LCL?", "How soon must we hear about a booking for reefers?"),
    *("How long does the desk need for dangerous goods?", "Which fee do we pay for storage at the port?"),
    "When do we have to tell them about a late container?",
)
PHONE: dict[str, Any] = {"viewport": SIZES["phone"], "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def url(corpus, model) -> Iterator[str]:
    with serving(corpus, model, llm_provider="offline") as url:
        yield url


@pytest.fixture(scope="module")
def unsure(url) -> dict[str, Any]:
    """The service's answer to a question of `VAGUE` that is unsure and has a table among the closest passages."""
    for question in VAGUE:
        answer: dict[str, Any] = httpx.post(f"{url}/api/query", json={"query": question}).raise_for_status().json()
        if answer["outcome"] == "unsure" and any("|" in passage["quote"] for passage in answer["closest"]):
            return answer | {"question": question}
    pytest.fail("none of the questions has an unsure answer with a table below it")


def shown_text(place: Locator) -> str:
    return re.sub(r"\s+", " ", place.inner_text())


def test_it_is_an_answer_with_a_low_badge_its_chip_and_its_source(page, unsure):
    exchange = ask_and_wait(page, unsure["question"])

    expect(exchange).to_have_attribute("data-outcome", "unsure")
    expect(exchange.locator(".confidence")).to_have_attribute("data-level", "low")
    expect(exchange.locator(".confidence .reason")).to_contain_text("This may not be the answer.")
    expect(exchange.locator(".answer")).to_contain_text("Closest in the documents; check it:")
    expect(exchange.locator(".sources li")).not_to_have_count(0)
    expect(exchange.get_by_role("button", name="Change the question")).to_be_visible()
    for part in (".banner", ".replaced", ".draft"):
        expect(exchange.locator(part)).to_have_count(0)
    exchange.locator(".answer .chip").first.click()
    expect(page.locator("#viewer mark").first).to_be_visible()
    exchange = ask_and_wait(page, "How soon must we hear about a booking for reefers to Ulaanbaatar?")
    expect(exchange.locator(".confidence .reason")).to_contain_text("No source mentions “Ulaanbaatar”")


def test_the_closest_passages_are_drawn_each_section_is_named_once_and_a_reload_shows_the_same(page, unsure):
    closest = ask_and_wait(page, unsure["question"]).locator(".closest")
    names, before = closest.locator(".source-title").all_text_contents(), shown_text(closest)
    expect(closest.locator("table").first).to_be_visible()
    expect(closest.locator("th").first).not_to_be_empty()
    assert not re.search(r"\||\*\*|---|#", shown_text(closest))
    assert len(names) == len(set(names))
    marked = [passage["marked"] for passage in unsure["closest"] if passage["marked"]]
    assert closest.locator("mark").count() >= len(marked) > 0
    closest.locator("li:has(mark) .source-title").first.click()
    expect(page.locator("#viewer mark").first).to_be_visible()
    page.keyboard.press("Escape")
    page.reload()
    expect(page.locator(".closest table").first).to_be_visible()
    assert shown_text(page.locator(".closest")) == before


def test_on_a_phone_the_statement_is_shown_and_not_only_the_line_that_announces_it(open_page, unsure):
    page = open_page(**PHONE)
    exchange = ask_and_wait(page, unsure["question"])

    expect(exchange.locator(".answer .chip").first).to_be_visible()
    expect(exchange.locator(".badge")).to_be_visible()
    expect(exchange.locator(".closest table").first).to_be_visible()
    assert overflow(page) <= 0


def test_it_fits_and_axe_finds_nothing(open_page, unsure, shape):
    page = open_page(**shape)
    ask_and_wait(page, unsure["question"])

    assert_fits(page)


def test_of_two_questions_the_one_that_is_not_sure_does_not_count_as_answered(page, unsure):
    exchange = ask_and_wait(page, f"What is the GST rate on imports into Singapore? {unsure['question']}")

    expect(exchange.locator(".parts-summary")).to_have_text("2 questions, 1 answered. Without a sure answer: 2.")
