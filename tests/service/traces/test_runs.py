"""What a trace of a real call holds, sent by the real clients to a backend on loopback."""

import json
from itertools import pairwise
from typing import Any

import httpx
import pytest
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from app.http.server import create_app
from chains.pipeline import BEFORE
from tests.fakes import MODEL, Reply
from tests.traced import QUESTION, WORDS, ask, tracing, tree

TREE: dict[str, Any] = {
    "safety": {},
    "reformulation": {},
    "translation": {},
    "scope": {},
    "retrieval": {"HybridRetriever": {}},
    "screening": {},
    "context": {},
    "generation": {"ResilientChatModel": {}},
    "citations": {},
    "confidence": {},
}
STAGES = list(TREE)
WAYS = ["invoke", "ainvoke", "stream", "astream"]


@pytest.mark.parametrize("way", WAYS)
async def test_the_trace_of_a_call_is_a_tree_of_its_stages(services, stub, way):
    answer = await ask(services, way)
    stub.wait_for(lambda: stub.runs)

    root = stub.root(request_id="r1")
    assert (root["name"], root["id"]) == ("cited_answer", answer["metadata"]["trace_id"])
    assert [child["name"] for child in stub.children(root)] == STAGES
    assert tree(stub, root) == TREE
    [model] = [run for run in stub.runs.values() if run["run_type"] == "llm"]
    assert model["outputs"]["generations"][0][0]["text"] == WORDS
    assert all(run["end_time"] and not run.get("error") for run in stub.runs.values())


@pytest.mark.parametrize("way", WAYS)
async def test_a_trace_holds_the_documents_once_the_prompt_and_what_the_model_used(services, stub, way):
    answer = await ask(services, way)
    stub.wait_for(lambda: stub.runs)

    [retriever], [model] = (
        [run for run in stub.runs.values() if run["run_type"] == kind] for kind in ("retriever", "llm")
    )
    others = [run["outputs"] for run in stub.runs.values() if run not in (retriever, model)]
    message = model["outputs"]["generations"][0][0]["message"]["kwargs"]
    assert [document["page_content"] for document in retriever["outputs"]["documents"]] == [
        document["content"] for document in answer["documents"]
    ]
    assert "The rate of GST on imports into Singapore is 9 %." in str(model["inputs"])
    assert not any(document["content"] in json.dumps(others, ensure_ascii=False) for document in answer["documents"])
    assert {name: message["usage_metadata"][name] for name in answer["metadata"]["usage"]} == answer["metadata"][
        "usage"
    ]
    assert message["response_metadata"]["model_name"] == model["extra"]["metadata"]["ls_model_name"] == MODEL


@pytest.mark.parametrize("way", WAYS)
async def test_what_an_answer_holds_stands_in_the_root_alone(services, stub, way):
    answer = await ask(services, way)
    stub.wait_for(lambda: stub.runs)

    root = stub.root()
    stages = {run["name"]: run["outputs"] for run in stub.children(root)}
    assert root["outputs"]["citations"] == answer["citations"]
    assert stages["citations"]["citations"] == stages["retrieval"]["documents"] == "see cited_answer"
    assert stages["confidence"] == {"confidence": "see cited_answer"}
    assert stages["citations"]["outcome"] == "see cited_answer"
    assert not any("serialized" in run or "runtime" in run["extra"] for run in stub.runs.values())


