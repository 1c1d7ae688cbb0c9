"""Signing in and out on the page, and what the cookie is good for; test_faults.py signs in by a session."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.access import key_entry
from tests.web.axe import violations
from tests.web.service import serving
from tests.website import website

SCOPES = {"desk": "ask+feedback", "staff": "ask:internal+feedback", "reader": "ask", "scraper": "metrics"}
KEYS = ",".join(key_entry(name, f"{name}-key", scopes) for name, scopes in SCOPES.items())
REFUSED = "status of 401"  # The browser writes refused requests to its console.


@pytest.fixture(scope="module")
def url(corpus, model) -> Iterator[str]:
    with serving(corpus, model, auth_mode="api_key", api_keys=KEYS) as url:
        yield url


def sign_in(page: Page, token: str) -> None:
    page.get_by_label("Token").fill(token)
    page.get_by_label("Token").press("Enter")


def test_the_dialog_opens_by_itself_refuses_a_wrong_key_in_words_and_lets_the_right_one_in(page, watch):
    expect(page.get_by_role("dialog", name="Sign in")).to_be_visible()
    expect(page.get_by_label("Token")).to_be_focused()
    assert violations(page) == []
    watch.expected.append(REFUSED)
    sign_in(page, "no-key")
    expect(page.get_by_role("alert")).to_contain_text("This token is invalid")
    sign_in(page, "desk-key")

    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("#identity")).to_contain_text("desk")
    assert violations(page) == []


def test_the_cookie_is_kept_from_scripts_and_other_sites_and_goes_with_signing_out(page, watch):
    sign_in(page, "desk-key")
    expect(page.locator("#identity")).to_contain_text("desk")
    (cookie,) = [cookie for cookie in page.context.cookies() if cookie["value"] == "desk-key"]

    assert (cookie["httpOnly"], cookie["sameSite"], cookie["expires"]) == (True, "Strict", -1)
    assert "desk-key" not in page.evaluate("document.cookie")
    kept = page.evaluate("JSON.stringify([localStorage, sessionStorage])")
    assert "desk-key" not in kept
    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_role("button", name="Sign in").first).to_be_visible()
    assert page.evaluate("fetch('/api/documents').then((response) => response.status)") == 401
    watch.expected.append(REFUSED)


def test_the_cookie_counts_for_nothing_in_a_form_of_another_origin(page, url, watch):
    watch.expected += [REFUSED, "status of 403", "status of 404"]  # What refuses has no icon.
    sign_in(page, "staff-key")
    expect(page.locator("#identity")).to_contain_text("staff")
    with website() as stranger:
        page_of_theirs = f"""<!doctype html><form method="post" enctype="text/plain" action="{url}/sign-out"></form>
        <form method="post" enctype="text/plain" action="{url}/copilot/invoke">
        <input name='{{"input": {{"question": "x"}}, "y' value='": 1}}'></form>"""
        stranger.html("/", page_of_theirs)
        for number in (0, 1):
            page.goto(stranger.url)
            with page.expect_navigation() as navigation:
                page.evaluate(f"document.forms[{number}].submit()")
            assert navigation.value.status in {401, 403, 415, 422}
    page.goto(url)

    expect(page.locator("#identity")).to_contain_text("staff")


READER = {"X-API-Key": "reader-key"}  # What a proxy in front adds, so that a browser can open the pages.


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
