"""Clients that ask and do not read, over real sockets with small buffers."""

import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import httpx
import pytest
from langchain_core.runnables import RunnableGenerator

from app.http import middleware
from app.http.server import create_app
from app.http.uvicorn_compat import BoundedConnection
from app.settings import load_settings
from app.wiring import Parts, open_service
from tests.access import ASKED, Client
from tests.served import served
from tests.waiting import PATIENCE_S, wait_until

SMALL = 4096  # What the system keeps for a connection, on each side.
PIECE = "x" * 10_000
PLACES = 2


class Hurried(BoundedConnection):
    """Waits for no reader longer than a moment."""

    send_timeout_s = 0.3


class Writer:
    """A chain that writes so many pieces, and counts how many of its answers have ended."""

    def __init__(self) -> None:
        self.pieces = 0
        self.ended = 0
        self.lock = threading.Lock()

    async def parts(self, questions: AsyncIterator[dict]) -> AsyncIterator[dict]:
        try:
            async for _ in questions:
                for _ in range(self.pieces):
                    yield {"answer": PIECE}
        finally:
            with self.lock:
                self.ended += 1


@pytest.fixture
def writer() -> Writer:
    return Writer()


@contextmanager
def service(writer: Writer, connection: type[BoundedConnection]) -> Iterator[tuple[str, served]]:
    settings = load_settings(_env_file=None, llm_provider="offline")
    services = open_service(settings, parts=Parts(chain=RunnableGenerator(writer.parts)))
    with patch.object(middleware, "QUEUE_S", PATIENCE_S), patch.object(middleware, "QUESTIONS_AT_ONCE", PLACES):
        running = served(create_app(services), connection=connection, send_buffer=SMALL)
    with running as url:
        yield url, running


@contextmanager
def not_reading(url: str) -> Iterator[Client]:
    """A client that has asked for a stream, and keeps the connection."""
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        connection.settimeout(PATIENCE_S)
        connection.connect((host, int(port)))
        client = Client(connection)
        client.ask("/copilot/stream_events")
        yield client


def answer(url: str) -> int:
    return httpx.post(f"{url}/copilot/stream", json=ASKED["/copilot/stream"]).status_code


def test_an_answer_that_nobody_reads_holds_no_place_once_it_is_computed(writer):
    writer.pieces = 10  # Some 200 kB of events: more than the system takes, less than the connection's buffer.
    with service(writer, BoundedConnection) as (url, _), ExitStack() as clients:
        for _ in range(2 * PLACES):
            clients.enter_context(not_reading(url))
        wait_until(lambda: writer.ended == 2 * PLACES)

        assert answer(url) == 200


def test_a_client_that_does_not_read_is_cut_off_and_its_place_given_back(writer):
    writer.pieces = 1000
    with service(writer, Hurried) as (url, _), not_reading(url) as one, not_reading(url) as two:
        wait_until(lambda: writer.ended == PLACES)
        writer.pieces = 1

        assert answer(url) == 200
        assert one.hung_up()
        assert two.hung_up()


def test_a_short_answer_that_nobody_reads_does_not_keep_the_connection(writer):
    writer.pieces = 5
    with service(writer, Hurried) as (url, running), not_reading(url):
        wait_until(lambda: writer.ended == 1)
        wait_until(lambda: not running.server.server_state.connections)
