"""Health probe for Redis."""

from redis.asyncio import Redis


async def ping_redis(url: str, *, timeout_s: float) -> None:
    """Send a PING over a connection of its own.

    Raises:
        redis.exceptions.RedisError: nothing answers there, or it refuses.
    """
    async with Redis.from_url(url, socket_connect_timeout=timeout_s, socket_timeout=timeout_s) as client:
        await client.ping()
