"""Who sees what on the page: strangers and the embedded page public documents only, staff internal ones too."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from tests.access import key_entry
from tests.web.asking import GST, ask_and_wait
from tests.web.axe import violations
from tests.web.service import serving
from tests.web.test_documents import open_list, titles
from tests.website import website

PATH = "/documents/04_internal_synthetic_booking_procedure"
QUESTION = "How early must I book an LCL shipment?"
WORDS = "An LCL shipment should be booked at least five working days before ETD."
KEYS = ",".join([key_entry("staff", "staff-key", "ask:internal+feedback"), key_entry("desk", "desk-key", "ask")])


@pytest.fixture(scope="module")
def url(corpus, model, site) -> Iterator[str]:
    """A service where strangers may ask, and staff has keys."""
    settings = {"auth_mode": "public", "api_keys": KEYS, "frame_ancestors": site.url}
    with serving(corpus, model, answer_log_days=90, **settings) as url:
        yield url


@pytest.fixture(autouse=True)
def _answers(model, watch) -> None:
    watch.expected += ["status of 403", "status of 404"]
    model.say(QUESTION, f"{WORDS[:-1]} [Booking Procedure: Sea and Air Freight > How early to book].")


def sign_in(page: Page, token: str) -> None:
    page.locator("#identity").get_by_role("button", name="Sign in").click()
    page.get_by_label("Token").fill(token)
    page.get_by_label("Token").press("Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()


def assert_nothing_internal(page: Page | FrameLocator) -> None:
    """Ask, and see that no internal document is shown or quoted."""
    expect(page.locator("article.exchange").last.locator(".answer")).not_to_contain_text("five working days")
    expect(page.locator("article.exchange .below").last).not_to_contain_text("Internal")


def test_a_stranger_finds_no_internal_document_anywhere(page):
    ask_and_wait(page, QUESTION)
    assert_nothing_internal(page)
    open_list(page)
    page.get_by_role("searchbox", name="Search documents").fill("booking")

    expect(page.locator("#documents-list ul[data-category=internal]")).to_have_count(0)
    expect(page.locator("#documents-categories")).not_to_contain_text("Internal")
    assert page.evaluate(f"fetch('{PATH}').then((response) => response.status)") == 404


def test_staff_sees_them_as_soon_as_it_has_signed_in_and_no_longer_when_it_has_signed_out(page):
    open_list(page)
    sign_in(page, "staff-key")
    internal = page.locator("#documents-list ul[data-category=internal] li")
    expect(internal.first).to_contain_text("Staff only")
    expect(page.locator("#drop")).to_have_count(0)  # Who may not add or remove is offered neither.
    expect(page.locator("#documents-insights")).to_be_hidden()
    expect(page.locator("[data-do=remove]")).to_have_count(0)
    page.locator("[data-do=back]").click()
    exchange = ask_and_wait(page, QUESTION)
    expect(exchange.locator(".answer")).to_contain_text("five working days")
    open_list(page)
    titles(page).first.click()
    expect(page.locator("#viewer .why")).to_have_count(1)
    page.get_by_role("button", name="Sign out").click()

    expect(internal).to_have_count(0)
    titles(open_list(page)).first.click()
    expect(page.locator("#viewer .words")).to_be_visible()
    expect(page.locator("#viewer .why")).to_have_count(0)
    assert page.evaluate(f"fetch('{PATH}').then((response) => response.status)") == 404


def test_the_embedded_page_sees_public_documents_only_though_staff_is_signed_in(open_page, site, url):
    page = open_page()
    sign_in(page, "staff-key")
    site.html("/", f"<!doctype html><title>Shop</title><script src='{url}/widget.js' defer></script>")
    page.goto(site.url)
    page.get_by_role("button", name="Ask", exact=False).click()
    panel = page.frame_locator("iframe")
    panel.get_by_role("textbox").fill(QUESTION)
    panel.get_by_role("textbox").press("Enter")
    expect(panel.locator("article.exchange")).to_have_attribute("data-state", "done")

    assert_nothing_internal(panel)
    status = "fetch('{path}', {{ headers: {{ 'X-Waypoint-Embed': '1' }} }}).then((response) => response.status)"
    assert page.frames[1].evaluate(status.format(path=PATH)) == 404
    page.goto(f"{url}/embed")  # By itself it is a stranger's too.
    ask_and_wait(page, QUESTION)
    assert_nothing_internal(page)


@pytest.fixture
def panel(open_page, site, url):
    """The co-pilot, opened by the button that the script puts on somebody's page."""
    site.html("/", f"<!doctype html><title>Shop</title><h1>Shop</h1><script src='{url}/widget.js' defer></script>")
    page = open_page(site.url)
    page.get_by_role("button", name="Ask", exact=False).click()
    return page


def test_the_button_opens_and_closes_the_page(panel):
    box = panel.frame_locator("iframe").get_by_role("textbox")
    expect(box).to_be_focused()
    panel.keyboard.press("Escape")
    expect(panel.locator("iframe")).to_be_hidden()

    panel.keyboard.press("Enter")

    expect(box).to_be_visible()
    panel.get_by_role("button", name="Close").click()
    expect(panel.locator("iframe")).to_be_hidden()


def test_a_page_of_another_origin_is_refused(open_page, site, url, watch):
    watch.expected += ["frame-ancestors", "X-Frame-Options", "refused to connect"]
    with website() as stranger:
        stranger.html("/", f"<!doctype html><iframe src='{url}/embed'></iframe>")
        page = open_page(stranger.url)
        page.wait_for_load_state("networkidle")

        assert page.frames[1].url.startswith("chrome-error:")
        assert any("frame-ancestors" in text for text in watch.complaints)


def test_axe_finds_nothing_on_the_embedded_page(open_page):
    assert violations(open_page("/embed")) == []


def link_of(page: Page, question: str) -> str:
    exchange = ask_and_wait(page, question)
    exchange.locator("[data-do=link]").click()
    expect(exchange).to_contain_text("It opens for colleagues who may see this answer.")
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_a_link_opens_for_a_colleague_with_its_sources_outlives_a_reload_and_stays_closed_to_a_stranger(open_page):
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
