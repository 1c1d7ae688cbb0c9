"""Take messages from any thread without waiting, store them, and deliver them in order.

Two tasks: one stores what arrives, the other delivers what is stored. While the broker is away, only the second stops.
"""

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any
from uuid import uuid4

import aio_pika
from aio_pika import DeliveryMode, ExchangeType
from aio_pika.abc import AbstractConnection, AbstractExchange
from aio_pika.connection import make_url

from app.ledger.work import WaitingMessages
from app.ports import Message
from chains.around import Call, Observer
from chains.clock import timestamp
from chains.errors import WaypointError
from chains.logs import get_logger
from chains.metadata import count_marked

SOURCE = "chat-service"
VERSION = "1.0"
ROUTING_KEYS = {
    "QuerySubmitted": "analytics.query.submitted",
    "ResponseGenerated": "analytics.response.generated",
    "AnswerGenerated": "chat.answer.generated",
    "FeedbackReceived": "analytics.feedback.received",
    "AnswerRecalled": "answer.recalled",
}


class Events:
    """Observes the calls of a chain: QuerySubmitted before any work, the two others once there is an answer.

    There is no answer where nothing was retrieved, the call failed, or the client left. `publish` must not block;
    `model` is the one that is asked where the call names none in its metadata (`model_id`).
    """

    def __init__(self, publish: Callable[[Message], None], *, model: str) -> None:
        self._publish = publish
        self._model = model

    def started(self, call: Call, /) -> None:
        payload = {
            "query": call.question.get("question"),
            "userSessionId": call.metadata.get("session_id"),
            "modelId": call.metadata.get("model_id") or self._model,
        }
        self._submit(call, "QuerySubmitted", payload | _user(call))

    def ended(self, call: Call, /) -> None:
        answer = call.answer
        if answer is None or not answer["metadata"]["chunks_retrieved"]:
            return
        metadata, citations = answer["metadata"], count_marked(answer["citations"])
        response = {
            "query": answer["question"],
            "response": answer["answer"],
            "modelId": metadata["model"],
            "userSessionId": call.metadata.get("session_id"),
            "latencyMs": 1000 * call.seconds,
            "citationCount": citations,
            "retrievalCount": metadata["chunks_retrieved"],
        }
        generated = {
            "query": answer["question"],
            "answer": answer["answer"],
            "citation_count": citations,
            "generated_at": timestamp(),
            "trace_id": metadata["trace_id"],
        }
        self._submit(call, "ResponseGenerated", response | _user(call))
        self._submit(call, "AnswerGenerated", generated)

    def _submit(self, call: Call, event: str, payload: Mapping[str, Any]) -> None:
        correlation_id = call.metadata.get("request_id") or str(call.id)
        self._publish(message(event, payload, correlation_id=correlation_id))


def _user(call: Call) -> dict[str, Any]:
    user_id = call.metadata.get("user_id")
    return {} if user_id is None else {"userId": user_id}


def message(event: str, payload: Mapping[str, Any], *, correlation_id: str) -> Message:
    envelope = {
        "eventType": event,
        "eventId": str(uuid4()),
        "timestamp": timestamp(),
        "correlationId": correlation_id,
        "source": SOURCE,
        "version": VERSION,
        "payload": payload,
    }
    # ASCII, because a client may have sent half a surrogate pair, which neither disk nor broker would take.
    return Message(str(envelope["eventId"]), ROUTING_KEYS[event], correlation_id, json.dumps(envelope))


HEARTBEAT_S = CONNECT_S = 10
CONFIRM_S = 30
CLOSE_S = 1


async def publish(exchange: AbstractExchange, messages: Sequence[Message]) -> None:
    """Publish the messages in order, and wait until the broker has confirmed each."""
    try:
        # No message has a timeout of its own: one that gave up alone would leave a gap before those behind it.
        async with asyncio.timeout(CONFIRM_S), asyncio.TaskGroup() as tasks:  # Each takes the channel in its turn.
            for message in messages:
                body = aio_pika.Message(
                    message.body.encode(),
                    content_type="application/json",
                    content_encoding="utf-8",
                    delivery_mode=DeliveryMode.PERSISTENT,
                    message_id=message.id,
                    correlation_id=message.correlation_id,
                )
                tasks.create_task(exchange.publish(body, message.routing_key, mandatory=False))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


async def _close(connection: AbstractConnection) -> None:
    try:
        with suppress(Exception):  # It may be lost already.
            async with asyncio.timeout(CLOSE_S):
                await connection.close()
    finally:
        await connection.close()  # A second call does not wait; it marks the connection as closed.


log = get_logger(__name__)

BATCH = 100
POLL_S = 0.5  # How often the store is read for what other processes left there.


