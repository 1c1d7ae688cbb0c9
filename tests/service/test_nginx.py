"""A stream behind a real nginx, as it comes out of the box: each part arrives when it was sent, not at the end."""

import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial

import anyio.to_thread
import httpx
import pytest
from langchain_core.runnables import RunnableGenerator

from app.http.server import create_app
from app.settings import load_settings
from app.wiring import Parts, open_service
from tests.nginx import nginx, skip_without_nginx
from tests.served import served
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.service


class StepByStep:
    """A chain that sends its next part only when it is let."""

    def __init__(self) -> None:
        self.let = threading.Semaphore(0)

    async def parts(self, questions: AsyncIterator[dict]) -> AsyncIterator[dict]:
        async for _ in questions:
            for word in ("It ", "is ", "nine."):
                yield {"answer": word}
                await anyio.to_thread.run_sync(partial(self.let.acquire, timeout=PATIENCE_S), abandon_on_cancel=True)


@pytest.fixture
def steps() -> StepByStep:
    return StepByStep()


@pytest.fixture
def upstream(steps) -> Iterator[str]:
    settings = load_settings(_env_file=None, llm_provider="offline", rate_limit="2/hour")
    services = open_service(settings, parts=Parts(chain=RunnableGenerator(steps.parts)))
    with served(create_app(services), proxies="127.0.0.1") as url:
        yield url


@pytest.fixture
def front(upstream) -> Iterator[str]:
    skip_without_nginx()
    with nginx(upstream) as url:
        yield url


def test_every_word_arrives_before_the_next_one_is_sent(front, steps):
    body = {"input": {"question": "What is the rate?"}}
    with httpx.Client(base_url=front) as client, client.stream("POST", "/copilot/stream", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-cache"
        words = []
        for line in response.iter_lines():
            if "answer" in line:  # Each was read while the chain waits to be let go on.
                words.append(line)
                steps.let.release()

    assert len(words) == 3


def test_a_client_cannot_choose_the_address_that_its_questions_are_counted_for(front, steps):
    body = {"input": {"question": "What is the rate?"}}
    for _ in range(100):
        steps.let.release()
    statuses = [
        httpx.post(f"{front}/copilot/stream", json=body, headers={"X-Forwarded-For": f"192.0.2.{number}"}).status_code
        for number in range(3)
    ]
    assert statuses == [200, 200, 429]
