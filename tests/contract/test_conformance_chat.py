"""The MARP contract over HTTP: POST /chat and GET /health as its service answered, and what it documented."""

from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from app.edge import numbered_places
from app.http.openapi import ANSWER
from app.http.routes.answers import chat_router
from app.settings import load_settings
from app.wiring import Service
from chains.around import Call
from chains.state import Citation
from tests.contract.recorded import recorded
from tests.fakes import Reply, groq_server
from tests.served import QUESTION, small_services

NO_RESULTS = (
    "I couldn't find any relevant information in the MARP documents to answer your question. "
    "Please try rephrasing your query."
)
UNGROUNDED = (
    "The MARP documents provided do not contain information about this topic. "
    "Please try asking about MARP regulations, policies, or procedures."
)
OTHER_MODEL = "openai/gpt-4o-mini"


class Calls:
    """Keeps what the chain was asked."""

    def __init__(self) -> None:
        self.seen: list[Call] = []

    def started(self, call: Call) -> None:
        self.seen.append(call)

    def ended(self, call: Call) -> None:
        pass


groq = pytest.fixture(groq_server, scope="module")


@pytest.fixture(scope="module")
def calls() -> Calls:
    return Calls()


@pytest.fixture(scope="module")
def services(groq, calls, tmp_path_factory) -> Service:
    """The service under the settings that the cases were recorded with; its own citation style is the other one."""
    texts = tmp_path_factory.mktemp("texts")
    (texts / "no_results.txt").write_text(NO_RESULTS)
    (texts / "ungrounded.txt").write_text(UNGROUNDED)
    services = small_services(
        tmp_path_factory.mktemp("chat"),
        groq,
        llm_allowed_models=OTHER_MODEL,
        llm_max_tokens=1200,
        citation_style="title",
        prompts_path=texts,
        scope_file="off",  # The desk's own scope is not that of MARP's documents.
    )
    services.observers.append(calls)
    return services


@pytest.fixture(autouse=True)
def _fresh(groq, calls) -> None:
    groq.replies[:] = [Reply("It is 9 % [1].")]
    groq.requests.clear()
    calls.seen.clear()


def cases(area: str) -> list[Any]:
    """Return the cases of an area but those of sessions, which the conformance tests of the authentication hold."""
    return [row for row in recorded(area) if not (row.values[0] and {"headers", "redis"} & set(row.values[0]["input"]))]


@pytest.mark.parametrize("case", cases("http_chat"))
def test_chat_is_what_the_contract_says(client, calls, groq, case):
    given, expected = case["input"], case["expected"]
    nothing_found = given.get("chunks") == []  # ... for words that the index does not know.
    body = {"query": "zzyzx"} if nothing_found else given | ({} if case["name"] == "missing query" else {"query": "Q?"})
    response = client.post("/chat", json=body)

    if "top_k_sent_to_retrieval" in expected:
        assert calls.seen[0].question["top_k"] == expected["top_k_sent_to_retrieval"]
    elif "loc" in expected:
        assert response.status_code == expected["status"]
        assert [part["loc"] for part in response.json()["detail"]] == expected["loc"]
    else:
        assert response.status_code == expected["status"]
        assert response.json() == expected["body"] | body
        assert groq.requests == []


@pytest.mark.parametrize("case", cases("generation"))
def test_generation_asks_the_model_as_the_contract_says(client, groq, case):
    expected = case["expected"]
    groq.replies[:] = [Reply(" ans [1] \n")]
    answer = client.post("/chat", json={"query": QUESTION, "model_id": expected["model"]}).json()["answer"]

    [request] = groq.requests
    # The instructions stand in a message of their own, so that no question can pass for them; the peer sends one.
    assert [message["role"] for message in request["messages"]] == ["system", *expected["roles"]]
    assert (request["model"], request["temperature"]) == (expected["model"], expected["temperature"])
    assert request["max_tokens"] == expected["max_tokens"]
    assert answer == f"{expected['answer']} [1]"


def test_a_sentence_that_a_source_carries_gets_the_marker_that_the_model_left_out(client, groq):
    groq.replies[:] = [Reply("The rate of GST on imports into Singapore is 9 %.")]
    body = client.post("/chat", json={"query": QUESTION}).json()

    assert body["answer"] == "The rate of GST on imports into Singapore is 9 % [1]."
    assert body["citations"] == [{"title": "GST Guide", "page": 0, "url": "https://example.org/gst"}]


def test_passages_are_cut_for_chat_alone(tmp_path, groq, monkeypatch):
    monkeypatch.setattr("app.wiring.chain.CHAT_PASSAGE_CHARACTERS", 20)
    services = small_services(tmp_path, groq, scope_file="off")
    for chain in (services.numbered_chain(), services.chain):
        chain.invoke({"question": QUESTION})
    for_chat, for_others = (request["messages"][0]["content"] for request in groq.requests)

    assert "\n\nThe rate of…\n" in for_chat
    assert "\nThe rate of GST on imports into Singapore is 9 %.\n" in for_others


