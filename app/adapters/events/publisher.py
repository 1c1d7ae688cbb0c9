"""Messages -> a durable topic exchange, each confirmed by the broker; one connection from its making to its loss.

A confirm that is lost with its connection leaves open whether the broker has the message. So every message goes to one
more queue, by the broker's sender-selected distribution (the header BCC, which no consumer sees): the receipts, a
durable queue of length one, which holds the last message that arrived. The broker routes the messages of a channel in
order and each to all of its queues: where the receipt is, everything before it is.

Nothing of the old connection may arrive once the receipt has been read. An exclusive queue sees to that: the broker
grants it to a new connection only after it has done with the old one.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import aio_pika
from aio_pika import DeliveryMode, ExchangeType
from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange, AbstractQueue
from aio_pika.connection import make_url

from app.adapters.events.message import Message

HEARTBEAT_S = 10
CONNECT_S = 10
CLOSE_S = 1


@dataclass(frozen=True, slots=True)
class Link:
    """A connection that is ready: its exchange, and the queue of receipts."""

    exchange: AbstractExchange
    receipts: AbstractQueue

    async def receipt(self) -> str | None:
        """Return the id of the last message that is known to have arrived.

        A broker that crashed marks what it finds again as redelivered. Its other queues may have kept less than the
        receipts did, so such a receipt counts for nothing: better a message twice than never.
        """
        message = await self.receipts.get(fail=False)
        if message is None:
            return None
        await message.reject(requeue=True)
        return None if message.redelivered else message.message_id

    async def publish(self, messages: Sequence[Message]) -> None:
        """Publish the messages in order, and wait until the broker has confirmed each."""
        try:
            async with asyncio.TaskGroup() as tasks:  # They get hold of the channel in the order of their making.
                for message in messages:
                    tasks.create_task(self._publish(message))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None

    async def _publish(self, message: Message) -> None:
        # Without a timeout of its own: a message that gave up alone would leave a gap before the ones behind it.
        await self.exchange.publish(
            aio_pika.Message(
                message.body.encode(),
                content_type="application/json",
                content_encoding="utf-8",
                delivery_mode=DeliveryMode.PERSISTENT,
                message_id=message.id,
                correlation_id=message.correlation_id,
                headers={"BCC": [self.receipts.name]},
            ),
            routing_key=message.routing_key,
            mandatory=False,
        )


class Publisher:
    """Connects to the broker at `url` and publishes to `exchange`."""

    def __init__(self, url: str, *, exchange: str = "events") -> None:
        self._url = url
        self._exchange = exchange
        logging.getLogger("aiormq").setLevel(logging.CRITICAL)  # Whoever publishes is told of errors, and says so once.

    @asynccontextmanager
    async def link(self, sender: str) -> AsyncIterator[Link]:
        """Connect, and declare what is needed; the connection is closed after.

        Args:
            sender: names the queues of its own; the same over all restarts of whoever keeps the messages.
        """
        connection = aio_pika.Connection(
            make_url(self._url, heartbeat=HEARTBEAT_S), client_properties={"connection_name": f"waypoint {sender}"}
        )
        try:
            async with asyncio.timeout(CONNECT_S):
                await connection.connect()
                link = await self._declare(await connection.channel(), sender)
            yield link
        finally:
            await _close(connection)

    async def _declare(self, channel: AbstractChannel, sender: str) -> Link:
        await channel.declare_queue(f"waypoint.sender.{sender}", exclusive=True)
        exchange = await channel.declare_exchange(self._exchange, ExchangeType.TOPIC, durable=True)
        receipts = await channel.declare_queue(
            receipts_of(sender),
            durable=True,
            arguments={"x-max-length": 1, "x-overflow": "drop-head"},
        )
        await receipts.bind(exchange, routing_key=receipts.name)
        return Link(exchange, receipts)


def receipts_of(sender: str) -> str:
    """Return the name of a sender's queue of receipts, which stays on the broker."""
    return f"waypoint.receipt.{sender}"


async def _close(connection: AbstractConnection) -> None:
    try:
        with suppress(Exception):  # It may have been lost already, and there is nothing to be done for it.
            async with asyncio.timeout(CLOSE_S):
                await connection.close()
    finally:
        await connection.close()  # It waits no second time, and knows then that it is closed.
