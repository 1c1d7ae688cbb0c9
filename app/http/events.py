"""The parts of an answer -> server-sent events, as LangServe's clients and browsers read them; an error is the last."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any, cast

from fastapi import Request
from langserve.serialization import WellKnownLCSerializer
from sse_starlette.sse import EventSourceResponse
from starlette.types import Send

from app.http.errors import observed_problem
from app.http.problems import Problem

Event = dict[str, str]

_serializer = WellKnownLCSerializer()


class EventStream(EventSourceResponse):
    """Sends events as they come, unbuffered by proxies and with a comment every 15 s, until the end or a disconnect."""

    @staticmethod
    async def listen_for_exit_signal() -> None:
        """Do nothing: a server that is asked to stop lets its answers end."""
        await asyncio.Event().wait()

    async def stream_response(self, send: Send) -> None:
        """Send the events; what makes them is closed at once where the client leaves."""
        async with aclosing(cast("AsyncGenerator[Event]", self.body_iterator)):
            await super().stream_response(send)


def data_event(part: Any) -> Event:
    """Return the event that carries a part, LangChain's objects included."""
    return {"event": "data", "data": _serializer.dumps(part).decode()}


def error_event(problem: Problem) -> Event:
    """Return the event that says what happened and what to do; LangServe's clients raise it."""
    told = {"status_code": problem.status, "error": problem.error, "message": problem.message}
    return {"event": "error", "data": json.dumps(told)}


async def events_of(
    request: Request,
    parts: AsyncIterator[Any],
    *,
    first: Sequence[Event] = (),
    failed: Callable[[Problem], Event] = error_event,
) -> AsyncIterator[Event]:
    """Yield the `first` events, the parts as events, and then the end or what `failed` makes of an error."""
    try:
        async with aclosing(cast("AsyncGenerator[Any]", parts)):
            for event in first:
                yield event
            async for part in parts:
                yield data_event(part)
        yield {"event": "end"}
    except Exception as error:  # The status has been sent: the error can only be the last event.
        yield failed(observed_problem(request, error))
