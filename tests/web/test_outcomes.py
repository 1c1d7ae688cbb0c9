"""The outcomes: each looks like what it is and offers the next step, at both widths and in both schemes."""

import json

import pytest
from playwright.sync_api import Route, expect

from tests.web.asking import GST, GST_ANSWER, NO_RESULTS, ask_and_wait
from tests.web.axe import assert_fits, violations
from tests.web.outcomes import (
    ASKED_BACK,
    BLOCKED,
    DECLINED,
    DEGRADED,
    FOREIGN,
    INVENTED,
    OUTCOMES,
    PARTLY,
    RATES,
    SMALL_TALK,
    UNGROUNDED,
    hold_back,
    say_outcomes,
)


@pytest.fixture(autouse=True)
def _answers(model) -> None:
    say_outcomes(model)


def test_every_outcome_fits_and_axe_finds_nothing(open_page, shape):
    page = open_page(**shape)
    hold_back(page)
    for outcome, question in OUTCOMES.items():
        expect(ask_and_wait(page, question)).to_have_attribute("data-outcome", outcome)

    assert_fits(page)


@pytest.mark.parametrize("question", [DECLINED, UNGROUNDED, NO_RESULTS])
def test_a_decline_is_said_once_and_offers_other_words_where_nothing_is_found(page, question):
    exchange = ask_and_wait(page, question)

    expect(exchange.locator(".answer")).to_contain_text("the documents")
    for part in (".banner", ".badge"):
        expect(exchange.locator(part)).to_have_count(0)
    if question == NO_RESULTS:
        expect(exchange.locator(".answer")).to_contain_text("Please try other words")
        expect(exchange.locator(".closest > ol > li")).to_have_count(3)
        expect(exchange.get_by_role("button", name="Browse the documents")).to_be_visible()


def test_what_is_declined_folds_the_closest_passages_names_the_team_and_lets_the_question_be_changed(page):
    exchange = ask_and_wait(page, DECLINED)

    expect(exchange.locator(".confidence")).to_have_text("No source mentions “Atlantis”")
    expect(exchange.locator(".team")).to_contain_text("Ask:")
    exchange.get_by_role("button", name="Change the question").click()
    expect(page.locator("#question")).to_have_value(DECLINED)
    passages = exchange.locator(".closest > ol > li")

    expect(passages).to_have_count(3)
    assert all(box["height"] < 40 for passage in passages.all() if (box := passage.bounding_box()))
    expect(passages.first.locator("blockquote")).to_be_hidden()
    passages.first.locator("summary").click()
    expect(passages.first.locator("blockquote")).to_be_visible()
    expect(exchange.locator(".closest mark")).to_have_count(0)
    passages.first.get_by_role("button", name="Open the document").click()
    expect(page.locator("#viewer mark").first).to_be_visible()


@pytest.mark.parametrize("question", [SMALL_TALK, ASKED_BACK])
def test_small_talk_and_a_question_back_are_no_failure(page, question):
    exchange = ask_and_wait(page, question)

    expect(exchange.locator(".answer")).not_to_be_empty()
    for part in (".banner", ".confidence", ".next", ".closest", ".actions"):
        expect(exchange.locator(part)).to_have_count(0)


def test_a_question_for_another_desk_names_it_and_one_that_is_held_back_says_what_may_be_changed(page):
    hold_back(page)
    exchange = ask_and_wait(page, RATES)

    expect(exchange).to_have_attribute("data-outcome", "redirected")
    expect(exchange.locator(".team")).to_contain_text("Pricing desk")
    for part in (".banner", ".badge"):
        expect(exchange.locator(part)).to_have_count(0)
    exchange = ask_and_wait(page, BLOCKED)
    expect(exchange.locator(".banner")).to_contain_text("Not answered, for safety")
    expect(exchange.get_by_role("button", name="Change the question")).to_be_visible()


def test_a_sentence_that_no_document_says_is_folded_and_left_out_of_copies(page):
    hold_back(page)
    exchange = ask_and_wait(page, PARTLY)

    expect(exchange.locator(".answer")).to_contain_text("Birds fly")
    expect(exchange.locator(".answer")).not_to_contain_text("Elephants")
    expect(exchange.locator(".draft p")).not_to_be_visible()
    exchange.locator(".draft summary").click()
    expect(exchange.locator(".draft p")).to_have_text("Elephants fly.")
    expect(exchange.locator(".answer li")).to_have_count(1)


def test_what_no_source_supports_is_never_shown_as_the_answer(page, model):
    model.say(UNGROUNDED, INVENTED)
    exchange = ask_and_wait(page, UNGROUNDED)

    expect(exchange).to_have_attribute("data-outcome", "ungrounded")
    expect(exchange.locator(".answer")).not_to_contain_text("moon")
    expect(exchange.locator(".replaced")).to_have_count(0)
    exchange.locator(".draft summary").click()
    expect(exchange.locator(".draft p")).to_have_text(INVENTED)


def test_a_quoted_answer_says_so_and_can_be_asked_again(page, model):
    exchange = ask_and_wait(page, DEGRADED)
    expect(exchange.locator(".banner")).to_contain_text("Quoted, not written")
    model.say(DEGRADED, "The seller pays more [Incoterms 2020 Quick Comparison].")
    exchange.locator("[data-do=again]").first.click()

    expect(exchange).to_have_attribute("data-outcome", "answered")


MAIL = "anna@example.org"
HELP = "People can help right now: call 995."


def test_the_personal_data_that_was_taken_out_is_named_and_never_reached_the_model(page, model):
    model.say(f"{GST} Write to <EMAIL> or <PHONE>.", GST_ANSWER)

    exchange = ask_and_wait(page, f"{GST} Write to {MAIL} or +65 6123 4567.")

    expect(exchange).to_have_attribute("data-outcome", "answered")
    removed = "Removed from your question before it was read: e-mail address, telephone number."
    expect(exchange.locator(".removed")).to_have_text(removed)
    assert violations(page) == []
    assert MAIL not in json.dumps([received.body for received in model.received])

    page.reload()
    expect(page.locator("article.exchange .removed")).to_have_text(removed)


def test_words_that_help_stand_alone(page):
    safety = {"action": "blocked", "reason": "moderation", "redacted": []}
    part = {"outcome": "blocked", "answer": HELP, "citations": [], "documents": [], "metadata": {"safety": safety}}

    def answer(route: Route) -> None:
        body = f"event: data\r\ndata: {json.dumps(part)}\r\n\r\nevent: end\r\n\r\n"
        route.fulfill(content_type="text/event-stream", body=body)

    page.route("**/copilot/stream", answer)
    exchange = ask_and_wait(page, "I cannot go on")

    expect(exchange.locator(".answer")).to_have_text(HELP)
    expect(exchange.locator(".banner")).to_have_count(0)


def test_an_answer_in_the_language_of_the_question_stands_above_the_english_one_and_says_what_it_is(page):
    hold_back(page)
    exchange = ask_and_wait(page, FOREIGN)
    for _ in range(2):
        translation = exchange.locator(".translation")
        expect(translation).to_contain_text("Translated by the language model")
        expect(translation.locator("li")).to_have_text(["Fische schwimmen.", "<b>Mehr</b> nicht."])
        expect(exchange.locator(".answer")).to_have_text("Fish swim.")
        assert violations(page) == []
        page.reload()
    expect(ask_and_wait(page, GST).locator(".translation")).to_have_count(0)
