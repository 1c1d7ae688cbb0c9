"""The whole service with a real RabbitMQ: what is asked and scored over HTTP arrives as events, outage or not."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

import httpx
import pytest

from app.http.server import create_app
from app.settings import load_settings
from app.wings.events.outbox import Outbox
from app.wiring import Parts, open_index, open_service
from tests.event_stores import PLACES, Place, event_place
from tests.proxy import Proxy
from tests.rabbit import PORT, Sink, sink
from tests.served import GUIDE, QUESTION
from tests.waiting import await_until

pytestmark = pytest.mark.service

USERS = 4


place = pytest.fixture(event_place, params=PLACES)


@dataclass
class Desk:
    """The service, what came of its events, and the line between it and the broker."""

    client: httpx.AsyncClient
    outbox: Outbox
    taken: Sink
    proxy: Proxy

    async def ask(self, question: str = QUESTION) -> httpx.Response:
        return await self.client.post("/api/query", json={"query": question})


@asynccontextmanager
async def desk(folder, place: Place) -> AsyncIterator[Desk]:
    (folder / "gst.md").write_text(GUIDE)
    settings = load_settings(vector_store_type="memory", scope_file="off", min_chunks=0)
    open_index(settings).ingest([folder / "gst.md"])
    async with sink() as taken, Proxy(PORT) as proxy:
        outbox = place.outbox(proxy.port, taken.exchange, capacity=1000, max_pause_s=0.2)
        services = open_service(settings, parts=Parts(outbox=outbox))
        transport = httpx.ASGITransport(create_app(services))
        async with services.running(), httpx.AsyncClient(transport=transport, base_url="http://desk") as client:
            yield Desk(client, outbox, taken, proxy)


async def test_a_question_and_its_score_arrive_as_events_that_can_be_joined(tmp_path, place):
    async with desk(tmp_path, place) as service:
        trace_id = (await service.ask()).json()["metadata"]["traceId"]
        scored = await service.client.post("/api/feedback", json={"trace_id": trace_id, "score": 1, "comment": "Yes."})
        await await_until(lambda: len(service.taken.messages) == 4)

    assert (scored.status_code, scored.json()) == (202, {"status": "accepted", "kept": False})
    keys = [message.routing_key for message in service.taken.messages]
    assert keys == [
        "analytics.query.submitted",
        "analytics.response.generated",
        "chat.answer.generated",
        "analytics.feedback.received",
    ]
    submitted, response, generated, feedback = service.taken.events
    assert submitted["correlationId"] == response["correlationId"] == generated["correlationId"]
    assert submitted["payload"] == {"query": QUESTION, "userSessionId": None, "modelId": "offline"}
    assert generated["payload"]["trace_id"] == trace_id
    assert feedback["payload"] == {"traceId": trace_id, "score": 1.0, "comment": "Yes."}


async def test_answers_do_not_wait_for_a_broker_that_is_away_and_every_event_arrives_after(tmp_path, place):
    answered: list[str] = []
    done = asyncio.Event()

    async def user(name: int) -> None:
        while not done.is_set():
            question = f"{QUESTION} ({name}, {uuid4()})"
            response = await service.ask(question)
            assert response.status_code == 200
            answered.append(question)

    def reached(count: int) -> bool:
        return len(answered) >= count

    async with desk(tmp_path, place) as service, asyncio.TaskGroup() as users:
        for name in range(USERS):
            users.create_task(user(name))
        for _ in range(2):
            await await_until(partial(reached, len(answered) + 5))
            await await_until(lambda: service.outbox.sent)
            await service.proxy.cut()
            await await_until(partial(reached, len(answered) + 10))
            assert service.outbox.waiting
            await service.proxy.restore()
        done.set()
        await await_until(lambda: service.taken.holds(3 * len(answered)))

    events = service.taken.events
    assert len(events) == 3 * len(answered)
    assert [event["timestamp"] for event in events] == sorted(event["timestamp"] for event in events)
    of_one = [event["eventType"] for event in events if event["payload"]["query"] == answered[-1]]
    assert of_one == ["QuerySubmitted", "ResponseGenerated", "AnswerGenerated"]


async def test_an_event_that_a_command_leaves_is_delivered_by_the_service_that_runs_next(tmp_path, place):
    async with desk(tmp_path, place) as service:
        left = place.outbox(service.proxy.port, service.taken.exchange)
        await asyncio.to_thread(left.publish, "AnswerRecalled", {"traceId": "t1"}, correlation_id="c1")
        await await_until(lambda: service.taken.messages)

    [event] = service.taken.events
    assert (event["eventType"], event["payload"]) == ("AnswerRecalled", {"traceId": "t1"})
    assert service.taken.messages[0].routing_key == "answer.recalled"
