"""What goes wrong says what to do, and nothing typed is lost: cut, refused, offline, restarting, signed out."""

import json
import re
import secrets
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial

import pytest
from playwright.sync_api import expect

from benchmarks.processes import Service, free_port
from tests.processes import forked_service
from tests.web.asking import FIRST_SENTENCE, GST, GST_ANSWER, ask, ask_and_wait, box
from tests.web.axe import violations
from tests.web.line import Line, line_to
from tests.web.service import serving

SLOW = "How much is the GST, slowly?"


@pytest.fixture(scope="module")
def limited_url(corpus, model) -> Iterator[str]:
    with serving(corpus, model, rate_limit="1/minute") as url:
        yield url


@pytest.fixture
def line(url) -> Iterator[Line]:
    with line_to(url) as line:
        yield line


def test_an_answer_that_the_model_breaks_off_keeps_its_words(page, model):
    model.say(SLOW, "Import GST is nine percent and", then="cut")
    exchange = ask_and_wait(page, SLOW)

    expect(exchange).to_have_attribute("data-outcome", "degraded")
    expect(exchange.locator(".answer")).to_contain_text("Import GST is nine percent")


def test_a_stream_that_is_cut_keeps_what_came_and_can_be_asked_again(open_page, line, model, watch):
    watch.expected += ["net::ERR_"]
    page = open_page(line.url)
    model.say(SLOW, GST_ANSWER, words=FIRST_SENTENCE)
    exchange = ask(page, SLOW)
    expect(exchange.locator(".answer")).to_contain_text("Import GST in Singapore")
    line.cut()
    expect(exchange).to_have_attribute("data-state", "cut")
    expect(exchange.locator(".answer")).to_contain_text("Import GST in Singapore")
    expect(exchange.get_by_role("alert")).to_contain_text("Ask again for the rest")
    line.mend()
    model.say(SLOW, GST_ANSWER)
    exchange.locator("[data-do=again]").click()

    expect(exchange).to_have_attribute("data-outcome", "answered")


def test_a_service_that_restarts_gets_the_question_when_it_is_back(open_page, line, watch):
    watch.expected += ["net::ERR_"]
    page = open_page(line.url)
    expect(page.locator("body")).to_have_attribute("data-ready", "")
    line.cut()
    exchange = ask_and_wait(page, GST, "failed")
    expect(exchange.get_by_role("alert")).to_contain_text("The service cannot be reached")
    assert violations(page) == []
    line.mend()

    expect(exchange).to_have_attribute("data-outcome", "answered")


def test_a_browser_that_is_offline_gets_its_answer_later(page, watch):
    watch.expected += ["net::ERR_INTERNET_DISCONNECTED"]
    expect(page.locator("body")).to_have_attribute("data-ready", "")
    page.context.set_offline(offline=True)
    exchange = ask_and_wait(page, GST, "failed")
    expect(exchange.locator(".asked")).to_have_text(GST)
    page.context.set_offline(offline=False)

    expect(exchange).to_have_attribute("data-outcome", "answered")


def test_too_many_questions_are_counted_down(open_page, limited_url, watch):
    watch.expected += ["status of 429"]
    page = open_page(limited_url)
    page.clock.install()
    ask_and_wait(page, GST)
    exchange = ask_and_wait(page, GST, "failed")
    again = exchange.locator("[data-do=again]")
    expect(again).to_have_text(re.compile(r"Ask again in \d+ s"))
    expect(again).to_be_disabled()
    before = int(re.findall(r"\d+", again.inner_text())[0])
    page.clock.run_for(5_000)
    assert int(re.findall(r"\d+", again.inner_text())[0]) <= before - 4
    page.clock.run_for(60_000)

    expect(again).to_have_text("Ask again")
    expect(again).to_be_enabled()
    assert violations(page) == []


