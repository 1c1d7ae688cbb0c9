"""Limit how many questions are answered at the same time, stop work whose client has left, and drain the service."""

import asyncio
import math
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Literal

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.adapters.sessions.identity import Scope as IdentityScope
from app.http.errors import RequestRefusedError
from app.http.middleware.body_limit import is_streamed, replayed
from app.http.policy import pdf_pages_of, policy_of
from chains.logs import get_logger

log = get_logger(__name__)


class CancelOnDisconnect:
    """ASGI middleware that cancels a request whose client left before the response began; streams notice themselves.

    It needs BodyLimit in front: after the whole body, the next message is the disconnect.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        posted = scope["type"] == "http" and scope["method"] == "POST" and not is_streamed(scope)
        if not posted and not pdf_pages_of(scope):
            await self.app(scope, receive, send)
            return
        gone = asyncio.Event()
        started = False

        async def note_start(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        async def disconnected() -> Message:
            await gone.wait()
            return {"type": "http.disconnect"}

        body = (await receive())["body"]
        work = asyncio.ensure_future(self.app(scope, replayed(body, disconnected), note_start))
        watch = asyncio.ensure_future(_watch(receive, gone))
        try:
            await asyncio.wait((work, watch), return_when=asyncio.FIRST_COMPLETED)
            if work.done() or started:
                await work
            else:
                log.info("client_left", path=scope["path"])
        finally:
            work.cancel()
            watch.cancel()
            await asyncio.gather(work, watch, return_exceptions=True)


async def _watch(receive: Receive, gone: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    gone.set()


class ConcurrencyLimit:
    """ASGI middleware that limits concurrent questions; further ones wait their turn, then get 503.

    A place is released when the answer is computed: what a client has not read yet waits in the connection's buffer
    (BoundedConnection), which disconnects a client that reads too slowly.

    Args:
        app: The application behind it.
        at_once: How many questions; a batch takes as many places as it has questions, or all.
        queue_s: How long a request may wait for its turn.
    """

    def __init__(self, app: ASGIApp, *, at_once: int, queue_s: float) -> None:
        self.app = app
        self.at_once = at_once
        self.queue_s = queue_s
        self.places = asyncio.Semaphore(at_once)
        self.front = asyncio.Lock()  # One request at a time acquires places, so that two batches cannot deadlock.

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        count = getattr(Request(scope).state, "questions", 0) if scope["type"] == "http" else 0
        # What asks nothing never waits for what asks. Feedback counts as a question for the rate only.
        if not count or policy_of(scope).access is IdentityScope.FEEDBACK:
            await self.app(scope, receive, send)
            return
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self.queue_s), self.front:
                    for _ in range(min(count, self.at_once)):
                        await held.enter_async_context(self.places)
            except TimeoutError:
                msg = "Too many questions are being answered at the moment. Try again soon."
                headers = {"Retry-After": str(math.ceil(self.queue_s))}
                raise RequestRefusedError(503, msg, headers) from None
            await self.app(scope, receive, send)


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
    def request(self) -> Iterator[None]:
        """Count a request as running while the body runs."""
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


class DrainMiddleware:
    """ASGI middleware that counts requests and, while the service drains, refuses all but monitoring and rendering."""

    def __init__(self, app: ASGIApp, in_flight: InFlight) -> None:
        self.app = app
        self.in_flight = in_flight

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not policy_of(scope).drained:
            await self.app(scope, receive, send)
            return
        if self.in_flight.phase == "draining":
            # A client on a kept connection has to open a new one, which leads to another process.
            headers = {"Retry-After": str(RETRY_AFTER_S), "Connection": "close"}
            raise RequestRefusedError(503, "The service is restarting. Try again in a few seconds.", headers)
        if pdf_pages_of(scope):  # Not for rendering: it may be slow, and the page asks again.
            await self.app(scope, receive, send)
            return
        with self.in_flight.request():
            await self.app(scope, receive, send)
