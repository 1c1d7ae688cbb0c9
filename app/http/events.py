"""Send server-sent events as LangServe's clients and browsers read them; an error is the last event."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
from fastapi import Request
from langchain_core.messages import AIMessage
from starlette.responses import StreamingResponse
from starlette.types import Message, Send

from app.http.errors import ErrorReply, logged_reply
from app.http.langserve_compat import serialize
from chains.around import for_strangers
from chains.documents.audience import Audience

PING_S = 15
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def event(name: str, data: str | None = None) -> str:
    """Return an event in its wire format; `data` is JSON, so it has no line ends."""
    return f"event: {name}\r\n\r\n" if data is None else f"event: {name}\r\ndata: {data}\r\n\r\n"


def data_event(part: Any) -> str:
    """Return the event that carries a part of an answer, LangChain's objects included.

    In ASCII: LangServe's client ends a line at U+0085, U+2028 and U+2029 too, which JSON allows inside of strings.
    """
    data = serialize(part)
    if not data.isascii():
        data = _NOT_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], data)
    return event("data", data)


class EventStream(StreamingResponse):
    """A response of events, with a comment every 15 seconds so that proxies keep a quiet connection open.

    It ends with the last event or when the client leaves; a draining server lets it end. Its generator is then closed
    at once.
    """

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[str]) -> None:
        super().__init__(events, headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})

    async def stream_response(self, send: Send) -> None:
        lock, ended = asyncio.Lock(), False  # Without anyio's turn of the event loop for each event.

        async def send_in_turn(message: Message) -> None:
            nonlocal ended
            async with lock:
                ended = message["type"] == "http.response.body" and not message["more_body"]
                await send(message)

        async def ping() -> None:
            while True:
                await anyio.sleep(PING_S)
                async with lock:
                    if not ended:
                        await send({"type": "http.response.body", "body": b": ping\r\n\r\n", "more_body": True})

        async with aclosing(cast("AsyncGenerator[str]", self.body_iterator)), anyio.create_task_group() as tasks:
            tasks.start_soon(ping)
            await super().stream_response(send_in_turn)
            tasks.cancel_scope.cancel()


async def events_of(
    request: Request,
    parts: AsyncIterator[Any],
    *,
    first: Iterable[str] = (),
    each: Callable[[Any], Iterable[str]] = lambda part: (data_event(part),),
    last: Callable[[], Iterable[str]] = lambda: (event("end"),),
    on_error: Callable[[ErrorReply], str] = lambda reply: event("error", json.dumps(reply.in_place())),
) -> AsyncIterator[str]:
    """Yield the `first` events, those of each part, and then the `last` or that of an error, which clients raise."""
    try:
        async with aclosing(cast("AsyncGenerator[Any]", parts)):
            for opening in first:
                yield opening
            async for part in parts:
                for text in each(part):
                    yield text
        for ending in last():
            yield ending
    except Exception as error:  # The status has been sent: the error can only be the last event.
        yield on_error(logged_reply(request, error))


@dataclass
class PublicEvents:
    """The events of `astream_events` without what only operators may see.

    The chain shows its question and its answer, its steps the fields of the answer that they add, and the answering
    model its words. Prompts, contexts, search candidates and all other inputs are removed. `answering` names the step
    whose model writes the answer; strangers see of the `fields` what `Disclosure` leaves; `selection` holds
    `include_names`, `include_types`, `include_tags` and the same with `exclude_`, as in LangChain.
    """

    fields: frozenset[str]
    answering: str
    audience: Audience
    selection: Mapping[str, Sequence[str] | None]
    _answering_runs: set[str] = field(default_factory=set, init=False)

    async def filter(self, events: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield the selected events, with the data that a client may see."""
        async with aclosing(cast("AsyncGenerator[Any]", events)):
            async for run in events:
                data = self._data(run)  # For every event, because a selected one may belong to one that is not.
                if self._is_selected(run):
                    yield run | {"data": data}

    def _is_selected(self, run: Any) -> bool:
        kind = run["event"].removeprefix("on_").rpartition("_")[0]
        traits = {"names": {run["name"]}, "types": {kind}, "tags": set(run["tags"])}
        included = [traits[name] & set(self.selection[f"include_{name}"] or ()) for name in traits]
        excluded = [traits[name] & set(self.selection[f"exclude_{name}"] or ()) for name in traits]
        chooses = any(self.selection[f"include_{name}"] is not None for name in traits)
        return (any(included) or not chooses) and not any(excluded)

    def _data(self, run: Any) -> dict[str, Any]:
        whole = not run["parent_ids"]
        in_answering = run["name"] == self.answering or not self._answering_runs.isdisjoint(run["parent_ids"])
        if in_answering:
            self._answering_runs.add(run["run_id"])
        shown: dict[str, Any] = {}
        for name, value in run["data"].items():
            if name == "input":
                if whole and isinstance(value, dict):
                    shown[name] = {key: value[key] for key in ("question", "top_k", "threshold") if key in value}
            elif isinstance(value, dict):
                seen = value if self.audience == "internal" else for_strangers(value)
                shown[name] = {key: seen[key] for key in seen if key in self.fields and (whole or key != "documents")}
            elif in_answering and (isinstance(value, AIMessage) or run["event"].startswith("on_parser_")):
                shown[name] = value
        return shown
