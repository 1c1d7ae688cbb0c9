"""A service that really restarts: a process that drains, ends and starts again, before a page that stays open."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial

import pytest
from playwright.sync_api import expect

from benchmarks.processes import Service, free_port, service
from tests.web.asking import FIRST_SENTENCE, GST, GST_ANSWER, ask, ask_and_wait, box

SLOW = "How much is the GST, slowly?"
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
    return partial(service, folder, port=port, **settings)


@pytest.fixture
def answers(model) -> Iterator[None]:
    model.say(GST, GST_ANSWER)
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
