"""What to write next, as staff sees it in a browser."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from app.ledger.answers import DAY_S, LoggedAnswer
from app.wings.knowledge.answer_log import open_answers
from app.wiring.storage import ledger_of
from tests.web.axe import assert_fits
from tests.web.service import serving, settings_over
from tests.web.test_documents import open_list

DOG = "Can you ship a dog to Japan?"
ASKED = {
    DOG: "no_results",
    "Is it possible to ship dogs to Japan?": "no_results",
    "<b>Who</b> drives to Johor on a Sunday, a word as long as Donaudampfschifffahrtsgesellschaftskapitaen?": "unsure",
    "What is the GST rate?": "answered",
}


@pytest.fixture(scope="module")
def url(store, model) -> Iterator[str]:
    settings = settings_over(store, model.url)
    ledger_of(settings).run("DELETE FROM answers")  # What others asked of the corpus until now.
    answers = open_answers(settings)
    one = LoggedAnswer("", 0, "", None, None, "public", "", "high", 0.9, None, None, None)
    for number, (question, outcome) in enumerate(ASKED.items()):
        at = answers.now() - number * DAY_S
        answers.add(replace(one, trace_id=str(uuid4()), at=at, question=question, outcome=outcome))
    with serving(store, model) as url:
        yield url


def test_the_groups_of_questions_fit_and_axe_finds_nothing(open_page, shape):
    page = open_page("/insights", **shape)

    expect(page.get_by_role("heading", level=1)).to_have_text("What to write next")
    expect(page.locator("main")).to_contain_text("4 questions in 30 days, 25 % of them answered.")
    expect(page.locator("ol > li").first).to_contain_text("Asked: 2, last on")
    expect(page.locator("ol > li h2").last).to_contain_text("<b>Who</b> drives")
    assert_fits(page)


def test_who_looks_after_the_documents_finds_it_beside_them(page):
    open_list(page)
    page.get_by_role("link", name="What to write next").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("What to write next")


def test_it_is_in_the_visitors_language_and_leads_to_the_nearest_documents(open_page):
    page = open_page("/insights?lang=de", locale="de-DE")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.locator("ol > li a").first.click()

    expect(page.locator("main.document h1")).to_be_visible()
