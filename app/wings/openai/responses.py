"""POST /v1/responses: OpenAI's newer contract, whose annotations clients show as links.

https://platform.openai.com/docs/api-reference/responses; nothing is stored, so clients send conversations whole.
"""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from itertools import count
from typing import Annotated, Any, Literal, cast
from uuid import uuid4

from fastapi import Request
from pydantic import BaseModel, Field, StrictBool

from app.http.errors import RequestRefusedError, logged_reply, openai_error
from app.wings.openai.messages import (
    Message,
    annotations_of,
    below,
    extension_of,
    finish_reason_of,
)
from chains.output import merge
from chains.state import Answer

MOST_ITEMS = 500
_TEXTS = {"input_text", "output_text", "text"}


class ResponseBody(BaseModel):
    """A question, or a conversation whose last message is one. Other fields, such as sampling, are ignored."""

    model: str = Field(max_length=200, examples=["llama-3.1-8b-instant"], description="One of GET /v1/models.")
    input: str | Annotated[list[dict[str, Any]], Field(min_length=1, max_length=MOST_ITEMS)] = Field(
        examples=["What is the GST rate on imports?"]
    )
    stream: StrictBool | None = None
    tools: list[Any] | None = Field(None, description="Refused: the service calls no tools.")
    text: dict[str, Any] | None = Field(None, description="Only the format `text` is supported.")
    previous_response_id: str | None = Field(None, description="Refused: send the conversation as `input`.")
    conversation: Any = Field(None, description="Refused: send the conversation as `input`.")
    background: StrictBool | None = Field(None, description="Refused: answers are given at once.")

    @property
    def messages(self) -> list[Message]:
        """Return the messages of the input; other items, such as reasoning and calls of tools, are left out.

        Raises:
            RequestRefusedError: there is none, or one holds more than text.
        """
        if isinstance(self.input, str):
            return [Message(role="user", content=self.input)]
        if found := [_message(item) for item in self.input if item.get("type", "message") == "message"]:
            return found
        raise RequestRefusedError(400, "input needs a message of the user", param="input")


class ResponseObject(BaseModel):
    """OpenAI's response; `waypoint` adds outcome, confidence and trace id."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["completed", "incomplete", "in_progress"]
    model: str
    output: list[Any]
    usage: dict[str, Any] | None
    waypoint: dict[str, Any] | None = None


EXAMPLE = {
    "id": "resp_0b6d7c0e",
    "object": "response",
    "created_at": 1763800000,
    "status": "completed",
    "model": "llama-3.1-8b-instant",
    "output": [
        {
            "type": "message",
            "id": "msg_0b6d7c0e",
            "status": "completed",
            "role": "assistant",
            "content": [
                {
                    "type": "output_text",
                    "text": "It is 9 % [1].\n\nSources:\n\n1. [GST Guide > Rate](https://example.org/gst)",
                    "annotations": [
                        {
                            "type": "url_citation",
                            "start_index": 10,
                            "end_index": 13,
                            "title": "GST Guide > Rate",
                            "url": "https://example.org/gst",
                        }
                    ],
                }
            ],
        }
    ],
    "usage": {"input_tokens": 412, "output_tokens": 14, "total_tokens": 426},
    "waypoint": {"outcome": "answered", "confidence": {"level": "High"}, "trace_id": "0b6d7c0e"},
}


def refuse_unserved(body: ResponseBody) -> None:
    """Refuse what would change the answer and is not served.

    Raises:
        RequestRefusedError: always then.
    """
    for name, advice in (
        ("tools", "this model answers from documents; leave them out"),
        ("previous_response_id", "nothing is stored; send the conversation as `input`"),
        ("conversation", "nothing is stored; send the conversation as `input`"),
        ("background", "answers are given at once; leave it out"),
    ):
        if getattr(body, name):
            msg = f"{name} is not supported: {advice}"
            raise RequestRefusedError(400, msg, param=name)
    if ((body.text or {}).get("format") or {}).get("type", "text") != "text":
        msg = "text.format is not supported: answers are text with citations; leave it out and read the annotations"
        raise RequestRefusedError(400, msg, param="text.format")


def response_of(answer: Answer, model: str) -> dict[str, Any]:
    """Return an answer as a response."""
    return _whole(_Reply(model), answer, answer["answer"] + below(answer), annotated(answer))


def annotated(answer: Answer) -> list[dict[str, Any]]:
    """Return an annotation for each marker: of its source's address, or of the file where it has none."""
    files = [
        {
            "type": "file_citation",
            "file_id": one["doc_id"] or one["title"],
            "filename": one["title"],
            "index": one["start"],
            "quote": one["quote"],
        }
        for one in answer["citations"]
        if one["matched"] and one["number"] and not one["source_urls"]
    ]
    quotes = {one["start"]: one["quote"] for one in answer["citations"]}
    links = [one["url_citation"] for one in annotations_of(answer["citations"])]
    return [{"type": "url_citation", **one, "quote": quotes[one["start_index"]]} for one in links] + files


