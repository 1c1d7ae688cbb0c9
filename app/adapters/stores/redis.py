"""A store of bytes that expire in Redis, shared by processes; a Redis that fails is not called for a while."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import inf
from typing import Any, cast

import redis
from langchain_core.runnables import run_in_executor
from redis import asyncio as aioredis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from chains.caching.typed_cache import ExpiringStore, StoreError
from chains.clock import Clock, SystemClock
from chains.errors import ConfigurationError
from chains.logs import get_logger

# After a failure Redis is not called for this long, so that one that hangs costs its timeout once, not per question.
PAUSE_S = 5.0

log = get_logger(__name__)


class RedisStore(ExpiringStore):
    """Keeps bytes in Redis for `ttl_s` seconds; a failure is a StoreError and a pause.

    Inside `connected()` the asynchronous methods use connections of their own; elsewhere they take a thread.

    Args:
        url: like redis://127.0.0.1:6379/0; it may hold a password and is never shown.
        ttl_s: how long values are kept by default.
        timeout_s: how long to wait for a connection, and for an answer.
        clock: tells when the pause is over.
    """

    def __init__(self, url: str, *, ttl_s: float, timeout_s: float = 0.25, clock: Clock | None = None) -> None:
        self._url = url
        self._ttl_s = ttl_s
        # A retry would double the time that a dead Redis costs; a miss is cheaper.
        self._options: dict[str, Any] = {
            "socket_connect_timeout": timeout_s,
            "socket_timeout": timeout_s,
            "retry": Retry(NoBackoff(), 0),
        }
        try:
            self._client = redis.Redis.from_url(url, **self._options)
        except ValueError as error:
            msg = "REDIS_URL is no address of a Redis; it has to look like redis://127.0.0.1:6379/0"
            raise ConfigurationError(msg) from error
        self._aclient: aioredis.Redis | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._health = Health(clock or SystemClock())

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Hold connections for the running event loop while the body runs, and close all of them after it."""
        async with aioredis.Redis.from_url(self._url, **self._options) as client:
            self._aclient, self._loop = client, asyncio.get_running_loop()
            try:
                yield
            finally:
                self._aclient = self._loop = None
                self.close()

    def close(self) -> None:
        """Close the connections that the synchronous methods opened; the next call opens new ones."""
        self._client.close()

    def get(self, name: str) -> bytes | None:
        """Return the value, None for what is not there."""
        with self._health.watched():  # GET would fail on a value of another kind; to MGET it is not there.
            return cast("list[bytes | None]", self._client.mget([name]))[0]

    async def aget(self, name: str) -> bytes | None:
        """Return the same without blocking the event loop."""
        client = self._here()
        if client is None:
            return await run_in_executor(None, self.get, name)
        with self._health.watched():
            return cast("list[bytes | None]", await client.mget([name]))[0]

    def set(self, name: str, data: bytes, *, ttl_s: float | None = None) -> None:
        """Keep the value."""
        with self._health.watched():
            self._client.set(name, data, px=self._lifetime_ms(ttl_s))

    async def aset(self, name: str, data: bytes, *, ttl_s: float | None = None) -> None:
        """Do the same without blocking the event loop."""
        client = self._here()
        if client is None:
            await run_in_executor(None, self.set, name, data, ttl_s=ttl_s)
            return
        with self._health.watched():
            await client.set(name, data, px=self._lifetime_ms(ttl_s))

    def _here(self) -> aioredis.Redis | None:
        """Return the client of the running event loop; another loop's connections cannot be used here."""
        return self._aclient if self._loop is asyncio.get_running_loop() else None

    def _lifetime_ms(self, ttl_s: float | None) -> int:
        return max(1, int(1000 * (ttl_s or self._ttl_s)))


class Health:
    """Whether Redis may be called: not for PAUSE_S seconds after a failure. Each outage and its end are logged once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until = -inf
        self._down = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Run the body if Redis may be called, and raise its errors as StoreError."""
        if self._clock.now() < self._until:
            msg = "Redis failed a moment ago"
            raise StoreError(msg)
        try:
            yield
        except (RedisError, OSError) as error:
            self._fail(error)
            msg = f"Redis did not answer ({type(error).__name__})"
            raise StoreError(msg) from error
        if self._down:
            self._down = False
            log.info("cache_back")

    def _fail(self, error: Exception) -> None:
        self._until = self._clock.now() + PAUSE_S
        if not self._down:
            self._down = True
            log.warning("cache_down", error=type(error).__name__, meaning="answers take longer; check Redis")
