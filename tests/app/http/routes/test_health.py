import asyncio
import itertools
import socket
from typing import Any

import httpx
import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel

from app.http.middleware.limits import InFlight
from app.http.routes.health import Readiness
from app.http.server import create_app
from app.ledger import open_database
from app.settings import load_settings
from app.wings.events.plugin import outbox
from app.wiring import Service, open_service
from app.wiring.observability import Check, backend_checks, index_check, provider_check
from benchmarks.processes import free_port
from chains.around import Call
from chains.clock import Clock
from chains.errors import EmbeddingError, LLMUnavailableError
from chains.generation.rate_limiter import RateLimiter
from chains.generation.resilient import Provider
from chains.resilience import CircuitBreaker
from tests.access import bearer, key_entry
from tests.clocks import StoppedClock
from tests.fakes import WordEmbeddings
from tests.indexes import index_in, put


def readiness(*checks: Check, phase="ready", clock=None, **options) -> Readiness:
    in_flight = InFlight()
    in_flight.phase = phase
    every_time = itertools.count(step=10).__next__  # At each look the last round of checks is stale.
    return Readiness(lambda: checks, in_flight, clock=clock or every_time, **options)


@pytest.fixture
def memory(tmp_path) -> dict[str, Any]:
    return {"vector_store_type": "memory", "chroma_path": tmp_path / "s"}


async def works() -> None:
    return None


async def fails() -> None:
    msg = "redis://user:secret@inside.example refused"
    raise ConnectionError(msg)


def open_store(folder, embeddings):
    index = index_in(open_database(folder / "desk.sqlite3", collection="desk"))
    put(index, {"a": Document("some words", metadata={"n": 1})})
    return index_check(embeddings, index.open), index


async def test_the_index_is_really_searched(tmp_path):
    check, store = open_store(tmp_path, WordEmbeddings())
    up = await readiness(check).report()
    store.database.run("DELETE FROM facts WHERE name = 'dimensions'")
    down = await readiness(check).report()

    assert (up.status, up.checks["vector_store"].detail) == ("ready", "exact search")
    assert (down.status, down.checks["vector_store"].detail) == ("down", "VectorStoreError")


async def test_a_service_whose_questions_cannot_be_embedded_is_not_ready(tmp_path):
    class Down(WordEmbeddings):
        def embed_query(self, text):
            raise EmbeddingError

    report = await readiness(open_store(tmp_path, Down())[0]).report()
    assert (report.status, report.checks["vector_store"].detail) == ("down", "EmbeddingError")


@pytest.mark.parametrize(("required", "status"), [(True, "down"), (False, "degraded")])
async def test_what_is_required_decides_and_what_is_not_degrades(required, status):
    report = await readiness(Check("store", works, required=True), Check("redis", fails, required=required)).report()

    assert report.status == status
    assert {name: finding.state for name, finding in report.checks.items()} == {"store": "ok", "redis": "down"}
    assert "secret" not in report.model_dump_json()


def provider_of_nothing(clock: Clock) -> Provider:
    breaker = CircuitBreaker(clock=clock, failures=1, name="language model")
    return Provider(FakeListChatModel(responses=[]), breaker, RateLimiter(clock=clock), clock)


async def test_an_open_breaker_is_told_and_degrades():
    provider = provider_of_nothing(Clock())
    closed = await readiness(provider_check(provider)).report()
    with pytest.raises(LLMUnavailableError), provider.breaker.guard():
        raise LLMUnavailableError
    open_ = await readiness(provider_check(provider)).report()

    assert (closed.status, closed.checks["language_model"].detail) == ("ready", "closed")
    assert (open_.status, open_.checks["language_model"].state) == ("degraded", "down")


async def test_a_pause_that_the_provider_asked_for_is_told_with_its_seconds():
    clock = StoppedClock()
    provider = provider_of_nothing(clock)
    provider.limiter.pause(999_999_999_999)
    clock.time += 18
    paused = await readiness(provider_check(provider)).report()
    clock.time += 42
    over = await readiness(provider_check(provider)).report()

    assert paused.status == "degraded"
    assert paused.checks["language_model"].detail == "LLMRateLimitError, for 42 s"
    assert over.status == "ready"


def test_what_is_asked_follows_from_the_settings_and_redis_is_required_where_sessions_live_in_it(memory):
    def asked(**settings: Any) -> dict[str, bool]:
        return {one.name: one.required for one in open_service(load_settings(**memory, **settings)).checks()}

    limited = asked(rate_limit="9/minute", redis_url="redis://127.0.0.1:6379/0", rabbitmq_url="amqp://127.0.0.1/")
    assert [*asked()] == [*asked(auth_mode="session", auth_url="http://127.0.0.1:9")] == ["vector_store"]
    assert [*asked(llm_api_key="gsk_test")] == ["vector_store", "language_model"]
    assert [*limited] == ["vector_store", "redis", "rabbitmq"]
    assert (limited["redis"], asked(auth_mode="session")["redis"]) == (False, True)


