"""Health probes for Redis and RabbitMQ."""

import aio_pika
from redis.asyncio import Redis


async def ping_redis(url: str, *, timeout_s: float) -> None:
    """Send a PING over a connection of its own.

    Raises:
        redis.exceptions.RedisError: nothing answers there, or it refuses.
    """
    async with Redis.from_url(url, socket_connect_timeout=timeout_s, socket_timeout=timeout_s) as client:
        await client.ping()


async def ping_rabbitmq(url: str, *, timeout_s: float) -> None:
    """Open an AMQP connection and close it again.

    Raises:
        OSError: nothing answers there.
        aiormq.exceptions.AMQPError: it refuses the user, or the virtual host.
    """
    connection = await aio_pika.connect(url, timeout=timeout_s)
    await connection.close()
