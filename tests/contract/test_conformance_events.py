"""The MARP service's events: what it published for a question, through the whole chain; where we differ, why."""

import json
import uuid
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from app.ports import Message
from app.wings.events.outbox import ROUTING_KEYS, Events
from chains import build_chain
from chains.around import ObservedRunnable
from chains.citations import CiteSources
from tests.contract.recorded import NEEDS_CASES, rows

MODEL = "openai/gpt-4o-mini"
KEYS = {"ROUTING_KEY_QUERY_SUBMITTED": "QuerySubmitted", "ROUTING_KEY_RESPONSE_GENERATED": "ResponseGenerated"}
# The others of its list belong to services that fetch, index and search documents, and to its comparison of models.
NOT_OURS = 8


def cases() -> dict[str, Any]:
    return {row["id"]: row["expected"] for row in rows() if row["area"] == "events" or row["id"] == "marp-071"}


pytestmark = NEEDS_CASES


def published(*, user: str | None = "u1", chunks: int = 2) -> list[Message]:
    """Return what is published for the question of the cases."""
    messages: list[Message] = []
    reply = AIMessage("X [1]. Y [2].", response_metadata={"model_name": MODEL})
    found = [
        Document(f"X and Y {n}", metadata={"title": f"Doc {n}", "page": n, "score": 0.9}) for n in range(1, chunks + 1)
    ]
    chain = build_chain(
        retriever=lambda _: found,
        model=GenericFakeChatModel(messages=iter([reply])),
        citations=CiteSources(style="numbered", markers_suffice=True),
    )
    metadata = {"session_id": "s1"} | ({"user_id": user} if user else {})
    ObservedRunnable(chain, [Events(messages.append, model=MODEL)]).invoke(
        {"question": "Illness?"}, {"metadata": metadata}
    )
    return messages


@pytest.mark.parametrize(("case", "place"), [("marp-073", 0), ("marp-074", 1)])
def test_an_event_has_the_key_the_envelope_and_the_payload_of_the_contract(case, place):
    message, expected = published()[place], cases()[case]
    body = json.loads(message.body)

    assert message.routing_key == expected["routing_key"]
    assert list(body) == expected["envelope_keys"]
    assert [body[name] for name in ("eventType", "source", "version")] == [
        expected[name] for name in ("eventType", "source", "version")
    ]
    assert list(body["payload"]) == expected["payload_keys"]
    assert (uuid.UUID(body["eventId"]).version == 4) == expected["eventId_is_uuid4"]
    assert body["timestamp"].endswith("Z") == expected["timestamp_ends_Z"]


def test_the_values_of_the_response_are_those_of_the_contract():
    payload = json.loads(published()[1].body)["payload"]
    expected = cases()["marp-076"]

    assert type(payload.pop("latencyMs")).__name__ == expected.pop("latencyMs_type")
    assert payload == expected


def test_without_a_user_the_payload_names_none():
    assert list(json.loads(published(user=None)[0].body)["payload"]) == cases()["marp-077"]["payload_keys"]


def test_where_nothing_was_retrieved_only_the_question_is_published():
    assert [message.routing_key for message in published(chunks=0)] == cases()["marp-071"]["events"]


def test_the_routing_keys_are_those_of_the_contract():
    expected = cases()["marp-079"]

    assert {name: ROUTING_KEYS[event] for name, event in KEYS.items()} == {name: expected.pop(name) for name in KEYS}
    assert len(expected) == NOT_OURS