@pytest.mark.parametrize("phase", ["starting", "draining"])
async def test_while_it_starts_or_drains_it_is_not_ready_and_asks_nothing(phase):
    report = await readiness(Check("store", fails, required=True), phase=phase).report()

    assert (report.status, report.checks) == (phase, {})


async def test_what_hangs_is_down_and_is_not_asked_again_until_it_has_answered():
    asked: list[None] = []
    answer = asyncio.Event()

    async def hang() -> None:
        asked.append(None)
        await answer.wait()

    watched = readiness(Check("store", hang, required=True), within_s=0.2)
    reports = [await watched.report() for _ in range(3)]
    assert ([report.status for report in reports], len(asked)) == (["down"] * 3, 1)
    assert reports[0].checks["store"].detail == "no answer within 0.2 s"

    answer.set()
    await asyncio.sleep(0)
    assert (await watched.report()).status == "ready"


async def test_probes_within_a_second_share_one_round_of_checks():
    asked: list[float] = []
    now = [0.0]

    async def count() -> None:
        asked.append(now[0])

    watched = readiness(Check("store", count), clock=lambda: now[0])
    await asyncio.gather(watched.report(), watched.report())
    now[0] = 0.9
    await watched.report()
    now[0] = 1.0
    await watched.report()

    assert asked == [0.0, 1.0]


def pings(port: int) -> list[Check]:
    broker = f"amqp://guest:guest@127.0.0.1:{port}/"
    settings = load_settings(auth_mode="session", redis_url=f"redis://127.0.0.1:{port}/0", rabbitmq_url=broker)
    return backend_checks(settings, outbox(settings))


@pytest.mark.service
@pytest.mark.parametrize(("port", "which"), [(6379, 0), (5672, 1)])
async def test_redis_and_rabbitmq_that_run_are_ok(port, which):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        pytest.skip(f"nothing listens on port {port} of this machine")
    report = await readiness(pings(port)[which], within_s=30).report()
    assert report.status == "ready"


async def test_redis_and_rabbitmq_that_are_away_are_down():
    report = await readiness(*pings(free_port()), within_s=30).report()
    assert {name: finding.state for name, finding in report.checks.items()} == {"redis": "down", "rabbitmq": "down"}


async def test_the_routes_tell_a_service_that_lives_from_one_that_is_ready(memory):
    app = create_app(open_service(load_settings(_env_file=None, **memory)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://desk") as client:
        starting = await client.get("/health/ready")
        async with app.router.lifespan_context(app):
            ready = await client.get("/health/ready")
        live = await client.get("/health/live")

    assert (starting.status_code, starting.json()) == (503, {"status": "starting", "checks": {}})
    assert int(starting.headers["retry-after"]) > 0
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    assert ready.json()["checks"]["vector_store"]["detail"] == "exact search"
    assert (live.status_code, live.json()) == (200, {"status": "ok"})


async def ready_of(services: Service, *callers: dict[str, str]) -> list[httpx.Response]:
    """Return what callers with these headers are told of the service."""
    app = create_app(services)
    async with (
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://desk") as client,
        app.router.lifespan_context(app),
    ):
        return [await client.get("/health/ready", headers=headers) for headers in callers]


async def test_nobody_is_told_how_much_the_index_holds(memory):
    keys = ",".join((key_entry("desk", "desk", "ask"), key_entry("staff", "staff", "ask:internal")))
    services = open_service(load_settings(_env_file=None, auth_mode="api_key", api_keys=keys, **memory))
    told = await ready_of(services, {}, bearer("desk"), bearer("wrong"), bearer("staff"))

    assert {one.status_code for one in told} == {200}
    details = [one.json()["checks"]["vector_store"]["detail"] for one in told]
    assert details == [None, None, None, "exact search"]


async def test_strangers_are_told_what_is_down_and_a_store_of_sessions_that_is_away_is_no_error(memory):
    settings = load_settings(_env_file=None, auth_mode="session", redis_url="redis://127.0.0.1:1/0", **memory)
    [ready] = await ready_of(open_service(settings), bearer("any"))

    assert (ready.status_code, ready.json()["status"]) == (503, "down")
    assert ready.json()["checks"]["redis"]["detail"] == "ConnectionError"


async def test_staff_is_told_how_long_answers_take(memory):
    services = open_service(load_settings(_env_file=None, llm_provider="offline", **memory))
    for number in range(1, 101):
        call = Call({"question": "?"}, seconds=number)
        services.metrics.started(call)
        services.metrics.ended(call)
    own, framed = await ready_of(services, {}, {"X-Waypoint-Embed": "1"})

    assert own.json()["answer_seconds"] == {"p50": 50, "p95": 95, "p99": 99}
    assert set(framed.json()) == {"status", "checks"}