def test_each_contract_has_a_temperature_of_its_own(client, groq):
    groq.replies[:] = [Reply("It is 9 % [1]."), Reply("It is 9 % [GST Guide > Rate].")]
    client.post("/chat", json={"query": QUESTION})
    client.post("/api/query", json={"query": QUESTION})

    assert [request["temperature"] for request in groq.requests] == [0.4, 0.3]


def test_an_answer_has_numbered_markers_and_the_source_of_each(client):
    assert client.post("/chat", json={"query": f" {QUESTION} ", "session_id": "s1"}).json() == {
        "query": f" {QUESTION} ",
        "answer": "It is 9 % [1].",
        "citations": [{"title": "GST Guide", "page": 0, "url": "https://example.org/gst"}],
    }


def test_an_answer_without_a_source_is_replaced_by_the_deployments_own_words(client, groq):
    groq.replies[:] = [Reply("Students need 360 credits.")]
    body = client.post("/chat", json={"query": QUESTION}).json()
    assert (body["answer"], body["citations"]) == (UNGROUNDED, [])


def test_the_session_travels_with_the_call(client, calls):
    client.post("/chat", json={"query": QUESTION, "session_id": "of this call", "top_k": 3})
    client.post("/chat", json={"query": QUESTION})

    assert [call.metadata.get("session_id") for call in calls.seen] == ["of this call", None]
    assert calls.seen[0].question == {"question": QUESTION, "top_k": 3}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "Query cannot be empty"),
        (" \n", "Query cannot be empty"),
        ("x" * 1001, "Query exceeds maximum length of 1000 characters"),
    ],
)
def test_a_query_that_is_empty_or_too_long_is_a_400(client, query, message):
    response = client.post("/chat", json={"query": query})

    assert response.status_code == 400
    assert response.json() == {"error": "Bad Request", "message": message, "detail": message}


@pytest.mark.parametrize(
    ("field", "value"), [("query", 7), ("top_k", 0), ("top_k", "8"), ("session_id", 1), ("model_id", "gpt-5")]
)
def test_a_value_of_the_wrong_type_or_range_is_a_422(client, field, value):
    response = client.post("/chat", json={"query": QUESTION, field: value})

    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body", field]


def test_a_place_in_the_list_of_citations_is_the_number_in_the_answer():
    [cited] = ANSWER["citations"]
    second: Citation = {**cited, "number": 2, "title": "Rates", "page": 3}
    denied: Citation = {**cited, "number": 1, "matched": False, "source_urls": []}
    found: Citation = {**cited, "number": None, "attributed": True}

    places = numbered_places({**ANSWER, "citations": [second, denied, found]})
    assert [(place["title"], place["page"], place["url"]) for place in places] == [
        ("GST Guide", None, None),
        ("Rates", 3, "https://example.org/gst"),
    ]


WORKS_WITH = ("status", "service", "retrieval_url", "openrouter_configured", "llm_configured", "model")


def test_health_says_what_the_service_works_with(client):
    body = client.get("/health").json()

    assert {name: body[name] for name in WORKS_WITH} == {
        "status": "ok",
        "service": "ChatService",
        "retrieval_url": "in-process",
        "openrouter_configured": False,
        "llm_configured": True,
        "model": "llama-3.1-8b-instant",
    }
    assert {"timestamp", "uptime", "version"} <= set(body)


OPENROUTER = {"llm_provider": "openai-compatible", "llm_base_url": "https://openrouter.ai/api/v1", "llm_api_key": "k"}
SERVER = {"chroma_host": "chroma.example", "chroma_port": 8443, "chroma_ssl": True}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (OPENROUTER, {"openrouter_configured": True, "llm_configured": True}),
        (OPENROUTER | {"llm_provider": "offline"}, {"openrouter_configured": False, "llm_configured": False}),
        (OPENROUTER | {"llm_base_url": "https://openrouter.ai.example/v1"}, {"openrouter_configured": False}),
        (SERVER, {"retrieval_url": "https://chroma.example:8443"}),
        (SERVER | {"vector_store_type": "memory"}, {"retrieval_url": "in-process"}),
    ],
)
async def test_health_tells_the_truth_about_openrouter_and_the_search(settings, told):
    app = FastAPI()
    app.include_router(chat_router(["m"]))
    app.state.started, app.state.services = 0, SimpleNamespace(settings=load_settings(_env_file=None, **settings))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://desk") as client:
        body = (await client.get("/health")).json()

    assert {name: body[name] for name in told} == told
