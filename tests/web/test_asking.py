"""Asking: the box, its keys, the examples, and an answer that is seen growing, stopped and followed up."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.waiting import PATIENCE_S
from tests.web.asking import FIRST_SENTENCE, GST, GST_ANSWER, REFUSAL, ask, ask_and_wait, box
from tests.web.axe import violations
from tests.web.outcomes import DEGRADED, say_outcomes

SLOW = "How much is the GST, slowly?"


def test_enter_asks_and_shift_enter_breaks_the_line(page, model):
    box(page).press_sequentially("What is the GST rate")
    box(page).press("Shift+Enter")
    box(page).press_sequentially("on imports into Singapore?")
    expect(box(page)).to_have_value("What is the GST rate\non imports into Singapore?")
    box(page).press("Enter")

    expect(page.locator("article.exchange")).to_have_attribute("data-state", "done")
    expect(page.locator(".asked")).to_have_text("What is the GST rate\non imports into Singapore?")
    expect(box(page)).to_have_value("")
    expect(box(page)).to_be_focused()


def test_an_example_is_asked_by_one_click(page):
    examples = page.locator("#examples button")
    assert examples.count() >= 3
    question = examples.first.inner_text()
    examples.first.click()

    expect(page.locator(".asked")).to_have_text(question)
    expect(page.locator("#welcome")).to_be_hidden()


def test_what_is_typed_is_counted_not_sent_when_too_long_and_outlives_a_reload(page, model):
    box(page).fill("x" * 4001)

    expect(page.locator("#counter")).to_contain_text("shorten it by 1")
    expect(page.locator("#send")).to_be_disabled()
    box(page).press("Enter")
    assert page.locator("article.exchange").count() == 0
    assert violations(page) == []
    box(page).fill("A long question that nobody wants to type again")
    page.reload()

    expect(box(page)).to_have_value("A long question that nobody wants to type again")


def test_a_slow_answer_is_seen_growing_without_the_signs_of_markdown(page, model):
    saying = model.say(SLOW, GST_ANSWER, words=FIRST_SENTENCE)
    exchange = ask(page, SLOW)
    answer = exchange.locator(".answer")
    expect(answer).to_contain_text("Import GST in Singapore is 9 %")
    expect(exchange).to_have_attribute("data-state", "writing")
    assert "S$81" not in answer.inner_text()
    assert "**" not in answer.inner_text()
    assert violations(page) == []
    saying.go_on()

    expect(exchange).to_have_attribute("data-state", "done")


def test_growing_text_does_not_jump(page, model):
    saying = model.say(SLOW, "\n\n".join([GST_ANSWER] * 4), words=FIRST_SENTENCE)
    exchange = ask(page, SLOW)
    first = exchange.locator(".answer p").first
    expect(first).to_contain_text("Import GST in Singapore")
    before = first.bounding_box()
    saying.go_on(120)
    expect(exchange.locator(".answer p")).to_have_count(2)
    after = first.bounding_box()
    saying.go_on()
    expect(exchange).to_have_attribute("data-state", "done")

    assert before
    assert after
    assert (before["x"], before["width"]) == (after["x"], after["width"])


@pytest.mark.parametrize("way", ["button", "Escape"])
def test_stop_ends_the_models_call_and_keeps_what_came(page, model, way):
    saying = model.say(SLOW, GST_ANSWER, words=FIRST_SENTENCE)
    exchange = ask(page, SLOW)
    expect(exchange.locator(".answer")).to_contain_text("Import GST in Singapore")
    page.keyboard.press("Escape") if way == "Escape" else page.get_by_role("button", name="Stop").click()

    expect(exchange).to_have_attribute("data-state", "stopped")
    assert saying.left.wait(PATIENCE_S)
    expect(exchange.locator(".answer")).to_contain_text("Import GST in Singapore")
    expect(exchange).to_contain_text("Stopped. The answer so far is kept.")
    expect(box(page)).to_be_focused()


def test_leaving_the_page_ends_the_models_call_too(open_page, model):
    page = open_page()
    saying = model.say(SLOW, GST_ANSWER, words=FIRST_SENTENCE)
    ask(page, SLOW)
    assert saying.asked.wait(PATIENCE_S)
    page.close()

    assert saying.left.wait(PATIENCE_S)


def without_markers(answer: str) -> str:
    return re.sub(r" \[[^]]+]", "", answer)


def test_a_follow_up_takes_the_conversation_along(page, model):
    follow_up = "And for goods below 400 dollars in Singapore?"
    model.say(follow_up, GST_ANSWER)
    ask_and_wait(page, GST)
    exchange = ask_and_wait(page, follow_up)

    expect(exchange).to_have_attribute("data-outcome", "answered")
    *_, told = model.asked(follow_up)  # The first is asked to make the follow-up stand alone.
    assert [(turn["role"], turn["content"]) for turn in told["messages"][1:-1]] == [
        ("user", GST),
        ("assistant", without_markers(GST_ANSWER)),
    ]


def test_the_query_of_a_follow_up_is_shown_and_one_click_asks_its_own_words(page, model):
    ask_and_wait(page, GST)
    assert page.locator(".searched").count() == 0
    follow_up = "and below 400 dollars?"
    model.say(follow_up, GST_ANSWER)
    exchange = ask_and_wait(page, follow_up)
    expect(exchange.locator(".searched > span")).to_have_text(f"Searched for: {GST[:-1]} + below 400 dollars")
    expect(exchange.locator(".searched em")).to_have_text(GST[:-1])
    assert violations(page) == []
    exchange.get_by_role("button", name="Ask only my words").click()

    expect(exchange.locator(".searched")).to_have_count(0)
    expect(exchange).to_have_attribute("data-state", "done")
    assert [message["role"] for message in model.asked(follow_up)[-1]["messages"]] == ["system", "user"]
    third = "and in Malaysia?"
    model.say(third, GST_ANSWER)
    ask_and_wait(page, third)
    assert [turn["content"] for turn in model.asked(third)[-1]["messages"][1:-1:2]] == [follow_up]


def test_an_answer_is_said_shows_its_sources_and_its_badge_and_slash_comes_back_to_the_box(page):
    exchange = ask_and_wait(page, GST)

    said = page.locator("#announcer")
    expect(said).to_contain_text("9 %")
    expect(said).to_contain_text("High confidence")

    expect(exchange.locator(".sources")).to_contain_text("Singapore GST Guide")
    link = exchange.locator(".sources a").first
    expect(link).to_have_attribute("target", "_blank")
    expect(link).to_have_attribute("rel", re.compile("noopener"))
    chips = exchange.locator(".related .document-chip")
    assert len(set(chips.evaluate_all("all => all.map((one) => one.dataset.category)"))) > 1
    assert len(set(chips.evaluate_all("all => all.map((one) => getComputedStyle(one).borderColor)"))) > 1
    assert 1 < len(set(chips.all_text_contents())) == chips.count() <= 4
    cited = exchange.locator(".sources .source-title").first.text_content() or ""
    assert not [title for title in chips.all_text_contents() if cited.startswith(title)]
    assert len(set(chips.evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)"))) == 1
    badge = exchange.locator(".badge")
    card = page.locator("#card")
    expect(badge).to_have_text("High confidence")
    badge.hover()
    expect(card).to_contain_text(re.compile(r"10 passages found · \d+ used · [\d.]+ s"))
    page.mouse.move(0, 0)
    expect(card).to_be_hidden()

    badge.focus()
    expect(card.locator("p")).to_have_count(3)
    expect(badge).to_have_attribute("aria-describedby", "card")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    badge.click()
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    expect(box(page)).to_have_value("")
    page.keyboard.press("ArrowUp")
    expect(box(page)).to_have_value(GST)


def top(part: Locator) -> float:
    return float(part.evaluate("(one) => one.getBoundingClientRect().top"))


def test_the_badge_and_the_answer_come_first_then_sources_then_closest_passages(page, model):
    say_outcomes(model)
    exchange = ask_and_wait(page, GST)
    tops = [top(exchange.locator(part)) for part in (".asked", ".badge", ".answer", ".sources", ".related")]
    assert tops == sorted(tops)

    page.keyboard.press("Control+k")
    quoted = ask_and_wait(page, DEGRADED)
    tops = [top(quoted.locator(part)) for part in (".badge", ".answer", ".sources", ".closest")]
    assert tops == sorted(tops)


def test_on_a_phone_an_answer_is_one_sentence_and_the_rest_comes_with_a_button(open_page):
    page = open_page(viewport={"width": 360, "height": 740})
    exchange = ask_and_wait(page, GST)
    more = exchange.locator("[data-do=more]")
    expect(exchange.locator(".answer p")).to_contain_text("9 %")
    expect(exchange.locator(".answer li").first).to_be_hidden()
    expect(more).to_have_attribute("aria-expanded", "false")
    more.press("Enter")
    expect(exchange.locator(".answer li").first).to_be_visible()
    expect(more).to_have_text("Show less")

    page.set_viewport_size({"width": 1280, "height": 800})
    expect(more).to_be_hidden()


def test_the_first_sentence_keeps_its_citations_when_the_rest_of_its_paragraph_is_folded(open_page, model):
    question = "What is the GST rate on imports into Singapore, in one paragraph?"
    model.say(question, re.sub(r"\n+- ", " ", GST_ANSWER))
    page = open_page(viewport={"width": 360, "height": 740})
    exchange = ask_and_wait(page, question)

    expect(exchange.locator(".answer .chip").first).to_be_visible()
    expect(exchange.locator(".answer .more")).to_be_hidden()
    expect(exchange.locator(".answer .more")).to_contain_text("relieved")


def test_an_e_mail_with_two_questions_is_answered_under_two_headings_with_a_summary(page, model):
    statement = (
        "Our customer in Jurong has asked for the rate in writing because his accountant wants to see it by Friday."
    )
    mail = f"Dear desk,\n\n{GST} Which team plays football in Perth?\n\n{statement}\n\nRegards\nJo"
    first, _, _ = GST_ANSWER.replace("**", "").partition("\n")
    model.say(mail, f"1. {first}\n\n2. {REFUSAL}")
    box(page).fill(mail)
    page.get_by_role("button", name="Ask", exact=True).click()
    exchange = page.locator("article.exchange")
    expect(exchange).to_have_attribute("data-state", "done")

    expect(exchange.locator(".answer h3")).to_have_text([f"1. {GST}", "2. Which team plays football in Perth?"])
    expect(exchange.locator(".parts-summary")).to_have_text("2 questions, 1 answered. Without a sure answer: 2.")
    expect(exchange.locator(".badge")).to_have_count(1)
    expect(exchange.locator(".answer > h3:first-child + .confidence .badge")).to_be_visible()
    assert violations(page) == []