@pytest.mark.parametrize("way", WAYS)
async def test_a_trace_shows_what_the_moderator_said_beside_the_search(desk, groq, stub, way):
    groq.replies = [Reply("safe"), Reply(WORDS)]
    with tracing(desk, stub.url, moderation_provider="groq", moderation_model="llama-guard") as services:
        await ask(services, way)
    stub.wait_for(lambda: stub.runs and stub.spans)

    moderation: Any = {"ChatPromptTemplate": {}, "ResilientChatModel": {}, "read_verdict": {}}
    beside = {"HybridRetriever": {}, "moderation": moderation}
    assert tree(stub, stub.root())["retrieval"] == {"RunnableParallel<documents,moderation>": beside}
    [run] = [run for run in stub.runs.values() if run["name"] == "moderation"]
    assert (run["inputs"], run["outputs"]) == ({"input": QUESTION}, {"output": {"flagged": False, "categories": []}})
    told = {attribute.key: attribute.value.string_value for attribute in stub.spans[-1].attributes}
    assert told["waypoint.moderation"] == "allowed"


async def test_a_streamed_request_is_one_trace_one_line_in_the_log_and_one_in_the_metrics(services, stub):
    headers = {"X-Request-ID": "r2"}
    with capture_logs(processors=[merge_contextvars]) as lines:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(create_app(services)), base_url="http://localhost"
        ) as desk:
            stream = await desk.post("/copilot/stream", json={"input": {"question": QUESTION}}, headers=headers)
            figures = (await desk.get("/metrics")).text
    stub.wait_for(lambda: stub.runs)

    [line] = [line for line in lines if line["event"] == "answer"]
    assert (line["request_id"], line["streamed"]) == (stream.headers["x-request-id"], True) == ("r2", True)
    assert tree(stub, stub.root()) == TREE
    assert stub.root()["id"] == line["trace_id"]
    assert 'waypoint_answers_total{outcome="answered"} 1.0' in figures
    assert 'waypoint_breaker_open{model="llama-3.1-8b-instant",provider="language model"} 0.0' in figures
    assert 'waypoint_requests_total{method="POST",route="/copilot/stream",status="200"} 1.0' in figures


async def test_the_root_says_what_came_of_the_question(services, stub):
    answer = await ask(services)
    stub.wait_for(lambda: stub.runs)

    root = stub.root()
    described = {name: root["extra"]["metadata"][name] for name in ("outcome", "confidence", "model", "request_id")}
    assert described == {
        "outcome": "answered",
        "confidence": answer["confidence"]["level"],
        "model": "llama-3.1-8b-instant",
        "request_id": "r1",
    }
    assert "answered" in root["tags"]
    assert root["session_name"] == "waypoint"
    assert root["inputs"] == {"question": QUESTION}
    assert root["outputs"]["answer"] == WORDS
    assert "lsv2_key" in stub.keys
    assert b"gsk_verysecret" not in b"".join(stub.bodies)


@pytest.mark.parametrize("way", WAYS)
async def test_a_cached_answer_has_a_trace_of_its_own_without_stages(desk, stub, way):
    with tracing(desk, stub.url, cache_enabled=True) as services:
        await ask(services)
        answer = await ask(services, way)
        stub.wait_for(lambda: answer["metadata"]["trace_id"] in stub.runs)

    root = stub.runs[answer["metadata"]["trace_id"]]
    assert (root["name"], root["extra"]["metadata"]["cache"]) == ("cited_answer", "answer")
    assert stub.children(root) == []


async def test_the_spans_of_a_call_follow_each_other_under_one_root(services, stub):
    answer = await ask(services, "astream")
    stub.wait_for(lambda: len(stub.spans) == 7)

    *stages, root = stub.spans
    assert [span.name for span in stages] == [name for name in STAGES if name not in BEFORE]
    assert {span.parent_span_id for span in stages} == {root.span_id}
    assert root.trace_id.hex() == answer["metadata"]["trace_id"].replace("-", "")
    assert all(one.end_time_unix_nano == other.start_time_unix_nano for one, other in pairwise(stages))
    told = {attribute.key: attribute.value for attribute in root.attributes}
    assert told["waypoint.outcome"].string_value == "answered"
    assert told["gen_ai.usage.output_tokens"].int_value == answer["metadata"]["usage"]["output_tokens"]
    assert QUESTION.encode() not in b"".join(span.SerializeToString() for span in stub.spans)
