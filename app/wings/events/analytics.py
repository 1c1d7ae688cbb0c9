"""Events for other services, made from the start and the end of a call."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from app.ports import Message
from chains.around.observers import Call
from chains.clock import timestamp
from chains.metadata import count_marked

SOURCE = "chat-service"
VERSION = "1.0"
ROUTING_KEYS = {
    "QuerySubmitted": "analytics.query.submitted",
    "ResponseGenerated": "analytics.response.generated",
    "AnswerGenerated": "chat.answer.generated",
    "FeedbackReceived": "analytics.feedback.received",
    "AnswerRecalled": "answer.recalled",
}


class Events:
    """Observes the calls of a chain: QuerySubmitted before any work, the two others once there is an answer.

    There is no answer where nothing was retrieved, the call failed, or the client left.

    Args:
        publish: takes a message; it must not block.
        model: the model that is asked where the call names none in its metadata (`model_id`).
    """

    def __init__(self, publish: Callable[[Message], None], *, model: str) -> None:
        self._publish = publish
        self._model = model

    def started(self, call: Call, /) -> None:
        payload = {
            "query": call.question.get("question"),
            "userSessionId": call.metadata.get("session_id"),
            "modelId": call.metadata.get("model_id") or self._model,
        }
        self._submit(call, "QuerySubmitted", payload | _user(call))

    def ended(self, call: Call, /) -> None:
        answer = call.answer
        if answer is None or not answer["metadata"]["chunks_retrieved"]:
            return
        metadata, citations = answer["metadata"], count_marked(answer["citations"])
        response = {
            "query": answer["question"],
            "response": answer["answer"],
            "modelId": metadata["model"],
            "userSessionId": call.metadata.get("session_id"),
            "latencyMs": 1000 * call.seconds,
            "citationCount": citations,
            "retrievalCount": metadata["chunks_retrieved"],
        }
        generated = {
            "query": answer["question"],
            "answer": answer["answer"],
            "citation_count": citations,
            "generated_at": timestamp(),
            "trace_id": metadata["trace_id"],
        }
        self._submit(call, "ResponseGenerated", response | _user(call))
        self._submit(call, "AnswerGenerated", generated)

    def _submit(self, call: Call, event: str, payload: Mapping[str, Any]) -> None:
        correlation_id = call.metadata.get("request_id") or str(call.id)
        self._publish(message(event, payload, correlation_id=correlation_id))


def _user(call: Call) -> dict[str, Any]:
    user_id = call.metadata.get("user_id")
    return {} if user_id is None else {"userId": user_id}


def message(event: str, payload: Mapping[str, Any], *, correlation_id: str) -> Message:
    """Put a payload into the envelope of all events, with an id and the time."""
    envelope = {
        "eventType": event,
        "eventId": str(uuid4()),
        "timestamp": timestamp(),
        "correlationId": correlation_id,
        "source": SOURCE,
        "version": VERSION,
        "payload": payload,
    }
    # ASCII, because a client may have sent half a surrogate pair, which neither disk nor broker would take.
    return Message(str(envelope["eventId"]), ROUTING_KEYS[event], correlation_id, json.dumps(envelope))
