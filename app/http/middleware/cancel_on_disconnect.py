"""A request and its client -> the work on it, which stops when the client leaves."""

import asyncio

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.middleware.body_limit import replayed

log = structlog.get_logger(__name__)


class StopsWhenLeft:
    """ASGI middleware that cancels a request whose client left before the response began; streams notice themselves.

    The body has to be whole already: what comes after it is the end.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and watch its client."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        gone = asyncio.Event()
        started = False

        async def begin(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        body = (await receive()).get("body", b"")
        work = asyncio.ensure_future(self.app(scope, replayed(body, _once(gone)), begin))
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


def _once(gone: asyncio.Event) -> Receive:
    async def disconnected() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    return disconnected
