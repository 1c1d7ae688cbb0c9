"""Voice: off until it is turned on; the browser dictates and reads aloud, here in a stand-in for its speech service."""

import pytest
from playwright.sync_api import Page, expect

from tests.web.asking import GST, ask_and_wait, box
from tests.web.axe import violations

# A browser without a window has neither a microphone nor a speech service.
SPEECH = """
class Recognition extends EventTarget {
  static available = async ({ langs }) => { window.wanted = langs; return "available"; };
  start() {
    window.heard = this;
    this.dispatchEvent(Object.assign(new Event("result"), { results: [[{ transcript: "to Indonesia" }]] }));
  }
  stop() { this.dispatchEvent(new Event("end")); }
  abort() { this.stop(); }
}
window.SpeechRecognition = window.webkitSpeechRecognition = Recognition;
window.spoken = [];
speechSynthesis.speak = (one) => window.spoken.push(one.text);
"""


@pytest.fixture
def page(open_page, model) -> Page:
    opened: Page = open_page("about:blank", viewport={"width": 360, "height": 740})
    opened.add_init_script(SPEECH)
    opened.goto("/")
    return opened


def switch(page: Page) -> None:
    page.locator("#voice").click()


def test_voice_is_off_until_it_is_turned_on_and_says_who_hears_it(page):
    dictate = page.get_by_role("button", name="Dictate")
    expect(dictate).to_be_hidden()
    switch(page)

    expect(dictate).to_be_visible()
    expect(page.get_by_text("This service sends it nowhere")).to_be_visible()
    assert violations(page) == []
    page.reload()
    expect(dictate).to_be_visible()
    switch(page)
    expect(dictate).to_be_hidden()


def test_what_is_dictated_stands_behind_what_was_typed_and_stays_on_the_machine_where_that_is_possible(page):
    switch(page)
    box(page).fill("Which papers")
    page.get_by_role("button", name="Dictate").click()
    expect(box(page)).to_have_value("Which papers to Indonesia")
    expect(page.locator("#dictate")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Stop dictating").click()

    expect(page.locator("#dictate")).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("[window.heard.processLocally, window.wanted[0].slice(0, 2)]") == [True, "en"]


@pytest.mark.parametrize(("error", "told"), [("not-allowed", "Allow it for this page"), ("network", "did not answer")])
def test_a_dictation_that_fails_says_why(page, error, told):
    switch(page)
    page.get_by_role("button", name="Dictate").click()
    page.evaluate(f"window.heard.dispatchEvent(Object.assign(new Event('error'), {{ error: '{error}' }}))")

    expect(page.locator("#voice-note")).to_contain_text(told)


def test_an_answer_is_read_aloud_without_the_numbers_of_its_sources(page):
    exchange = ask_and_wait(page, GST)
    read = exchange.locator("[data-do=read]")
    expect(read).to_be_hidden()
    switch(page)
    read.click()

    said = page.evaluate("window.spoken[0]")
    assert said.startswith("Import GST in Singapore is 9 % of the CIF value plus any duty.")
    expect(read).to_have_attribute("aria-pressed", "true")
    read.click()
    expect(read).to_have_attribute("aria-pressed", "false")


def test_a_browser_without_a_voice_and_a_page_inside_another_offer_none(open_page):
    bare = open_page("about:blank")
    bare.add_init_script(
        "for (const name of ['SpeechRecognition', 'webkitSpeechRecognition', 'speechSynthesis'])"
        " Object.defineProperty(window, name, { value: undefined });"
    )
    bare.goto("/")
    framed = open_page("/embed")

    for page in (bare, framed):
        expect(page.locator("body")).to_have_attribute("data-ready", "")
        expect(page.locator("#voice")).to_be_hidden()
