"""Let a request through to its route as the route's policy asks: each check in turn, each refusal a response.

Around that, each request has an id and is counted, and browsers are told what they may do with the response.
"""

import asyncio
import re
import time
from collections.abc import Collection, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.adapters.identity import Scope as IdentityScope
from app.http.errors import RequestRefusedError, error_response
from app.http.middleware.limits import (
    BATCH_MAX,
    DISCARDED_TIMES,
    STREAMED_BYTES,
    InFlight,
    Places,
    RateLimit,
    bounded,
    caller_of,
    in_time,
    parse_json,
    replayed,
)
from app.http.middleware.security import HEADERS, NO_FRAMES, POLICY, check_origin, identify
from app.http.policy import SAFE_METHODS, Policy, policy_of
from app.observability.metrics import Metrics
from app.wiring.service import Access
from chains.documents.audience import called_by
from chains.logs import get_logger

log = get_logger(__name__)


@dataclass
class Gate:
    """ASGI middleware that holds the limits of all routes, those of unknown paths too.

    They come before the body is read and before a route is found, which FastAPI's dependencies cannot. What the app
    raises becomes a response as well, unless the response has begun; a failure after the client has left is no error.
    `origins` are web pages that may ask a local service, None where it is open to others; without `rate` questions
    are not counted.
    """

    app: ASGIApp
    in_flight: InFlight
    origins: Collection[str] | None
    access: Access
    rate: RateLimit | None
    places: Places

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        client = _Client(receive, send)
        try:
            async with AsyncExitStack() as life:
                await self._pass(life, scope, client)
        except Exception as error:
            if client.left.is_set() or isinstance(error, ClientDisconnect):
                log.info("client_left", path=scope["path"], error=type(error).__name__)
                return
            if client.started:
                raise
            response = await error_response(Request(scope), error)
            await response(scope, receive, send)

    async def _pass(self, life: AsyncExitStack, scope: Scope, client: "_Client") -> None:
        policy = policy_of(scope)
        draws = policy.pages if scope["method"] == "GET" else None
        await self._admit(life, scope, policy)
        receive, questions = await self._read(scope, client.receive, policy)
        if questions > BATCH_MAX:
            raise RequestRefusedError(422, f"The batch has {questions} questions; at most {BATCH_MAX} are allowed")
        if self.rate is not None and (draws or questions):
            client.headers = await self.rate.check(caller_of(Request(scope)), questions, draws)

        async def work(receive: Receive) -> None:
            # What asks nothing never waits for what asks. Feedback counts as a question for the rate only.
            async with self.places.taken(0 if policy.access is IdentityScope.FEEDBACK else questions):
                await self.app(scope, receive, client.send)

        if draws or (scope["method"] == "POST" and not policy.streamed):
            whole = await receive()  # The whole body: what comes next is the disconnect.
            await client.answered(work(replayed(whole["body"], client.disconnected)), scope["path"])
        else:
            await work(receive)

    async def _admit(self, life: AsyncExitStack, scope: Scope, policy: Policy) -> None:
        """Let the caller in, or refuse: what is read from here on is what the caller may see, or the public."""
        headers, method = Headers(scope=scope), scope["method"]
        if policy.drained:  # A page may be slow to draw, and the browser asks again: a drain does not wait for it.
            life.enter_context(self.in_flight.request(awaited=not (policy.pages and method == "GET")))
        if self.origins is not None:
            check_origin(headers, self.origins, reads=method in SAFE_METHODS and not policy.is_open)
        identity = await identify(self.access, policy.access, method, headers)
        if identity is not None:
            scope.setdefault("state", {})["identity"] = identity
        life.enter_context(called_by(identity.audience if identity else "public"))
        if not scope["path"].isprintable():  # No file can have such a name.
            raise RequestRefusedError(404, "There is nothing at this address.")

    async def _read(self, scope: Scope, receive: Receive, policy: Policy) -> tuple[Receive, int]:
        """Return a channel with the body that has been read, and how many questions it asks."""
        headers, is_posted = Headers(scope=scope), scope["method"] == "POST"
        if is_posted and policy.streamed:
            return await bounded(headers, receive, STREAMED_BYTES, DISCARDED_TIMES * STREAMED_BYTES), 0
        if scope["method"] in SAFE_METHODS:
            return receive, 0
        async with in_time():
            body = await Request(scope, await bounded(headers, receive, policy.body_bytes)).body()
        questions = policy.questions(parse_json(body) if body else None) if is_posted else 0
        return replayed(body, receive), questions


class _Client:
    """The channels of a request to its client, and whether the response has begun or the client has left.

    `headers` are sent with the response.
    """

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.headers: dict[str, str] = {}
        self.started, self.left = False, asyncio.Event()

    async def send(self, message: Message) -> None:
        self.started = True
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(self.headers)
        await self._send(message)

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self.left.set()
        return message

    async def disconnected(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def answered(self, work: Coroutine[Any, Any, None], path: str) -> None:
        """Do the work, but cancel it if the client leaves before the response begins; streams notice themselves."""

        async def watch() -> None:
            while not self.left.is_set():
                await self.receive()

        tasks = [asyncio.ensure_future(work), asyncio.ensure_future(watch())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0].done() or self.started:
                await tasks[0]
            else:
                log.info("client_left", path=path)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


HEADER = "X-Request-ID"
_VALID_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = {"GET", "HEAD", "POST", "OPTIONS"}
CLIENT_CLOSED_REQUEST = 499  # nginx's status for a client that left before the response began.


@dataclass
class Exchange:
    """ASGI middleware around every request and its response.

    The id is in `request.state.request_id`, in every log line and in the response; a client's own X-Request-ID is kept
    if it is short and plain. Each request is counted when its response has ended, by method, route and status. Of the
    security headers a route's own win.
    """

    app: ASGIApp
    metrics: Metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if _VALID_ID.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        status, started = CLIENT_CLOSED_REQUEST, time.perf_counter()

        async def respond(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[HEADER] = request_id
                for name, value in (HEADERS | {"Content-Security-Policy": POLICY}).items():
                    headers.setdefault(name, value)
                if NO_FRAMES not in headers["Content-Security-Policy"]:
                    del headers["X-Frame-Options"]  # It takes no list of origins; the policy does.
            await send(message)

        try:
            with structlog.contextvars.bound_contextvars(request_id=request_id):
                await self.app(scope, receive, respond)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            # The route's template, because clients cannot invent new ones.
            route = getattr(scope.get("route"), "path", "none")
            seconds = time.perf_counter() - started
            self.metrics.request(method=method, route=route, status=status, seconds=seconds)
