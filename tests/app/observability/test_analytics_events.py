import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.ports import Message
from app.wings.events.outbox import Events
from chains.around import Call
from chains.errors import LLMUnavailableError

METADATA = {"session_id": "s1", "user_id": "u1", "request_id": "r1"}


def citation(number: int | None, **more: Any) -> dict[str, Any]:
    return {"number": number, "matched": True, "attributed": False, **more}


def answer(**more: Any) -> Any:
    metadata = {"chunks_retrieved": 2, "model": "llama", "trace_id": "t1"}
    return {"question": "Q?", "answer": "X [1].", "citations": [citation(1)], "metadata": metadata | more}


def told(call: Call) -> list[Message]:
    messages: list[Message] = []
    events = Events(messages.append, model="configured")
    events.started(call)
    events.ended(call)
    return messages


def bodies(call: Call) -> list[dict[str, Any]]:
    return [json.loads(message.body) for message in told(call)]


def call(**more: Any) -> Call:
    return Call({"question": "Q?"}, **({"metadata": METADATA, "answer": answer(), "seconds": 0.25} | more))


def test_an_answered_question_is_three_events_of_one_correlation_with_the_payloads_of_the_contract():
    messages = told(call())

    keys = ["analytics.query.submitted", "analytics.response.generated", "chat.answer.generated"]
    assert [message.routing_key for message in messages] == keys
    assert {message.correlation_id for message in messages} == {"r1"}
    assert len({message.id for message in messages}) == 3
    submitted, response, generated = (json.loads(message.body)["payload"] for message in messages)
    assert submitted == {"query": "Q?", "userSessionId": "s1", "modelId": "configured", "userId": "u1"}
    assert response == {
        "query": "Q?",
        "response": "X [1].",
        "modelId": "llama",
        "userSessionId": "s1",
        "latencyMs": 250.0,
        "citationCount": 1,
        "retrievalCount": 2,
        "userId": "u1",
    }
    assert datetime.fromisoformat(generated.pop("generated_at")).tzinfo == UTC
    assert generated == {"query": "Q?", "answer": "X [1].", "citation_count": 1, "trace_id": "t1"}


def test_the_envelope_names_event_id_time_and_source():
    [message, *_] = told(call())
    body = json.loads(message.body)

    assert list(body) == ["eventType", "eventId", "timestamp", "correlationId", "source", "version", "payload"]
    assert uuid.UUID(body["eventId"]).version == 4
    assert body["timestamp"].endswith("Z")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(body["timestamp"])) < timedelta(minutes=5)
    assert body == body | {
        "eventType": "QuerySubmitted",
        "eventId": message.id,
        "correlationId": "r1",
        "source": "chat-service",
        "version": "1.0",
    }


def test_a_question_without_request_id_gets_a_correlation_of_its_own():
    [first, *_], [second, *_] = told(one := call(metadata={})), told(call(metadata={}))

    assert {message.correlation_id for message in told(one)} == {first.correlation_id}
    assert uuid.UUID(first.correlation_id) != uuid.UUID(second.correlation_id)


@pytest.mark.parametrize(
    "ending",
    [{"answer": answer(chunks_retrieved=0)}, {"answer": None, "error": LLMUnavailableError()}],
    ids=["nothing retrieved", "failed"],
)
def test_without_an_answer_from_passages_there_is_only_the_question(ending):
    assert [body["eventType"] for body in bodies(call(**ending))] == ["QuerySubmitted"]


def test_a_source_counts_once_and_what_the_answer_does_not_mark_counts_not():
    citations = [citation(1), citation(1), citation(2), citation(3, matched=False), citation(None, attributed=True)]
    [_, response, _] = bodies(call(answer=answer() | {"citations": citations}))

    assert response["payload"]["citationCount"] == 2


def test_half_a_surrogate_pair_does_not_break_the_event():
    [message, *_] = told(Call({"question": "\ud83d"}))

    assert message.body.isascii()
    assert json.loads(message.body)["payload"]["query"] == "\ud83d"
