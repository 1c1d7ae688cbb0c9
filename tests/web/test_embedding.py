"""The page inside somebody else's page: by script and by frame, for named origins, with public documents only."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.web.axe import violations
from tests.web.service import serving
from tests.web.site import other_site

INTERNAL = "How early must I book an LCL shipment?"


@pytest.fixture(scope="module")
def url(corpus, model, site) -> Iterator[str]:
    with serving(corpus, model, frame_ancestors=site.url) as url:
        yield url


@pytest.fixture
def panel(open_page, site, url):
    """The co-pilot, opened by the button that the script puts on somebody's page."""
    site.html = f"<!doctype html><title>Shop</title><h1>Shop</h1><script src='{url}/widget.js' defer></script>"
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
    with other_site() as stranger:
        stranger.html = f"<!doctype html><iframe src='{url}/embed'></iframe>"
        page = open_page(stranger.url)
        page.wait_for_load_state("networkidle")

        assert page.frames[1].url.startswith("chrome-error:")
        assert any("frame-ancestors" in text for text in watch.complaints)


def test_the_whole_page_cannot_be_framed_even_by_a_named_origin(open_page, site, url, watch):
    watch.expected += ["frame-ancestors", "X-Frame-Options"]
    site.html = f"<!doctype html><iframe src='{url}/'></iframe>"
    page = open_page(site.url)
    page.wait_for_load_state("networkidle")

    assert page.frames[1].url.startswith("chrome-error:")


def test_axe_finds_nothing_on_the_embedded_page(open_page):
    assert violations(open_page("/embed")) == []
