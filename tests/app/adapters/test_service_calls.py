"""What holds for every service that is called over HTTP: retries, time-outs, the breaker, checks, and clear errors."""

import socket
import threading
import time
from contextlib import suppress
from typing import Any

import pytest
from pydantic import BaseModel
from pytest_httpserver import HTTPServer

from app.adapters import retrieval
from app.adapters.embeddings import http_embeddings
from app.adapters.http_client import ServiceCalls, ServiceKind
from app.wings.reranking import rerankers as reranking
from app.wings.safety import moderator
from chains.callbacks import Deadline
from chains.errors import DeadlineError, EmbeddingError
from chains.resilience import RetryPolicy
from tests.clocks import StoppedClock
from tests.failures import is_circuit_open, is_rate_limited, is_unavailable

KINDS = [http_embeddings.KIND, retrieval.KIND, reranking.KIND, moderator.KIND]
PATH = f"/v1{http_embeddings.KIND.path}"
both = pytest.mark.parametrize("way", ["post", "apost"])


class Answer(BaseModel):
    value: int


def connect(url: str, clock: StoppedClock, kind: ServiceKind = http_embeddings.KIND, **options: Any) -> ServiceCalls:
    given: dict[str, Any] = {"clock": clock, "policy": RetryPolicy(chance=lambda: 0.0)}
    return ServiceCalls(kind, url, **given | options)


@pytest.fixture
def calls(httpserver: HTTPServer, clock) -> ServiceCalls:
    return connect(httpserver.url_for("/v1/"), clock)


def serve(server: HTTPServer, *statuses: int, **headers: str) -> None:
    """Answer with these statuses in turn, then well."""
    for status in statuses:
        server.expect_ordered_request(PATH).respond_with_data("no", status=status, headers=headers)
    for _ in range(9):
        server.expect_ordered_request(PATH).respond_with_json({"value": 7})


async def asked(calls: ServiceCalls, way: str = "post", callbacks: Any = None) -> int:
    def read(response: Any) -> int:
        return calls.reply(response, Answer).value

    return calls.post({}, read, callbacks) if way == "post" else await calls.apost({}, read, callbacks)


@both
@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
async def test_what_passes_is_met_again_after_waits_that_double(httpserver, calls, clock, way, status):
    serve(httpserver, status, status)

    assert await asked(calls, way) == 7
    assert (len(httpserver.log), clock.slept) == (3, [1, 2])


@both
async def test_a_service_that_says_how_long_to_wait_is_obeyed(httpserver, calls, clock, way):
    serve(httpserver, 429, **{"Retry-After": "7"})

    assert await asked(calls, way) == 7
    assert clock.slept == [7]


@both
async def test_a_busy_service_is_asked_four_times_in_all_and_opens_no_breaker(httpserver, calls, clock, way):
    serve(httpserver, *[429] * 8)
    for _ in range(2):
        with pytest.raises(EmbeddingError, check=is_rate_limited, match="answered 429"):
            await asked(calls, way)

    assert (len(httpserver.log), clock.slept) == (8, [1, 2, 4] * 2)
    assert await asked(calls, way) == 7


@both
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_is_met_once(httpserver, calls, clock, way, status):
    serve(httpserver, status)
    with pytest.raises(EmbeddingError, match=f"answered {status}"):
        await asked(calls, way)

    assert (len(httpserver.log), clock.slept) == (1, [])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
async def test_an_error_names_the_setting_to_check_and_what_is_called(httpserver, clock, kind):
    told = {400: kind.model, 401: kind.key, 403: kind.key, 404: kind.settings, 503: "the service, or try again"}
    for status, setting in told.items():
        httpserver.expect_ordered_request(f"/v1{kind.path}").respond_with_data("no", status=status)
        calls = connect(httpserver.url_for("/v1"), clock, kind, policy=RetryPolicy(retries=0))
        with pytest.raises(kind.error, match=rf"{kind.name} at .* answered {status}; check {setting}"):
            await asked(calls)
    httpserver.expect_ordered_request(f"/v1{kind.path}").respond_with_data("<html>")
    with pytest.raises(kind.error, match=rf"answered {kind.unreadable}; check {kind.settings}"):
        await asked(connect(httpserver.url_for("/v1"), clock, kind))
    with pytest.raises(kind.error, check=is_unavailable, match=f"cannot be reached; check {kind.address}"):
        await asked(connect("http://127.0.0.1:1", clock, kind))


@both
async def test_a_service_that_keeps_failing_is_not_called_for_a_minute(httpserver, calls, clock, way):
    serve(httpserver, *[500] * 5)
    for _ in range(2):
        with pytest.raises(EmbeddingError, check=is_unavailable):
            await asked(calls, way)
    with pytest.raises(EmbeddingError, check=is_circuit_open, match="the embedding service failed repeatedly"):
        await asked(calls, way)
    assert len(httpserver.log) == 5

    clock.time += 61
    assert await asked(calls, way) == 7


@both
async def test_a_question_without_time_left_waits_for_no_retry_and_sends_nothing(httpserver, calls, clock, way):
    serve(httpserver, 503)
    deadline = [Deadline(1, clock)]
    with pytest.raises(EmbeddingError, check=is_unavailable):
        await asked(calls, way, deadline)
    clock.time += 2
    with pytest.raises(DeadlineError):
        await asked(calls, way, deadline)

    assert (len(httpserver.log), clock.slept) == (1, [])


async def test_the_time_out_is_for_the_whole_reply_however_it_drips_in(clock):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
                while True:
                    connection.sendall(b" ")
                    time.sleep(0.01)

        threading.Thread(target=drip, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(EmbeddingError, check=is_unavailable, match="did not answer within"):
            await asked(connect(url, clock, timeout_s=0.1, policy=RetryPolicy(retries=0)))


async def test_a_check_asks_a_service_that_has_not_answered_lately_or_failed_since(httpserver, calls, clock):
    def check() -> None:
        calls.check({}, lambda response: response.raise_for_status())

    serve(httpserver, 503)
    with pytest.raises(EmbeddingError, check=is_unavailable):
        check()
    check()
    check()
    assert (len(httpserver.log), clock.slept) == (2, [])
    clock.time += 31
    check()
    assert len(httpserver.log) == 3

    httpserver.clear()
    serve(httpserver, 401, 503)
    with pytest.raises(EmbeddingError):
        await asked(calls)
    with pytest.raises(EmbeddingError, check=is_unavailable):
        check()
