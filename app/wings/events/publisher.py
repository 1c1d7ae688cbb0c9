"""Publish messages to a durable topic exchange of RabbitMQ, each confirmed by the broker."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import aio_pika
from aio_pika import DeliveryMode, ExchangeType
from aio_pika.abc import AbstractConnection, AbstractExchange
from aio_pika.connection import make_url

from app.ports import Message

HEARTBEAT_S = 10
CONNECT_S = 10
CONFIRM_S = 30
CLOSE_S = 1


@dataclass(frozen=True)
class Publisher:
    """Connects to the broker at `url` and publishes to `exchange`."""

    url: str = field(repr=False)
    exchange: str = "events"

    async def ping(self, *, timeout_s: float) -> None:
        """Open a connection and close it again.

        Raise OSError if nothing answers there; aiormq.exceptions.AMQPError if it refuses the user, or the virtual host.
        """
        connection = await aio_pika.connect(self.url, timeout=timeout_s)
        await connection.close()

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[AbstractExchange]:
        connection = aio_pika.Connection(
            make_url(self.url, heartbeat=HEARTBEAT_S), client_properties={"connection_name": "waypoint"}
        )
        try:
            async with asyncio.timeout(CONNECT_S):
                await connection.connect()
                channel = await connection.channel()
                exchange = await channel.declare_exchange(self.exchange, ExchangeType.TOPIC, durable=True)
            yield exchange
        finally:
            await _close(connection)


async def publish(exchange: AbstractExchange, messages: Sequence[Message]) -> None:
    """Publish the messages in order, and wait until the broker has confirmed each."""
    try:
        async with asyncio.timeout(CONFIRM_S), asyncio.TaskGroup() as tasks:  # Each takes the channel in its turn.
            for message in messages:
                tasks.create_task(_publish(exchange, message))
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None


async def _publish(exchange: AbstractExchange, message: Message) -> None:
    # No timeout of its own: a message that gave up alone would leave a gap before the ones behind it.
    await exchange.publish(
        aio_pika.Message(
            message.body.encode(),
            content_type="application/json",
            content_encoding="utf-8",
            delivery_mode=DeliveryMode.PERSISTENT,
            message_id=message.id,
            correlation_id=message.correlation_id,
        ),
        routing_key=message.routing_key,
        mandatory=False,
    )


async def _close(connection: AbstractConnection) -> None:
    try:
        with suppress(Exception):  # It may be lost already.
            async with asyncio.timeout(CLOSE_S):
                await connection.close()
    finally:
        await connection.close()  # A second call does not wait; it marks the connection as closed.
