"""What safety did with a question is told: what was taken out of it, and that it was held back by a moderator."""

import json

from playwright.sync_api import Route, expect

from tests.web.asking import GST, GST_ANSWER, ask_and_wait
from tests.web.axe import violations

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
