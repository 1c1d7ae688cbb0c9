"""The pages that describe the service, without Internet: their policy refuses nothing that they need, and they work."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.access import key_entry
from tests.web.service import serving

READER = {"X-API-Key": "reader-key"}  # What a proxy in front adds, so that a browser can open the pages.
KEYS = ",".join([key_entry("reader", "reader-key", "ask"), key_entry("scraper", "scraper-key", "metrics")])


@pytest.fixture(scope="module")
def url(corpus, model) -> Iterator[str]:
    with serving(corpus, model, auth_mode="api_key", api_keys=KEYS) as url:
        yield url


def test_what_authorize_is_told_opens_what_is_tried_out(open_page):
    page: Page = open_page("/docs", extra_http_headers=READER)
    expect(page.locator("body")).to_contain_text("/api/query")
    page.locator("button.authorize").click()
    page.locator("#auth-bearer-value").fill("scraper-key")
    bearer = page.locator(".auth-container form").filter(has=page.locator("#auth-bearer-value"))
    bearer.locator("button.authorize").click()
    page.locator(".auth-container button.btn-done").first.click()
    operation = page.locator("#operations-operations-metrics_metrics_get")
    operation.locator(".opblock-summary-control").click()
    operation.locator(".try-out__btn").click()
    operation.locator(".execute").click()

    expect(page.locator(".live-responses-table tbody .response-col_status")).to_contain_text("200")


def test_the_description_can_be_read_and_searched(open_page):
    page: Page = open_page("/redoc", extra_http_headers=READER)
    expect(page.locator("body")).to_contain_text("Answer one question, with citations")
    page.locator("input.search-input").press_sequentially("batch")

    expect(page.locator("[data-role='search:results']")).to_contain_text("Batch")
    expect(page.locator("body")).to_contain_text("Authorizations:", ignore_case=True)


def test_the_playground_answers_a_question(open_page):
    page: Page = open_page("/copilot/playground/", extra_http_headers=READER)
    page.locator("textarea").first.fill("What is the import GST in Singapore?")
    page.get_by_role("button", name="Start", exact=True).click()

    expect(page.locator("body")).to_contain_text("[Singapore GST Guide")
