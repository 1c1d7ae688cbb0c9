"""Traces of calls that fail, that hide their words or that others trace as well, and backends that take none."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers import LangChainTracer
from langsmith import Client, tracing_context
from structlog.testing import capture_logs

from benchmarks.processes import ROOT
from chains.errors import LLMError
from tests.fakes import Reply
from tests.traced import CONFIG, QUESTION, WORDS, ask, tracing
from tests.waiting import wait_until


async def test_what_is_to_be_hidden_is_in_no_trace(desk, stub, groq):
    hidden = {"langsmith_hide_inputs": True, "langsmith_hide_outputs": True}
    groq.replies.append(Reply(status=500))
    with tracing(desk, stub.url, **hidden) as services:
        await ask(services)
        with pytest.raises(LLMError):
            await ask(services, "stream")
        stub.wait_for(lambda: len([run for run in stub.runs.values() if not run.get("parent_run_id")]) == 2)

    sent = b"".join(stub.bodies).decode(errors="replace")
    assert not [words for words in (QUESTION, WORDS, "imports into Singapore", "GST Guide") if words in sent]
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
    groq.replies[:] = [Reply(WORDS)] * 3
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
    done = subprocess.run(
        [sys.executable, "-c", "from app.cli import main; main()", "ask", QUESTION],
        env={
            "HOME": str(Path.home()),
            "PYTHONPATH": str(ROOT),
            "CHROMA_PATH": str(desk.chroma.path),
            "LANGSMITH_TRACING": "true",
            "LANGSMITH_ENDPOINT": stub.url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": stub.url,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert "outcome: answered" in done.stdout.splitlines()[-1]
    # On a machine that is very busy the backend is given up before the end, which we say; its library never does.
    assert {json.loads(line)["event"] for line in done.stderr.splitlines()} <= {"traces_do_not_arrive"}
    assert stub.bodies
