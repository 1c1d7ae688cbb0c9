import json
from contextlib import suppress

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from structlog.testing import capture_logs
from uvicorn import Config

from app.http.uvicorn_compat import BoundedConnection, OneProcess
from tests.access import ASKED, POSTED, hanging_groq, serving, settings_over, talking
from tests.served import served
from tests.waiting import wait_until


async def never_started(scope, receive, send):
    """Fail as an application does whose store does not open."""
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "no store"})


@pytest.mark.parametrize(("app", "announced"), [(Starlette(), ["started"]), (never_started, [])])
def test_a_service_says_where_it_is_only_once_it_has_started(app, announced):
    told: list[str] = []

    def tell() -> None:
        told.append("started")
        server.should_exit = True

    server = OneProcess(Config(app, port=0, lifespan="on", log_config=None), tell)
    with suppress(SystemExit):
        server.run()
    assert told == announced


class Impatient(BoundedConnection):
    """Waits for no head longer than a moment."""

    head_timeout_s = 0.5


@pytest.fixture(scope="module")
def url(corpus, groq):
    with serving(settings_over(corpus, groq.url)) as url:
        yield url


@pytest.fixture(scope="module")
def impatient(corpus, groq):
    with serving(settings_over(corpus, groq.url), connection=Impatient) as url:
        yield url


@pytest.mark.parametrize(
    "said", ["", "GET /api/health", "GET /api/health HTTP/1.1\r\nHost: x\r\n", "\r\n\r\n", "\r\n\r\nGET /api"]
)
def test_a_head_that_does_not_come_closes_the_connection(impatient, said):
    with talking(impatient) as client:
        client.say(said)
        assert client.hung_up()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("GET /api/health HTTP/1.1\r\n", 400),
        ("GET /api/health HTTP/1.1\r\nHost: x\r\nHost: y\r\n", 400),
        ("GET /api/health HTTP/1.1\r\nHOST: x\r\n", 200),
        ("GET /api/health HTTP/1.0\r\n", 200),
    ],
)
def test_a_request_names_one_host_unless_it_is_of_the_old_protocol(url, head, status):
    with talking(url) as client:
        client.say(f"{head}\r\n")
        assert client.heard().startswith(f"HTTP/1.1 {status}")


def test_a_client_that_leaves_within_an_upload_is_no_error(url, caplog):
    part = '--b\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\nwords'
    with capture_logs() as lines, talking(url) as client:
        client.say(
            "POST /api/documents HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n"
            f"Content-Length: 5000\r\n\r\n{part}"
        )
        client.leave()
        wait_until(lambda: any(line["event"] == "client_left" for line in lines))

    assert [line for line in lines if line["log_level"] in {"warning", "error"}] == []
    assert [record for record in caplog.records if "ASGI" in record.getMessage()] == []


def test_a_second_head_has_to_come_as_well(impatient):
    with talking(impatient) as client:
        client.say("GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.heard().startswith("HTTP/1.1 200")
        client.say("GET /api/health HTTP/1.1\r\n")
        assert client.hung_up()


def test_an_answer_may_take_longer_than_a_head(corpus):
    with hanging_groq() as groq, serving(settings_over(corpus, groq.url, llm_timeout_s=2), connection=Impatient) as url:
        response = httpx.post(f"{url}/api/query", json=ASKED["/api/query"])
    assert response.status_code == 504


def test_a_head_of_any_size_is_not_read(url):
    with talking(url) as client:
        client.say("GET /api/health HTTP/1.1\r\n")
        try:
            for number in range(100):
                client.say(f"X-{number}: {'x' * 10_000}\r\n")
        except ConnectionError:
            return
        assert client.hung_up()


def asking(lines: int) -> str:
    """A question, and the beginning of a next request behind it, with so many headers of 10 kB."""
    body = json.dumps(POSTED)
    head = "POST /api/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    question = f"{head}Content-Length: {len(body)}\r\n\r\n{body}"
    return (
        question
        + "GET /api/health HTTP/1.1\r\nHost: x\r\n"
        + "".join(f"X-{n}: {'x' * 10_000}\r\n" for n in range(lines))
    )


def test_a_head_of_any_size_behind_a_running_question_is_not_read(corpus):
    with hanging_groq() as groq, serving(settings_over(corpus, groq.url)) as url, talking(url) as client:
        with suppress(ConnectionError):
            client.say(asking(lines=100))
        assert client.hung_up()
        wait_until(lambda: groq.left == groq.asked)


def test_a_head_that_does_not_end_behind_a_running_question_closes_the_connection(corpus):
    with (
        hanging_groq() as groq,
        serving(settings_over(corpus, groq.url), connection=Impatient) as url,
        talking(url) as client,
    ):
        client.say(asking(lines=1))
        assert client.hung_up()


def test_a_second_request_behind_a_running_question_is_answered_after_it(url):
    with talking(url) as client:
        client.say(asking(lines=1) + "\r\n")
        assert client.heard().startswith("HTTP/1.1 200")
        client.hears('"status":"ok"')


async def say_who_asks(scope, receive, send) -> None:
    await PlainTextResponse(scope["client"][0])(scope, receive, send)


@pytest.mark.parametrize(("proxies", "told"), [("", "127.0.0.1"), ("127.0.0.1", "192.0.2.7")])
def test_a_socket_on_both_families_knows_an_ipv4_client_by_its_own_address(proxies, told):
    with served(say_who_asks, host="::", proxies=proxies) as url:
        assert httpx.get(url, headers={"X-Forwarded-For": "192.0.2.7"}).text == told


FIRST_SENTENCE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    b'data: {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", '
    b'"choices": [{"index": 0, "delta": {"role": "assistant", '
    b'"content": "On weekends the surcharge is 5 %. The surcharge on weekends is "}}]}\n\n'
)


@pytest.fixture(scope="module", params=[b"", FIRST_SENTENCE], ids=["silent", "speaking"])
def hanging(request, corpus):
    """A service whose Groq hangs, and that Groq."""
    with hanging_groq(request.param) as groq, serving(settings_over(corpus, groq.url)) as url:
        yield url, groq


@pytest.mark.parametrize("path", [*ASKED, "/copilot/playground/run"])
def test_a_client_that_leaves_stops_the_generation_whichever_way_it_asked(hanging, path):
    url, groq = hanging
    asked, left = groq.asked, groq.left
    with talking(url) as client:
        client.ask(path)
        wait_until(lambda: groq.asked > asked)
        if groq.first and path.endswith("/stream"):
            client.hears("On weekends the surcharge")
    wait_until(lambda: groq.left > left)
    assert (groq.asked, groq.left) == (asked + 1, left + 1)