def test_an_expired_session_asks_to_sign_in_and_the_question_is_asked_then(open_page, session_url, redis, watch):
    watch.expected += ["status of 401"]
    page = open_page(session_url)
    token = secrets.token_urlsafe(16)
    session = json.dumps({"user_id": "u1", "email": "ana@example.com", "is_admin": True})
    redis.set(f"session:{token}", session, ex=600)
    page.get_by_label("Token").fill(token)
    page.get_by_label("Token").press("Enter")
    expect(page.locator("#identity")).to_contain_text("ana@example.com")
    expect(page.locator("#identity [title]")).to_have_attribute("title", "You see internal and public documents.")
    redis.delete(f"session:{token}")
    exchange = ask(page, GST)
    expect(page.get_by_role("dialog", name="Sign in")).to_be_visible()
    expect(exchange.locator(".asked")).to_have_text(GST)
    redis.set(f"session:{token}", session, ex=600)
    page.get_by_label("Token").fill(token)
    page.get_by_label("Token").press("Enter")

    expect(exchange).to_have_attribute("data-outcome", "answered")
    redis.delete(f"session:{token}")


def test_a_service_that_does_not_answer_is_named_and_the_question_can_be_stopped(browser, watch, corpus, tmp_path):
    with forked_service(tmp_path, CHROMA_PATH=str(corpus), LLM_PROVIDER="offline") as frozen:
        context = browser.new_context()
        watch.follow(context)
        page = context.new_page()
        page.clock.install()
        page.goto(frozen.url)
        expect(page.locator("body")).to_have_attribute("data-ready", "")
        frozen.send(signal.SIGSTOP)
        ask(page, GST)
        status = page.locator(".exchange .status")
        expect(status).to_have_text("Searching the documents …")
        page.clock.run_for(9000)
        expect(status).to_contain_text("The service cannot be reached.")
        frozen.send(signal.SIGCONT)
        page.clock.run_for(9000)
        expect(page.locator(".exchange")).to_have_attribute("data-outcome", "answered")
        context.close()
    watch.judge()


def test_a_slow_answer_says_that_it_is_waited_for_until_a_word_comes(open_page, model):
    saying = model.say(SLOW, GST_ANSWER, words=0)
    page = open_page("about:blank")
    page.clock.install()
    page.goto("/")
    ask(page, SLOW)
    status = page.locator(".exchange .status")
    saying.asked.wait()
    page.clock.run_for(9000)
    expect(status).to_have_text("This takes longer than usual. You can wait, or stop and ask again.")
    expect(page.locator("#stop")).to_be_visible()
    saying.go_on()
    expect(page.locator(".exchange")).to_have_attribute("data-outcome", "answered")
    expect(status).to_be_hidden()


DRAFT = "The next question, half"


@pytest.fixture(scope="module")
def start(corpus, model, tmp_path_factory) -> Callable[[], AbstractContextManager[Service]]:
    """Start the service as a process, each time at the same place."""
    settings = {
        "CHROMA_PATH": str(corpus),
        "LLM_API_KEY": "gsk_test",
        "LLM_BASE_URL": model.url,
        "LLM_MAX_RETRIES": "0",
    }
    folder, port = tmp_path_factory.mktemp("restart"), str(free_port())
    return partial(forked_service, folder, port=port, **settings)


@pytest.fixture
def answers(model) -> Iterator[None]:
    yield
    model.say(SLOW, GST_ANSWER)


@pytest.mark.usefixtures("answers")
def test_questions_outlive_a_restart_and_so_does_what_is_being_typed(browser, open_page, start, model, watch):
    watch.expected += ["net::ERR_", "status of 503"]
    saying = model.say(SLOW, GST_ANSWER, words=FIRST_SENTENCE)
    with start() as first:
        page, other = open_page(first.url), open_page(first.url)
        under_way = ask(page, SLOW)
        expect(under_way.locator(".answer")).to_contain_text("Import GST in Singapore")
        first.send(signal.SIGTERM)
        waiting = ask_and_wait(other, GST, "failed")
        expect(waiting.get_by_role("alert")).to_contain_text("Reconnecting")
        box(other).fill(DRAFT)
        saying.go_on()
        expect(under_way).to_have_attribute("data-outcome", "answered")
        assert first.exit_code() == 0
    with start():
        expect(waiting).to_have_attribute("data-outcome", "answered")
        expect(box(other)).to_have_value(DRAFT)
        expect(under_way.locator(".answer .chip")).to_have_count(3)
        expect(under_way.locator(".answer")).not_to_contain_text("[Singapore GST Guide")