async def events(request: Request, parts: AsyncIterator[Any], model: str) -> AsyncIterator[str]:
    """Yield the events of a response in OpenAI's order; a stream cannot take words back, so corrections come last."""
    reply, seen = _Reply(model), list[Any]()
    try:
        for event in reply.opening():
            yield event
        async with aclosing(cast("AsyncGenerator[Any]", parts)):
            async for part in parts:
                seen.append(part)
                if words := part.get("answer"):
                    yield reply.delta(words)
        for event in _ending(reply, seen):
            yield event
    except Exception as error:  # The status has been sent: the error can only be the last event.
        failure = openai_error(logged_reply(request, error))
        yield reply.event("error", **failure["error"], **failure)


def _ending(reply: "_Reply", seen: list[Any]) -> Iterator[str]:
    answer = merge(seen)
    replaced = any("replacement" in part for part in seen)
    if last := below(answer, replaced=replaced):
        yield reply.delta(last)
    annotations = [] if replaced else annotated(answer)  # Otherwise the offsets would not match.
    for number, annotation in enumerate(annotations):
        yield reply.event(
            "response.output_text.annotation.added", **reply.place, annotation_index=number, annotation=annotation
        )
    yield from reply.closing(_whole(reply, answer, reply.text, annotations))


class _Reply:
    """The events of one response, counted, and the text that they have carried."""

    def __init__(self, model: str) -> None:
        self.text = ""
        self.model = model
        self.id, self.message = f"resp_{uuid4().hex}", f"msg_{uuid4().hex}"
        self.place = {"item_id": self.message, "output_index": 0, "content_index": 0}
        self.created_at = int(time.time())
        self._numbers = count()

    def event(self, kind: str, **fields: Any) -> str:
        """Return an event."""
        value = {**fields, "type": kind, "sequence_number": next(self._numbers)}
        return f"event: {kind}\ndata: {json.dumps(value)}\n\n"

    def delta(self, words: str) -> str:
        """Return the event of more words."""
        self.text += words
        return self.event("response.output_text.delta", **self.place, delta=words, logprobs=[])

    def opening(self) -> Iterator[str]:
        """Yield the events before the words."""
        begun = self.head("in_progress") | {"output": [], "usage": None}
        yield self.event("response.created", response=begun)
        yield self.event("response.in_progress", response=begun)
        yield self.event("response.output_item.added", output_index=0, item=self.item("in_progress", []))
        yield self.event("response.content_part.added", **self.place, part=output_text("", []))

    def closing(self, response: dict[str, Any]) -> Iterator[str]:
        """Yield the events behind the words."""
        [item] = response["output"]
        [part] = item["content"]
        yield self.event("response.output_text.done", **self.place, text=self.text, logprobs=[])
        yield self.event("response.content_part.done", **self.place, part=part)
        yield self.event("response.output_item.done", output_index=0, item=item)
        yield self.event(f"response.{response['status']}", response=response)

    def item(self, status: str, content: list[Any]) -> dict[str, Any]:
        """Return the one item of the output, the assistant's message."""
        return {"type": "message", "id": self.message, "status": status, "role": "assistant", "content": content}

    def head(self, status: str) -> dict[str, Any]:
        """Return the fields that are the same from the beginning."""
        named = {"id": self.id, "object": "response", "created_at": self.created_at, "status": status}
        unset = dict.fromkeys(
            ("error", "incomplete_details", "instructions", "previous_response_id", "temperature", "top_p")
        )
        chosen = {"tools": [], "tool_choice": "none", "parallel_tool_calls": False, "store": False, "metadata": {}}
        return named | unset | chosen | {"model": self.model, "text": {"format": {"type": "text"}}}


def output_text(text: str, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a part of a message."""
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


def _whole(reply: _Reply, answer: Answer, text: str, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(finish_reason_of(answer))
    status = "incomplete" if reason else "completed"
    used = answer["metadata"]["usage"] or {}
    usage = {name: used.get(name, 0) for name in ("input_tokens", "output_tokens", "total_tokens")}
    details = {
        "input_tokens_details": {"cached_tokens": used.get("cached_tokens", 0)},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return reply.head(status) | {
        "output": [reply.item(status, [output_text(text, annotations)])],
        "usage": usage | details,
        "incomplete_details": {"reason": reason} if reason else None,
        "waypoint": extension_of(answer),
    }


def _message(item: dict[str, Any]) -> Message:
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    if any(not isinstance(part, dict) or part.get("type") not in _TEXTS for part in parts):
        raise RequestRefusedError(400, "only text is supported; leave out images, audio and files", param="input")
    texts = [{"type": "text", "text": str(part.get("text", ""))} for part in parts]
    try:
        return Message.model_validate({"role": item.get("role"), "content": texts or content})
    except ValueError as error:
        msg = "each message needs a role and a content of text"
        raise RequestRefusedError(400, msg, param="input") from error