class Outbox:
    """Stores messages, and delivers them in order, at least once, to an exchange of the broker at `url`.

    As many as the store holds wait in memory until they are stored. A message whose confirm was lost is sent again,
    under the same id. When the outbox closes, it delivers what is left for at most `flush_s`; the rest waits in the
    store for the next start. `dropped` are the oldest messages, where the store was full, and those that could not be
    stored.
    """

    def __init__(
        self,
        store: WaitingMessages,
        url: str,
        *,
        exchange: str = "events",
        flush_s: float = 5,
        pause_s: float = 0.25,
        max_pause_s: float = 5,
    ) -> None:
        self._store, self._url, self._exchange = store, url, exchange
        self._flush_s, self._pause_s, self._max_pause_s = flush_s, pause_s, max_pause_s
        self._arrivals: deque[Message] = deque(maxlen=store.capacity)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failures = self._storing = self._stored = 0
        self.sent = self.dropped = 0

    @property
    def waiting(self) -> int:
        return len(self._arrivals) + self._storing + self._stored

    def check(self) -> str:
        """Say where messages wait. Raise ConfigurationError, VectorStoreError if the store cannot be read."""
        return f"{self._store.count()} wait in {self._store.place}"

    async def ping(self, *, timeout_s: float) -> None:
        """Open a connection and close it. Raise OSError or AMQPError if nobody answers, or the user is refused."""
        connection = await aio_pika.connect(self._url, timeout=timeout_s)
        await connection.close()

    def publish(self, event: str, payload: dict[str, Any], *, correlation_id: str) -> None:
        taken = message(event, payload, correlation_id=correlation_id)
        if self._loop is not None:
            self.submit(taken)
        else:
            self._store.put([taken])

    def observer(self, model: str) -> Observer:
        return Events(self.submit, model=model)

    def submit(self, message: Message) -> None:
        """Take the message, from any thread; an outbox that is not running drops it."""
        with self._lock:
            if self._loop is None:
                return
            self.dropped += len(self._arrivals) == self._store.capacity
            self._arrivals.append(message)
            self._loop.call_soon_threadsafe(self._arrived.set)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._arrived, self._changed, self._closing = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._counting = asyncio.Lock()
        storing = asyncio.create_task(self._keep_storing())
        tasks = storing, asyncio.create_task(self._keep_sending(storing))
        self._loop = asyncio.get_running_loop()
        try:
            yield
        finally:
            with self._lock:
                self._loop = None
            self._closing.set()
            self._arrived.set()
            await asyncio.wait(tasks, timeout=self._flush_s)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if self.waiting:
                log.warning("events_left_for_the_next_start", waiting=self.waiting)

    async def _keep_storing(self) -> None:
        while not self._closing.is_set() or self._arrivals:
            await self._arrived.wait()
            self._arrived.clear()
            with self._lock:
                batch = list(self._arrivals)
                self._arrivals.clear()
                self._storing = len(batch)
            if batch:
                await self._put(batch)
                self._storing = 0
        self._changed.set()

    async def _put(self, batch: list[Message]) -> None:
        """Store the messages, again and again where the store refuses; what arrives meanwhile waits in memory."""
        while True:
            try:
                self.dropped += await asyncio.to_thread(self._store.put, batch)
                await self._count()
            except WaypointError as error:
                log.warning("events_cannot_be_stored", error=str(error), waiting=self.waiting)
                if not await _set_within(self._closing, self._max_pause_s):
                    continue
                self.dropped += len(batch)
            self._changed.set()
            return

    async def _keep_sending(self, storing: asyncio.Task[None]) -> None:
        """Deliver what any process stored; after a failure, over a new connection."""
        while True:
            try:
                async with self._connected() as exchange:
                    while True:
                        self._changed.clear()
                        is_last = storing.done()
                        await self._deliver(exchange)
                        if is_last:
                            return
                        await _set_within(self._changed, POLL_S)
            except Exception as error:  # Whatever it was: the messages are stored, and it may pass.
                if self._failures == 0:
                    log.warning("events_wait", error=type(error).__name__, waiting=self.waiting)
                self._failures += 1
            if self._closing.is_set():
                return
            await _set_within(self._closing, min(self._max_pause_s, self._pause_s * 2.0 ** min(self._failures, 16)))

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AbstractExchange]:
        address = make_url(self._url, heartbeat=HEARTBEAT_S)
        connection = aio_pika.Connection(address, client_properties={"connection_name": "waypoint"})
        try:
            async with asyncio.timeout(CONNECT_S):
                await connection.connect()
                channel = await connection.channel()
                exchange = await channel.declare_exchange(self._exchange, ExchangeType.TOPIC, durable=True)
            yield exchange
        finally:
            await _close(connection)

    async def _deliver(self, exchange: AbstractExchange) -> None:
        """Send what is stored, unless another process does; the lock goes with the connection to the database."""
        with ExitStack() as lock:
            if await self._count() and await asyncio.to_thread(lock.enter_context, self._store.delivering()):
                while batch := await asyncio.to_thread(self._store.first, BATCH):
                    await publish(exchange, batch)
                    self.sent += await asyncio.to_thread(self._store.remove, batch)
                    await self._count()
        if self._failures:
            log.info("events_flow_again", waiting=self.waiting)
        self._failures = 0

    async def _count(self) -> int:
        async with self._counting:  # One that began before a message was stored would else end after it.
            self._stored = await asyncio.to_thread(self._store.count)
            return self._stored


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), seconds)
    return event.is_set()
