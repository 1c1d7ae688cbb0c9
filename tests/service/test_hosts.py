"""Two hosts with two workers each behind a real nginx, over one PostgreSQL, one Redis and one RabbitMQ."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from app.ledger.work import WaitingMessages
from app.settings import load_settings
from app.wiring.storage import ledger_of
from tests import rabbit
from tests.access import open_redis
from tests.completions import answer_to
from tests.fakes import FakeGroq, Reply, fake_groq
from tests.hosts import Host, each_worker, running
from tests.ingest_and_stop import waypoint_ingest
from tests.nginx import nginx, skip_without_nginx
from tests.proxy import Proxy
from tests.waiting import wait_until

pytestmark = [pytest.mark.service, pytest.mark.slow]

REDIS = "redis://127.0.0.1:6379/12"
LIMIT = 10
SETTINGS = {
    "VECTOR_STORE_TYPE": "postgres",
    "LLM_API_KEY": "gsk_test",
    "SCOPE_FILE": "off",
    "MIN_CHUNKS": "0",
    "REDIS_URL": REDIS,
    "CACHE_ENABLED": "on",
    "CACHE_BACKEND": "redis",
    "RATE_LIMIT": f"{LIMIT}/hour",
    "FORWARDED_ALLOW_IPS": "127.0.0.1",
}
FEES = {"Singapore": 12, "Malaysia": 17, "Thailand": 23, "Vietnam": 29}
EVENTS = {"QuerySubmitted", "ResponseGenerated", "AnswerGenerated"}


@dataclass
class Quoting(FakeGroq):
    """Answers with a quote of the first passage; while `let` is not set, with all but its last word."""

    let: threading.Event = field(default_factory=threading.Event)

    def next_reply(self, body: dict[str, Any]) -> Reply:
        return Reply(answer_to(body), release=self.let)


@dataclass
class Trial:
    """The hosts, the model, and the broker with the line to it, which can be cut."""

    hosts: list[Host]
    groq: Quoting
    taken: rabbit.Sink
    line: Proxy
    portal: BlockingPortal
    callers: Iterator[int] = field(default_factory=lambda: count(2))

    @contextmanager
    def caller(self, urls: Sequence[str] = ()) -> Iterator[httpx.Client]:
        """Yield a client behind nginx, with an address of its own: its questions are counted for it alone."""
        transport = httpx.HTTPTransport(local_address=f"127.0.0.{next(self.callers)}")
        with (
            nginx(*(urls or [host.url for host in self.hosts])) as url,
            httpx.Client(transport=transport, base_url=url) as client,
        ):
            yield client

    def call(self, function: Callable[[], Any]) -> None:
        """Call a function of the line to the broker in the event loop that it runs in."""
        self.portal.call(function)


def ask(client: httpx.Client, question: str, **fields: Any) -> httpx.Response:
    return client.post("/api/query", json={"query": question, **fields}, headers={"X-Request-ID": uuid4().hex})


def request_id(answer: httpx.Response) -> str:
    return str(answer.request.headers["X-Request-ID"])


def write_fees(folder: Path, fees: dict[str, int]) -> None:
    (folder / "docs").mkdir(exist_ok=True)
    for country, fee in fees.items():
        text = f"The fee for storage in the depot of {country} is {fee} dollars a day."
        (folder / "docs" / f"{country.lower()}.md").write_text(f"# Storage in {country}\n\n## Fee\n\n{text}\n")


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="module")
def trial(postgres_server, portal, tmp_path_factory) -> Iterator[Trial]:
    rabbit.skip_without_broker()
    skip_without_nginx()
    folder, groq = tmp_path_factory.mktemp("hosts"), Quoting()
    groq.let.set()
    with ExitStack() as stack:
        stack.enter_context(open_redis(REDIS)).flushdb()
        stack.enter_context(fake_groq(groq))
        url = stack.enter_context(postgres_server.database())
        taken = stack.enter_context(portal.wrap_async_context_manager(rabbit.sink("events")))
        line = stack.enter_context(portal.wrap_async_context_manager(Proxy(rabbit.PORT)))
        shared = SETTINGS | {"DATABASE_URL": url, "LLM_BASE_URL": groq.url, "RABBITMQ_URL": rabbit.url(line.port)}
        hosts = [Host(folder / name, shared) for name in ("one", "two")]
        write_fees(hosts[0].folder, FEES)
        waypoint_ingest(hosts[0].folder, "docs", **shared)
        stack.enter_context(running(*hosts))
        yield Trial(hosts, groq, taken, line, portal)


def converse(client: httpx.Client, workers: Iterable[None]) -> list[httpx.Response]:
    """Ask each worker in one session; each question but the first lacks what the first one says."""
    session, opening = f"session-{uuid4()}", "What is the fee for storage in the depot of {}?"
    answers = []
    for country, _ in zip(FEES, workers, strict=True):
        answer = ask(client, opening.format(country), sessionId=session)
        assert f"depot of {country}?" in answer.json()["metadata"]["searchQuery"]
        assert f"{country} is {FEES[country]} dollars a day" in answer.json()["answer"]
        answers.append(answer)
        opening = "And for {}?"
    return answers


def served_by(host: Host, answers: list[httpx.Response]) -> int:
    return len(host.answered() & {request_id(answer) for answer in answers})


def test_a_conversation_goes_on_with_whichever_worker_answers(trial):
    for _ in range(2):
        with trial.caller() as client:
            answers = converse(client, each_worker(trial.hosts))
        assert [served_by(host, answers) for host in trial.hosts] == [2, 2]


def test_a_limit_holds_for_all_workers_of_all_hosts_together(trial):
    with trial.caller() as client, trial.caller() as other:
        asked = [ask(client, "What is the fee?") for _ in range(3) for _ in each_worker(trial.hosts)]
        assert [answer.status_code for answer in asked] == [200] * LIMIT + [429] * (len(asked) - LIMIT)
        assert ask(other, "What is the fee?").status_code == 200


def answers_of_all_workers(trial: Trial, question: str) -> list[tuple[str, str | None]]:
    """Return what each worker answers, and what of it came from a cache."""
    with trial.caller() as client:
        answers = [ask(client, question).json() for _ in each_worker(trial.hosts)]
    return [(answer["answer"], answer["metadata"]["cache"]) for answer in answers]


def test_what_one_worker_cached_is_a_hit_for_all_until_a_document_changes_for_all(trial):
    first, question = trial.hosts[0], "What is the daily fee for storage in the depot of Brunei?"
    for fee, cached in ((31, None), (37, "embedding")):
        write_fees(first.folder, {"Brunei": fee})
        waypoint_ingest(first.folder, "docs", **first.settings)
        answers = answers_of_all_workers(trial, question)
        assert all(f"Brunei is {fee} dollars" in text for text, _ in answers)
        assert [cache for _, cache in answers] == [cached, "answer", "answer", "answer"]


def test_every_event_of_every_answer_arrives_though_a_host_is_killed_and_started_again(trial):
    first, second = trial.hosts
    trial.call(trial.line.cut)
    with trial.caller() as client:
        answers = [ask(client, f"What is the fee for storage? {number}") for number in range(4)]
        assert [served_by(host, answers) for host in trial.hosts] == [2, 2]
        ids = set(map(request_id, answers))
        wait_until(lambda: len([id_ for id_ in waiting(first) if id_ in ids]) == 4 * len(EVENTS))

        under_way = ask_while_killed(trial, client)
        meanwhile = [ask(client, f"What is the fee meanwhile? {number}") for number in range(4)]
    assert served_by(second, meanwhile) == 4
    assert all(answer.is_success for answer in (*answers, *meanwhile, under_way))

    trial.call(trial.line.restore)
    first.start()
    told = [*answers, *meanwhile, under_way]
    wait_until(lambda: len(arrived(trial, told)) >= len(told) * len(EVENTS))
    assert sorted(arrived(trial, told)) == sorted((request_id(answer), event) for answer in told for event in EVENTS)


def waiting(host: Host) -> list[str]:
    """Return the request's id of each event that waits for the broker."""
    settings = load_settings(_env_file=None, **{name.lower(): value for name, value in host.settings.items()})
    messages = WaitingMessages(ledger_of(settings), capacity=10_000).first(10_000)
    return [message.correlation_id for message in messages]


def ask_while_killed(trial: Trial, client: httpx.Client) -> httpx.Response:
    """Ask each host a question, kill the first before it answers, and return what the second answers."""
    trial.groq.let.clear()
    asked = len(trial.groq.requests)
    with ThreadPoolExecutor(2) as users:
        under_way = [users.submit(ask, client, f"What is the fee under way? {number}") for number in range(2)]
        wait_until(lambda: len(trial.groq.requests) == asked + 2)
        trial.hosts[0].kill()
        trial.groq.let.set()
    lost, answer = sorted((one.result() for one in under_way), key=lambda one: -one.status_code)
    assert lost.status_code == 502
    return answer


def arrived(trial: Trial, answers: list[httpx.Response]) -> list[tuple[str, str]]:
    """Return the events of these answers, each once, as the id of the request and the event's type."""
    ids = set(map(request_id, answers))
    return [(one["correlationId"], one["eventType"]) for one in trial.taken.events if one["correlationId"] in ids]
