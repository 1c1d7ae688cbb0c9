import json
import re
from contextlib import ExitStack
from unittest.mock import patch
from uuid import uuid4

import httpx
import pytest
from limits import parse
from starlette.requests import Request

from app.adapters.identity import Identity
from app.http import middleware
from app.http.middleware import limits
from app.http.middleware.limits import DISCARD_BYTES, MAX_DEPTH, RETRY_STORAGE_S, InFlight, RateLimit, caller_of
from app.wiring.service import Access
from tests.access import (
    ASKED,
    POSTED,
    QUESTION,
    bearer,
    hanging_groq,
    key_entry,
    open_redis,
    serving,
    settings_over,
    talking,
)
from tests.clocks import StoppedClock
from tests.waiting import wait_until

REDIS = "redis://127.0.0.1:6379/11"


@pytest.fixture(scope="module")
def url(corpus, groq):
    with serving(settings_over(corpus, groq.url)) as url:
        yield url


@pytest.mark.parametrize(
    ("path", "kilobytes"), [("/api/query", 10), ("/copilot/invoke", 32), ("/copilot/batch", 32), ("/no/such/route", 10)]
)
def test_a_large_body_is_refused_wherever_it_goes(url, groq, path, kilobytes):
    most = kilobytes * 1024
    for content in (b" " * (most + 1), (b" " * 1024 for _ in range(most // 1024 + 1)), b" " * 200_000):
        response = httpx.post(url + path, content=content)
        assert (response.status_code, response.json()["error"]) == (413, "Payload Too Large")
    assert groq.requests == []


def test_a_huge_body_is_refused_before_it_is_sent(url):
    with talking(url) as client:
        client.say(f"POST /api/query HTTP/1.1\r\nHost: x\r\nContent-Length: {DISCARD_BYTES + 1}\r\n\r\n")
        assert client.heard().startswith("HTTP/1.1 413 ")


@pytest.mark.parametrize("sent", ["Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"])
def test_a_body_that_does_not_come_is_a_408(corpus, groq, sent):
    with (
        patch.object(limits, "BODY_TIMEOUT_S", 0.5),
        serving(settings_over(corpus, groq.url)) as url,
        talking(url) as client,
    ):
        client.say(f"POST /api/query HTTP/1.1\r\nHost: x\r\n{sent}")
        told = client.heard()
    assert told.startswith("HTTP/1.1 408 ")
    assert "connection: close" in told


UNREADABLE = [
    b"{",
    b"\xff\xfe\xfd",
    json.dumps(POSTED | ASKED["/copilot/batch"] | ASKED["/copilot/invoke"]).encode("utf-16"),
    json.dumps(POSTED | ASKED["/copilot/batch"] | ASKED["/copilot/invoke"]).encode("utf-16-le"),
    json.dumps(POSTED | ASKED["/copilot/batch"] | ASKED["/copilot/invoke"]).encode("utf-32"),
    b'{"query": "\\ud800", "input": {"question": "\\ud800"}}',
    b'{"query": "x", "topK": NaN, "input": {"question": "x", "top_k": 1e999}}',
    b"[" * 5000 + b"]" * 5000,
    json.dumps({"query": "x", "config": json.loads("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))}).encode(),
]


@pytest.mark.parametrize("path", ASKED)
def test_a_body_that_no_answer_could_repeat_is_a_400(url, groq, path):
    for content in UNREADABLE:
        response = httpx.post(url + path, content=content)
        form = {"error"} if path.startswith("/v1/") else {"error", "message"}
        assert (response.status_code, set(response.json())) == (400, form)
    assert groq.requests == []


def test_a_batch_holds_so_many_questions_and_no_more(url, groq):
    def ask(number: int) -> int:
        body = {"inputs": [{"question": QUESTION}] * number}
        return httpx.post(f"{url}/copilot/batch", json=body).status_code

    assert ask(10) == 200
    assert len(groq.requests) == 10
    assert ask(11) == 422
    assert len(groq.requests) == 10


def test_answers_and_refusals_tell_browsers_to_be_careful(url):
    answers = [
        httpx.get(f"{url}/api/health"),
        httpx.post(f"{url}/api/query", json=POSTED),
        httpx.post(f"{url}/api/query", content=b"{"),
        httpx.get(f"{url}/no/such/route"),
        httpx.post(f"{url}/copilot/stream", json=ASKED["/copilot/stream"]),
    ]
    for response in answers:
        kept = {name: response.headers.get(name) for name in ("X-Content-Type-Options", "X-Frame-Options")}
        assert kept == {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"}
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
        assert response.headers["Cache-Control"].startswith("no-")
    assert "unsafe" not in answers[0].headers["Content-Security-Policy"]
    pages = (*(httpx.get(url + path) for path in ("/", "/embed")), answers[0])
    microphones = [page.headers["Permissions-Policy"].split("microphone=")[1] for page in pages]
    assert microphones == ["(self)", "()", "()"]


@pytest.mark.parametrize(
    ("page", "scripts"),
    [
        ("/docs", r"'self' 'sha256-[^']+'"),
        ("/redoc", r"'self'"),
        ("/copilot/playground/", r"'self' 'sha256-[^']+' 'unsafe-eval'"),
    ],
)
def test_a_page_may_run_its_own_inline_script_and_no_others(url, page, scripts):
    policy = httpx.get(url + page).headers["Content-Security-Policy"].split("; ")
    assert "default-src 'self'" in policy
    assert any(re.fullmatch(f"script-src {scripts}", directive) for directive in policy)


def test_questions_above_the_rate_wait_and_each_caller_has_a_rate_of_its_own(corpus, groq):
    keys = ",".join(key_entry(name, name, "ask") for name in ("one", "two"))
    with serving(settings_over(corpus, groq.url, auth_mode="api_key", api_keys=keys, rate_limit="3/hour")) as url:

        def ask(key: str, path: str = "/api/query", body: object = None) -> httpx.Response:
            return httpx.post(url + path, json=body or ASKED[path], headers=bearer(key))

        first, batch, more, other = (
            ask("one"),
            ask("one", "/copilot/batch", {"inputs": [{"question": QUESTION}] * 2}),
            ask("one", "/copilot/stream"),
            ask("two"),
        )
        schema = httpx.get(f"{url}/copilot/input_schema", headers=bearer("one"))

    assert [first.status_code, batch.status_code, more.status_code] == [200, 200, 429]
    assert [answer.headers["RateLimit-Remaining"] for answer in (first, batch, more)] == ["2", "0", "0"]
    assert more.json() == {
        "error": "Too Many Requests",
        "message": f"More than 3 questions in a hour; try again in {more.headers['Retry-After']} seconds",
    }
    assert 0 < int(more.headers["Retry-After"]) <= 3600
    assert more.headers["RateLimit-Limit"] == "3"
    assert (other.status_code, schema.status_code) == (200, 200)


def test_a_batch_that_is_refused_costs_nothing(corpus, groq):
    with serving(settings_over(corpus, groq.url, rate_limit="3/hour")) as url:

        def ask(number: int) -> tuple[int, str]:
            body = {"inputs": [{"question": QUESTION}] * number}
            response = httpx.post(f"{url}/copilot/batch", json=body)
            return response.status_code, response.headers["RateLimit-Remaining"]

        assert [ask(number) for number in (2, 2, 1, 1)] == [(200, "1"), (429, "1"), (200, "0"), (429, "0")]


def test_after_the_time_that_was_told_questions_pass_again(corpus, groq):
    with serving(settings_over(corpus, groq.url, rate_limit="1/second")) as url:
        refused: list[httpx.Response] = []

        def refuses() -> bool:
            refused.append(httpx.post(f"{url}/api/query", json=POSTED))
            return refused[-1].status_code == 429

        wait_until(refuses)
        assert refused[-1].headers["Retry-After"] in {"1", "2"}
        wait_until(lambda: not refuses())


@pytest.mark.service
def test_processes_that_count_in_redis_share_the_rate(corpus, groq):
    with open_redis(REDIS) as redis:
        redis.flushdb()
        settings = settings_over(corpus, groq.url, rate_limit="2/hour", redis_url=REDIS)
        with serving(settings) as one, serving(settings) as two:
            statuses = [httpx.post(f"{url}/api/query", json=POSTED).status_code for url in (one, two, one, two)]
        redis.flushdb()
    assert statuses == [200, 200, 429, 429]


async def test_where_the_shared_count_fails_each_process_counts_for_itself_and_asks_again_later(corpus):
    settings = settings_over(corpus, "http://127.0.0.1:1", rate_limit="1/hour", redis_url="redis://127.0.0.1:1")
    clock = StoppedClock(0)
    rated = RateLimit(parse("1/hour"), Access(settings).rate_storage, clock=clock)

    assert [(await rated.count("x", 1))[0] for _ in range(3)] == [True, False, False]
    rested, clock.time = rated.retry_storage_at, RETRY_STORAGE_S
    await rated.count("x", 1)
    assert (rested, rated.retry_storage_at) == (RETRY_STORAGE_S, 2 * RETRY_STORAGE_S)


@pytest.mark.parametrize(
    ("client", "identity", "counted"),
    [
        (("192.0.2.7", 5), None, "address:192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 5), None, "address:2001:db8:1:2::/64"),
        (("::ffff:192.0.2.7", 5), None, "address:192.0.2.7"),
        (("fe80::1%eth0", 5), None, "address:fe80::/64"),
        (("192.0.2.7", 5), Identity(), "address:192.0.2.7"),
        (("192.0.2.7", 5), Identity("u1"), "user:u1"),
        (None, None, "address:"),
    ],
)
def test_questions_are_counted_for_the_identity_or_else_for_the_address(client, identity, counted):
    scope = {"type": "http", "client": client, "state": {"identity": identity}}
    assert caller_of(Request(scope)) == counted


def test_questions_that_find_no_turn_in_time_are_told_to_come_back_and_turns_are_given_back(corpus):
    with hanging_groq() as groq:
        settings = settings_over(corpus, groq.url)
        with (
            patch.object(middleware, "QUEUE_S", 2),
            patch.object(middleware, "QUESTIONS_AT_ONCE", 2),
            serving(settings) as url,
            talking(url) as one,
            talking(url) as two,
            talking(url) as three,
        ):
            one.ask()
            two.ask()
            wait_until(lambda: groq.asked == 2)
            refused = httpx.post(f"{url}/copilot/stream", json=ASKED["/copilot/stream"])
            healthy = httpx.get(f"{url}/api/health")
            one.leave()
            wait_until(lambda: groq.left == 1)
            three.ask()
            wait_until(lambda: groq.asked == 3)

    assert (refused.status_code, refused.json()["error"]) == (503, "Service Unavailable")
    assert refused.headers["Retry-After"] == "2"
    assert healthy.status_code == 200


# Without a question, one path for each kind of route.
UNASKED = [
    *("/health/live", "/health/ready", "/api/health", "/metrics", "/", "/static/page.css", "/api/documents"),
    *("/api/me", "/openapi.json", "/copilot/input_schema"),
]


def all_else_answers(url: str) -> None:
    assert [path for path in UNASKED if httpx.get(url + path).status_code != 200] == []
    assert httpx.post(f"{url}/api/feedback", json={"trace_id": str(uuid4()), "score": 1}).status_code == 202


def test_what_asks_nothing_does_not_wait_for_questions(corpus):
    with hanging_groq() as groq, ExitStack() as clients:
        settings = settings_over(corpus, groq.url)
        with patch.object(middleware, "QUEUE_S", 3600), serving(settings) as url:
            for _ in range(145):  # 100 are answered at once.
                clients.enter_context(talking(url)).ask()
            wait_until(lambda: groq.asked == 100)
            all_else_answers(url)
            clients.close()


def test_a_slow_reranker_leaves_threads_to_what_asks_nothing(corpus):
    with ExitStack() as outside:
        reranker = outside.enter_context(hanging_groq())
        settings = settings_over(corpus, reranker.url, reranker=reranker.url)
        with patch("app.wings.reranking.rerankers.RERANKER_TIMEOUT_S", 3600), serving(settings) as url:
            for _ in range(100):
                outside.enter_context(talking(url)).ask()
            wait_until(lambda: reranker.asked)
            all_else_answers(url)
            outside.close()  # Before the service ends: its threads would wait for the reranker.


async def test_a_drain_ends_when_its_time_is_over():
    in_flight = InFlight()
    with in_flight.request():
        await in_flight.drain(timeout_s=0)
    assert in_flight.running == 0
