"""The machine's RabbitMQ, spoken to under names of the test's own."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import aio_pika
import pytest
from aio_pika.abc import AbstractIncomingMessage

PORT = 5672


def url(port: int = PORT) -> str:
    return f"amqp://guest:guest@127.0.0.1:{port}/"


def skip_without_broker() -> None:
    try:
        socket.create_connection(("127.0.0.1", PORT), timeout=5).close()
    except OSError:
        pytest.skip("no RabbitMQ listens on 127.0.0.1:5672")


@dataclass
class Sink:
    """An exchange of the test's own, and what came to it, in order."""

    exchange: str
    messages: list[AbstractIncomingMessage] = field(default_factory=list)

    def holds(self, count: int) -> bool:
        return len(self._first) >= count

    @property
    def ids(self) -> list[str | None]:
        """The ids in the order of their first arrival, as a consumer sees them that drops what it knows."""
        return list(self._first)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(message.body) for message in self._first.values()]

    @property
    def _first(self) -> dict[str | None, AbstractIncomingMessage]:
        first: dict[str | None, AbstractIncomingMessage] = {}
        for message in self.messages:
            first.setdefault(message.message_id, message)
        return first


@asynccontextmanager
async def sink(shared: str | None = None) -> AsyncIterator[Sink]:
    """Listen to all that is published to a new exchange, which is deleted after, or to a shared one, which stays."""
    taken = Sink(shared or f"test.{uuid4().hex}")
    async with await aio_pika.connect(url()) as connection:
        channel = await connection.channel()
        exchange = await channel.declare_exchange(taken.exchange, aio_pika.ExchangeType.TOPIC, durable=True)
        queue = await channel.declare_queue(exclusive=True)
        await queue.bind(exchange, "#")

        async def take(message: AbstractIncomingMessage) -> None:
            taken.messages.append(message)

        await queue.consume(take, no_ack=True)
        try:
            yield taken
        finally:
            if shared is None:
                await exchange.delete()
