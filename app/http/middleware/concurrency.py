"""Limit how many questions are answered at the same time, and drain the service."""

import asyncio
import math
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Literal

from app.http.errors import RequestRefusedError


class Places:
    """Limits concurrent questions; further ones wait their turn, then get 503.

    A place is released when the answer is computed: what a client has not read yet waits in the connection's buffer
    (BoundedConnection), which disconnects a client that reads too slowly. A batch takes as many places as it has
    questions, or all; a request waits `queue_s` for its turn.
    """

    def __init__(self, *, at_once: int, queue_s: float) -> None:
        self.at_once = at_once
        self.queue_s = queue_s
        self._places = asyncio.Semaphore(at_once)
        self._front = asyncio.Lock()  # One request at a time acquires places, so that two batches cannot deadlock.

    @asynccontextmanager
    async def taken(self, count: int) -> AsyncIterator[None]:
        """Take so many places while the body runs.

        Raises:
            RequestRefusedError: there was none in time.
        """
        async with AsyncExitStack() as places:
            if count:
                try:
                    async with asyncio.timeout(self.queue_s), self._front:
                        for _ in range(min(count, self.at_once)):
                            await places.enter_async_context(self._places)
                except TimeoutError:
                    msg = "Too many questions are being answered at the moment. Try again soon."
                    headers = {"Retry-After": str(math.ceil(self.queue_s))}
                    raise RequestRefusedError(503, msg, headers) from None
            yield


Phase = Literal["starting", "ready", "draining"]

RETRY_AFTER_S = 5


class InFlight:
    """The phase of the service, and the requests in progress."""

    def __init__(self) -> None:
        self.phase: Phase = "starting"
        self.running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def request(self, *, awaited: bool = True) -> Iterator[None]:
        """Count a request as running while the body runs, if a drain waits for it.

        Raises:
            RequestRefusedError: the service drains.
        """
        if self.phase == "draining":
            # A client on a kept connection has to open a new one, which leads to another process.
            headers = {"Retry-After": str(RETRY_AFTER_S), "Connection": "close"}
            raise RequestRefusedError(503, "The service is restarting. Try again in a few seconds.", headers)
        if not awaited:
            yield
            return
        self.running += 1
        self._idle.clear()
        try:
            yield
        finally:
            self.running -= 1
            if not self.running:
                self._idle.set()

    async def drain(self, timeout_s: float) -> None:
        """Refuse new requests, and return when the running ones have ended or the time is over."""
        self.phase = "draining"
        try:
            await asyncio.wait_for(self._idle.wait(), timeout_s)
        except TimeoutError:
            return
