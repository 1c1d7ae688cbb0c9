import threading
from collections.abc import AsyncIterator, Iterator

import anyio
import httpx
import pytest
from langchain_core.runnables import RunnableGenerator

from app.http.server import create_app
from app.settings import load_settings
from app.wiring import Parts, open_service
from tests.served import served
from tests.waiting import PATIENCE_S

QUESTION = {"input": {"question": "What is the rate?"}}


class Endless:
    """A chain that never ends by itself, and notes when it is ended."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    async def parts(self, questions: AsyncIterator[dict]) -> AsyncIterator[dict]:
        try:
            async for _ in questions:
                yield {"answer": "It is "}
                await anyio.sleep_forever()
        finally:
            self.ended.set()


@pytest.fixture
def chain() -> Endless:
    return Endless()


@pytest.fixture
def client(chain) -> Iterator[httpx.Client]:
    settings = load_settings(_env_file=None, llm_provider="offline", retrieval_top_k=7)
    services = open_service(settings, parts=Parts(chain=RunnableGenerator(chain.parts)))
    with served(create_app(services)) as url, httpx.Client(base_url=url) as client:
        yield client


@pytest.mark.parametrize("path", ["/copilot/stream", "/copilot/stream_events", "/copilot/playground/run"])
def test_a_client_that_leaves_ends_the_chain(client, chain, path):
    with client.stream("POST", path, json=QUESTION) as response:
        lines = response.iter_lines()  # Held, because the connection closes with it.
        assert any("It is " in line for line in lines)
        assert not chain.ended.is_set()

    assert chain.ended.wait(PATIENCE_S)


def test_events_are_not_cached_and_not_buffered_by_proxies(client):
    with client.stream("POST", "/copilot/stream", json=QUESTION) as response:
        headers = response.headers

    assert headers["content-type"].startswith("text/event-stream")
    assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-cache", "no")
