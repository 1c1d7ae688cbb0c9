"""Let a request through to its route as the route's policy asks: each check in turn, each refusal a response."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.adapters.sessions.identity import Scope as IdentityScope
from app.http.errors import RequestRefusedError, error_response
from app.http.middleware.authentication import Callers
from app.http.middleware.bodies import Bodies, parse_json, replayed
from app.http.middleware.browser_security import check_origin
from app.http.middleware.concurrency import InFlight, Places
from app.http.middleware.rate_limit import RateLimit, caller_of
from app.http.policy import SAFE_METHODS, Policy, policy_of
from chains.documents.audience import called_by
from chains.logs import get_logger

log = get_logger(__name__)


@dataclass
class Gate:
    """ASGI middleware that holds the limits of all routes, those of unknown paths too.

    They come before the body is read and before a route is found, which FastAPI's dependencies cannot. What the app
    raises becomes a response as well, unless the response has begun; a failure after the client has left is no error.
    `origins` are web pages that may ask a local service, None where it is open to others; `batch_max` is how many
    questions a request may ask; without `rate` they are not counted.
    """

    app: ASGIApp
    in_flight: InFlight
    origins: Collection[str] | None
    callers: Callers
    bodies: Bodies
    batch_max: int
    rate: RateLimit | None
    places: Places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = left = False

        async def respond(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        async def listen() -> Message:
            nonlocal left
            message = await receive()
            left = left or message["type"] == "http.disconnect"
            return message

        try:
            async with AsyncExitStack() as life:
                await self._pass(life, scope, listen, respond)
        except Exception as error:
            if left or isinstance(error, ClientDisconnect):
                log.info("client_left", path=scope["path"], error=type(error).__name__)
                return
            if started:
                raise
            response = await error_response(Request(scope), error)
            await response(scope, receive, send)

    async def _pass(self, life: AsyncExitStack, scope: Scope, receive: Receive, send: Send) -> None:
        policy = policy_of(scope)
        is_posted = scope["method"] == "POST"
        draws = policy.pages if scope["method"] == "GET" else None
        await self._admit(life, scope, policy)
        receive, questions = await self._read(scope, receive, policy)
        if questions > self.batch_max:
            msg = f"The batch has {questions} questions; at most {self.batch_max} are allowed"
            raise RequestRefusedError(422, msg)
        left: dict[str, str] = {}
        if self.rate is not None and (draws or questions):
            left = await self.rate.check(caller_of(Request(scope)), questions, draws)

        async def work(receive: Receive, send: Send) -> None:
            async def respond(message: Message) -> None:
                if message["type"] == "http.response.start":
                    MutableHeaders(scope=message).update(left)
                await send(message)

            # What asks nothing never waits for what asks. Feedback counts as a question for the rate only.
            async with self.places.taken(0 if policy.access is IdentityScope.FEEDBACK else questions):
                await self.app(scope, receive, respond)

        if draws or (is_posted and not policy.streamed):
            await _unless_left(work, scope, receive, send)
        else:
            await work(receive, send)

    async def _admit(self, life: AsyncExitStack, scope: Scope, policy: Policy) -> None:
        """Let the caller in, or refuse: what is read from here on is what the caller may see, or the public."""
        headers, method = Headers(scope=scope), scope["method"]
        if policy.drained:  # A page may be slow to draw, and the browser asks again: a drain does not wait for it.
            life.enter_context(self.in_flight.request(awaited=not (policy.pages and method == "GET")))
        if self.origins is not None:
            check_origin(headers, self.origins, reads=method in SAFE_METHODS and not policy.is_open)
        identity = await self.callers.identify(policy.access, method, headers)
        if identity is not None:
            scope.setdefault("state", {})["identity"] = identity
        life.enter_context(called_by(identity.audience if identity else "public"))
        if not scope["path"].isprintable():  # No file can have such a name.
            raise RequestRefusedError(404, "There is nothing at this address.")

    async def _read(self, scope: Scope, receive: Receive, policy: Policy) -> tuple[Receive, int]:
        """Return a channel with the body that has been read, and how many questions it asks."""
        headers, is_posted = Headers(scope=scope), scope["method"] == "POST"
        if is_posted and policy.streamed:
            return await self.bodies.streamed(headers, receive), 0
        if scope["method"] in SAFE_METHODS:
            return receive, 0
        body = await self.bodies.read(headers, receive, policy.body_bytes)
        questions = policy.questions(parse_json(body) if body else None) if is_posted else 0
        return replayed(body, receive), questions


async def _unless_left(
    work: Callable[[Receive, Send], Awaitable[None]], scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer a request, but cancel it if its client leaves before the response begins; streams notice themselves."""
    gone = asyncio.Event()
    started = False
    first = await receive()  # The whole body: what comes next is the disconnect.

    async def respond(message: Message) -> None:
        nonlocal started
        started = True
        await send(message)

    async def disconnected() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    tasks: list[asyncio.Future[Any]] = [
        asyncio.ensure_future(work(replayed(first["body"], disconnected), respond)),
        asyncio.ensure_future(watch()),
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if tasks[0].done() or started:
            await tasks[0]
        else:
            log.info("client_left", path=scope["path"])
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
