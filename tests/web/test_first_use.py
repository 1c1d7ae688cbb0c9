"""The first use: a service that was started in an empty folder prints where its page is, and answers there."""

import re

import pytest
from playwright.sync_api import expect

from app.web import words
from benchmarks.processes import service


def test_the_printed_address_leads_to_a_page_that_answers_its_first_example(browser, watch, tmp_path):
    with service(tmp_path, LLM_PROVIDER="offline") as started:
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
