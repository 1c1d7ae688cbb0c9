"""A service over a small index that traces to a backend on loopback."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers import LangChainTracer
from langsmith import Client, tracing_context
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from app.http.server import create_app
from app.settings import Settings
from app.wiring import Service
from chains.errors import LLMError
from chains.pipeline import BEFORE
from tests.fakes import MODEL, Reply, groq_server
from tests.langsmith_stub import Backend, backend
from tests.processes import run_waypoint
from tests.served import ANSWER, QUESTION, small_services
from tests.traced import CONFIG, ask, tracing, tree
from tests.waiting import wait_until

groq = pytest.fixture(groq_server, scope="module")


@pytest.fixture(scope="module")
def desk(groq, tmp_path_factory) -> Settings:
    """The settings of a service over a small index."""
    return small_services(tmp_path_factory.mktemp("desk"), groq, llm_api_key="gsk_verysecret").settings


@pytest.fixture
def stub(groq) -> Iterator[Backend]:
    groq.replies[:] = [Reply(ANSWER)]
    with backend() as server:
        yield server


@pytest.fixture
def services(desk, stub) -> Iterator[Service]:
    """Service that trace to the stub."""
    with tracing(desk, stub.url) as services:
        yield services


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
    "answer_translation": {},
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
    assert model["outputs"]["generations"][0][0]["text"] == ANSWER
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
    groq.replies = [Reply("safe"), Reply(ANSWER)]
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
    assert root["outputs"]["answer"] == ANSWER
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


async def test_what_is_to_be_hidden_is_in_no_trace(desk, stub, groq):
    hidden = {"langsmith_hide_inputs": True}
    groq.replies.append(Reply(status=500))
    with tracing(desk, stub.url, **hidden) as services:
        await ask(services)
        with pytest.raises(LLMError):
            await ask(services, "stream")
        stub.wait_for(lambda: len([run for run in stub.runs.values() if not run.get("parent_run_id")]) == 2)

    sent = b"".join(stub.bodies).decode(errors="replace")
    assert not [words for words in (QUESTION, ANSWER, "imports into Singapore", "GST Guide") if words in sent]
    assert "retrieval" in sent


async def test_an_error_is_in_the_trace_at_the_stage_it_happened_in(services, stub, groq):
    groq.replies[:] = [Reply(status=401)]
    with pytest.raises(LLMError):
        await ask(services)
    stub.wait_for(lambda: stub.runs and stub.spans)

    failed = [run["name"] for run in stub.runs.values() if run.get("error")]
    assert {"cited_answer", "generation", "ResilientChatModel"} <= set(failed)
    assert not {"retrieval", "context"} & set(failed)
    [span] = stub.spans
    assert (span.name, span.status.code, span.status.message) == ("cited_answer", 2, "LLMRejectedError")


def test_a_stream_that_is_left_leaves_a_whole_trace(services, stub):
    stream: Any = services.chain.stream({"question": QUESTION}, CONFIG)
    next(stream)
    stream.close()
    stub.wait_for(lambda: stub.runs)

    assert stub.root()["end_time"]


async def test_tracing_by_the_environment_does_not_trace_twice(services, stub):
    client = Client(stub.url, api_key="theirs", auto_batch_tracing=False)  # It would send at once, a request a run.
    with tracing_context(enabled=True, client=client, project_name="theirs"):
        await ask(services)
    client.session.close()
    stub.wait_for(lambda: stub.runs)

    assert stub.root()["session_name"] == "waypoint"
    assert not any(b"theirs" in body for body in stub.bodies)


def test_inside_a_traced_chain_the_call_is_part_of_that_trace(services, stub):
    client = Client(stub.url, api_key="theirs", auto_batch_tracing=False)
    theirs = LangChainTracer(client=client, project_name="theirs")
    outer = RunnableLambda(services.chain.invoke).with_config(run_name="agent")

    outer.invoke({"question": QUESTION}, {"callbacks": [theirs]})
    client.session.close()

    services.tracing.close(within_s=30)  # What waited would be sent now.
    assert services.tracing.exports["langsmith"].sent == 0
    assert stub.runs == {}  # Their client's own way, a request a run, is not what the stub reads.
    assert sum(b'"name":"retrieval"' in body for body in stub.bodies) == 1


@pytest.mark.parametrize("trouble", ["dead", "hanging", "rejecting"])
async def test_a_backend_in_trouble_changes_no_answer_and_is_told_of_once(desk, stub, groq, trouble):
    groq.replies[:] = [Reply(ANSWER)] * 3
    with tracing(desk, stub.url) as services:
        plain = await ask(services)
    stub.status, stub.hangs = (429 if trouble == "rejecting" else 200), trouble == "hanging"
    url = "http://127.0.0.1:9" if trouble == "dead" else stub.url
    with capture_logs() as lines, tracing(desk, url) as services:
        for _ in range(2):
            assert _lasting(await ask(services)) == _lasting(plain)
        if trouble != "hanging":
            wait_until(lambda: services.tracing.dropped()["langsmith"] > 0)
        services.tracing.close(within_s=0)

    told = [line["backend"] for line in lines if line["event"] == "traces_do_not_arrive"]
    assert len(told) == len(set(told))
    assert trouble == "hanging" or "langsmith" in told


def _lasting(answer: dict[str, Any]) -> dict[str, Any]:
    passing = {"latency_ms", "timings_ms", "trace_id"}
    kept = {name: value for name, value in answer["metadata"].items() if name not in passing}
    return answer | {"metadata": kept}


def test_a_command_ends_though_the_backend_hangs_and_prints_its_answer_only(desk, stub):
    stub.hangs = True
    done = run_waypoint(
        Path(),
        "ask",
        QUESTION,
        CHROMA_PATH=str(desk.chroma.path),
        LANGSMITH_TRACING="true",
        LANGSMITH_ENDPOINT=stub.url,
        OTEL_EXPORTER_OTLP_ENDPOINT=stub.url,
    )
    assert done.returncode == 0, done.stderr
    assert "outcome: answered" in done.stdout.splitlines()[-1]
    # On a machine that is very busy the backend is given up before the end, which we say; its library never does.
    assert {json.loads(line)["event"] for line in done.stderr.splitlines()} <= {"traces_do_not_arrive"}
    assert stub.bodies
