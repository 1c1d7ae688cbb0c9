"""The pages in a real browser without Internet: their policy refuses nothing that they need, and they work."""

from collections.abc import Iterator

import pytest

from tests.access import key_entry
from tests.browser import Page, browser, chromium
from tests.fakes import Reply, fake_groq
from tests.processes import service
from tests.served import ANSWER, QUESTION, small_services

pytestmark = [pytest.mark.service, pytest.mark.timeout(900)]

READER = {"X-API-Key": "reader-key"}  # What a proxy in front adds, so that a browser can open the pages.


@pytest.fixture(scope="module")
def url(tmp_path_factory) -> Iterator[str]:
    """`waypoint serve` under AUTH_MODE=api_key, with a Groq that always says the same."""
    folder = tmp_path_factory.mktemp("pages")
    with fake_groq() as groq:
        groq.replies = [Reply(ANSWER)]
        small_services(folder, groq)
        settings = {
            "CHROMA_PATH": str(folder / "store"),
            "LLM_API_KEY": "gsk_test",
            "LLM_BASE_URL": groq.url,
            "AUTH_MODE": "api_key",
            "API_KEYS": ",".join(
                [key_entry("reader", "reader-key", "ask"), key_entry("scraper", "scraper-key", "metrics")]
            ),
        }
        with service(folder, **settings) as running:
            yield running.url


@pytest.fixture
def page(tmp_path) -> Iterator[Page]:
    program = chromium()
    if program is None:
        pytest.skip("Chromium is not installed (Debian's package chromium)")
    with browser(program, tmp_path) as page:
        yield page


def assert_nothing_was_refused(page: Page, url: str) -> None:
    assert page.complaints() == []
    assert [asked for asked in page.requested() if not asked.startswith(f"{url}/")] == []


def test_what_authorize_is_told_opens_what_is_tried_out(page, url):
    page.open(f"{url}/docs", READER)
    page.wait_for("/api/query")
    page.click("button.authorize")
    page.write("#auth-bearer-value", "scraper-key")
    page.click(".auth-container button.authorize")
    page.click(".auth-container button.btn-done")
    operation = "#operations-operations-metrics_metrics_get"
    page.click(f"{operation} .opblock-summary-control")
    page.click(f"{operation} .try-out__btn")
    page.click(f"{operation} .execute")
    answered = ".live-responses-table tbody .response-col_status"
    page.wait(f"document.querySelector('{answered}')?.innerText.startsWith('200')")

    assert_nothing_was_refused(page, url)


def test_the_description_can_be_read_and_searched(page, url):
    page.open(f"{url}/redoc", READER)
    page.wait_for("Answer one question, with citations")
    page.write("input.search-input", "batch")
    page.wait("""document.querySelector('[data-role="search:results"]')?.innerText.includes("Batch")""")

    assert "AUTHORIZATIONS:" in page.text()
    assert_nothing_was_refused(page, url)


def test_the_playground_answers_a_question(page, url):
    page.open(f"{url}/copilot/playground/", READER)
    page.write("textarea", QUESTION)
    page.wait("""[...document.querySelectorAll("button")].some(one => one.innerText === "Start" && !one.disabled)""")
    page.value("""[...document.querySelectorAll("button")].find(one => one.innerText === "Start").click()""")
    page.wait_for(ANSWER)

    assert_nothing_was_refused(page, url)
