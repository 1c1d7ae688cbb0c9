"""A request with its number of questions -> the same request, when it is its turn; 503 where that takes too long."""

import asyncio
import math
from contextlib import AsyncExitStack

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.problems import Problem, RequestRefusedError


class Turns:
    """ASGI middleware that lets so many questions be answered at the same time; others queue, first come, first served.

    Args:
        app: What it guards.
        at_once: How many questions; a batch takes as many places as it has questions, or all.
        queue_s: How long one may wait for its turn.
    """

    def __init__(self, app: ASGIApp, *, at_once: int, queue_s: float) -> None:
        self.app = app
        self.at_once = at_once
        self.queue_s = queue_s
        self.places = asyncio.Semaphore(at_once)
        self.front = asyncio.Lock()  # One at a time gathers places: no two batches hold what the other waits for.

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on when it is its turn."""
        count = getattr(Request(scope).state, "questions", 0) if scope["type"] == "http" else 0
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self.queue_s), self.front:
                    for _ in range(min(count, self.at_once)):
                        await held.enter_async_context(self.places)
            except TimeoutError:
                msg = "Too many questions are being answered at the moment. Try again soon."
                headers = {"Retry-After": str(math.ceil(self.queue_s))}
                raise RequestRefusedError(Problem(503, "Service Unavailable", msg), headers) from None
            await self.app(scope, receive, send)
