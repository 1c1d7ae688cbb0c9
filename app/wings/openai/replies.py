"""An answer as a chat completion and as a response of OpenAI's, whole or as a stream of events.

https://platform.openai.com/docs/api-reference; a stream cannot take words back, so corrections come at its end. Its
sentences come with their annotations once they are checked.
"""

import json
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import count
from typing import Any
from uuid import uuid4

from fastapi import Request

from app.edge import judged, markdown_below, matched
from app.http.errors import ErrorReply, error_content
from app.http.events import events_of
from chains.documents.naming import place_name, place_of
from chains.output import merge
from chains.state import Answer, Citation

# An answer's usage under the names of a chat completion.
_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens", "total_tokens": "total_tokens"}


def _url_citation(citation: Citation) -> dict[str, Any]:
    """Return where a marker, or a sentence without one, leads; without address where its source has none."""
    name, url = place_name(citation["title"], citation["section"]), place_of(citation)["url"]
    return {"start_index": citation["start"], "end_index": citation["end"], "title": name, "url": url}


def _finish_reason(answer: Answer) -> str:
    reason = answer["metadata"]["finish_reason"]
    return reason if reason in {"length", "content_filter"} else "stop"


class Completion:
    """A chat completion."""

    def __init__(self, model: str, *, usage: bool = False) -> None:
        self._head = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": model}
        self._with_usage = usage
        self._told = 0  # How many annotations a stream has carried.

    def whole(self, answer: Answer) -> dict[str, Any]:
        message = {
            "role": "assistant",
            "content": answer["answer"] + markdown_below(answer),
            "refusal": None,
            "annotations": self._annotations(answer["citations"]),
        }
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(answer)}
        values = {"choices": [choice], "usage": self._usage(answer), "waypoint": judged(answer)}
        return {**self._head, "object": "chat.completion", **values}

    def opening(self) -> Iterator[str]:
        yield self._chunk({"role": "assistant", "content": ""})

    def delta(self, words: str, citations: Iterable[Citation] = ()) -> Iterator[str]:
        """Yield the next words, and the annotations of the citations so far that are new."""
        new = list(enumerate(self._annotations(citations)))[self._told :]
        self._told += len(new)
        # OpenAI's client adds up the lists of a stream by the index of their entries.
        added = [{"index": index, **annotation} for index, annotation in new]
        yield self._chunk({"content": words, **({"annotations": added} if added else {})})

    def ending(self, answer: Answer, *, replaced: bool) -> Iterator[str]:
        """Yield the lists below, the last annotations unless the words were `replaced`, and the usage if wanted."""
        yield from self.delta(markdown_below(answer, replaced=replaced), () if replaced else answer["citations"])
        yield self._chunk({}, _finish_reason(answer), waypoint=judged(answer))
        if self._with_usage:
            yield self._event(choices=[], usage=self._usage(answer))
        yield "data: [DONE]\n\n"

    def failed(self, error: ErrorReply) -> str:
        return f"data: {json.dumps(error_content(error, 'openai'))}\n\n"

    def _annotations(self, citations: Iterable[Citation]) -> list[dict[str, Any]]:
        links = map(_url_citation, matched(citations))
        return [{"type": "url_citation", "url_citation": link} for link in links if link["url"]]

    def _usage(self, answer: Answer) -> dict[str, int]:
        """Return the tokens; 0 if the model reported none or was not asked."""
        return {name: (answer["metadata"]["usage"] or {}).get(ours, 0) for name, ours in _USAGE.items()}

    def _chunk(self, delta: dict[str, Any], finish_reason: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._event(**more, choices=[choice])

    def _event(self, **values: Any) -> str:
        return f"data: {json.dumps({**self._head, 'object': 'chat.completion.chunk', **values})}\n\n"


class Response:
    """A response; nothing is stored, so clients send conversations whole."""

    def __init__(self, model: str) -> None:
        self._id, self._message = f"resp_{uuid4().hex}", f"msg_{uuid4().hex}"
        self._place = {"item_id": self._message, "output_index": 0, "content_index": 0}
        self._model, self._created_at, self._text = model, int(time.time()), ""
        self._told: list[dict[str, Any]] = []  # The annotations that a stream has carried.
        self._numbers = count()

    def whole(self, answer: Answer) -> dict[str, Any]:
        text = answer["answer"] + markdown_below(answer)
        return self._completed(answer, text, self._annotations(answer["citations"]))

    def opening(self) -> Iterator[str]:
        begun = self._object("in_progress") | {"output": [], "usage": None}
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)
        yield self._event("response.output_item.added", output_index=0, item=self._item("in_progress", []))
        yield self._event("response.content_part.added", **self._place, part=_part("", []))

    def delta(self, words: str, citations: Iterable[Citation] = ()) -> Iterator[str]:
        """Yield the next words, and then the annotations of the citations so far that are new."""
        self._text += words
        if words:
            yield self._event("response.output_text.delta", **self._place, delta=words, logprobs=[])
        for annotation in self._annotations(citations)[len(self._told) :]:
            added = {"annotation_index": len(self._told), "annotation": annotation}
            yield self._event("response.output_text.annotation.added", **self._place, **added)
            self._told.append(annotation)

    def ending(self, answer: Answer, *, replaced: bool) -> Iterator[str]:
        """Yield the lists below, the last annotations unless the words were `replaced`, and the whole once more."""
        yield from self.delta(markdown_below(answer, replaced=replaced), () if replaced else answer["citations"])
        response = self._completed(answer, self._text, self._told)
        [item] = response["output"]
        yield self._event("response.output_text.done", **self._place, text=self._text, logprobs=[])
        yield self._event("response.content_part.done", **self._place, part=item["content"][0])
        yield self._event("response.output_item.done", output_index=0, item=item)
        yield self._event(f"response.{response['status']}", response=response)

    def failed(self, error: ErrorReply) -> str:
        failure = error_content(error, "openai")
        return self._event("error", **failure["error"], **failure)

    def _annotations(self, citations: Iterable[Citation]) -> list[dict[str, Any]]:
        annotations = []
        for citation in matched(citations):
            title, link = citation["title"], _url_citation(citation)
            file = {"file_id": citation["doc_id"] or title, "filename": title, "index": citation["start"]}
            place = {"type": "url_citation", **link} if link["url"] else {"type": "file_citation", **file}
            annotations.append({**place, "quote": citation["quote"]})
        return annotations

    def _event(self, kind: str, **fields: Any) -> str:
        value = {**fields, "type": kind, "sequence_number": next(self._numbers)}
        return f"event: {kind}\ndata: {json.dumps(value)}\n\n"

    def _item(self, status: str, content: list[Any]) -> dict[str, Any]:
        return {"type": "message", "id": self._message, "status": status, "role": "assistant", "content": content}

    def _object(self, status: str) -> dict[str, Any]:
        named = {"id": self._id, "object": "response", "created_at": self._created_at, "status": status}
        unset = ("error", "incomplete_details", "instructions", "previous_response_id", "temperature", "top_p")
        chosen = {"tools": [], "tool_choice": "none", "parallel_tool_calls": False, "store": False, "metadata": {}}
        written = {"model": self._model, "text": {"format": {"type": "text"}}}
        return named | dict.fromkeys(unset) | chosen | written

    def _completed(self, answer: Answer, text: str, annotations: list[dict[str, Any]]) -> dict[str, Any]:
        reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(_finish_reason(answer))
        status = "incomplete" if reason else "completed"
        used = answer["metadata"]["usage"] or {}
        usage: dict[str, Any] = {name: used.get(name, 0) for name in _USAGE.values()}
        usage["input_tokens_details"] = {"cached_tokens": used.get("cached_tokens", 0)}
        usage["output_tokens_details"] = {"reasoning_tokens": 0}
        return self._object(status) | {
            "output": [self._item(status, [_part(text, annotations)])],
            "usage": usage,
            "incomplete_details": {"reason": reason} if reason else None,
            "waypoint": judged(answer),
        }


def _part(text: str, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


def events(request: Request, parts: AsyncIterator[Any], reply: Completion | Response) -> AsyncIterator[str]:
    seen: list[Any] = []

    def each(part: Any) -> Iterable[str]:
        seen.append(part)
        return reply.delta(part["answer"], part.get("citations", ())) if part.get("answer") else ()

    def last() -> Iterable[str]:
        return reply.ending(merge(seen), replaced=any("replacement" in part for part in seen))

    return events_of(request, parts, first=reply.opening(), each=each, last=last, on_error=reply.failed)
