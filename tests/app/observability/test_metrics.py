import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families

from app.http.middleware.gate import Exchange
from app.http.routes import health as route
from app.observability.metrics import Metrics
from chains.around import Call
from chains.errors import LLMTimeoutError

ROOT = Path(__file__).parents[3]
USAGE = {"input_tokens": 30, "output_tokens": 12, "total_tokens": 42}


def figures(metrics: Metrics) -> dict[str, float]:
    """Return the figures by name and labels."""
    families = text_string_to_metric_families(metrics.text().decode())
    return {_key(sample): sample.value for family in families for sample in family.samples}


def _key(sample: Any) -> str:
    labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
    return f"{sample.name}{{{labels}}}" if labels else sample.name


def answered(outcome: str = "answered", *, cache: str | None = None) -> Call:
    metadata = {"timings_ms": {"retrieval": 4.0, "generation": 600.0}, "usage": USAGE, "cache": cache}
    answer: Any = {"outcome": outcome, "metadata": metadata}
    return Call({"question": "Q"}, answer=answer, seconds=0.7)


def test_questions_are_counted_by_outcome_with_their_laps_and_tokens():
    metrics = Metrics()
    metrics.started(answered())
    for call in (answered(), answered("declined")):
        metrics.started(call)
        metrics.ended(call)

    told = figures(metrics)
    assert told["waypoint_questions_running"] == 1
    assert told["waypoint_answers_total{outcome=answered}"] == 1
    assert told["waypoint_answers_total{outcome=declined}"] == 1
    assert told["waypoint_answer_seconds_count{streamed=false}"] == 2
    assert told["waypoint_stage_seconds_sum{stage=generation}"] == pytest.approx(1.2)
    assert told["waypoint_llm_tokens_total{kind=prompt}"] == 60
    assert told["waypoint_llm_tokens_total{kind=completion}"] == 24


def test_a_cached_answer_costs_no_tokens():
    metrics = Metrics()
    metrics.ended(answered(cache="answer"))
    assert "waypoint_llm_tokens_total{kind=prompt}" not in figures(metrics)


def test_failures_and_clients_that_left_are_outcomes_too():
    metrics = Metrics()
    for error in (LLMTimeoutError("slow"), GeneratorExit()):
        metrics.ended(Call({"question": "Q"}, error=error))

    told = figures(metrics)
    assert (told["waypoint_answers_total{outcome=failed}"], told["waypoint_answers_total{outcome=left}"]) == (1, 1)


@pytest.fixture
def app() -> FastAPI:
    """An application with the middleware in the service's own order, and the route."""
    app = FastAPI()
    app.state.services = type("Services", (), {"metrics": Metrics()})

    @app.get("/documents/{name}")
    def document(name: str) -> str:
        return name

    app.include_router(route.router)
    app.add_middleware(Exchange, metrics=app.state.services.metrics)
    return app


@pytest.fixture
async def client(app):
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://desk") as client:
        yield client


async def test_requests_are_counted_by_route_whatever_paths_clients_make_up(client):
    for path in ("/documents/a", "/documents/b", "/nowhere/1", "/nowhere/2"):
        await client.get(path)
    await client.request("BREW", "/documents/a")
    response = await client.get("/metrics")

    assert response.headers["content-type"].startswith("text/plain; version=")
    lines = re.findall(r"^waypoint_requests_total\{(.*)\} (\S+)$", response.text, re.MULTILINE)
    assert dict(lines) == {
        'method="GET",route="/documents/{name}",status="200"': "2.0",
        'method="GET",route="none",status="404"': "2.0",
        'method="other",route="/documents/{name}",status="405"': "1.0",
    }


@pytest.mark.parametrize("sane", ["r-1.a_B", "x" * 64])
async def test_a_sane_request_id_is_kept(client, sane):
    assert (await client.get("/documents/a", headers={"X-Request-ID": sane})).headers["x-request-id"] == sane


@pytest.mark.parametrize("odd", ["", "x" * 65, "a b", "a;b", "é"])
async def test_any_other_request_gets_an_id_of_its_own(client, odd):
    first, second = [
        (await client.get("/documents/a", headers={"X-Request-ID": odd.encode()})).headers["x-request-id"]
        for _ in range(2)
    ]
    assert re.fullmatch(r"[0-9a-f]{32}", first)
    assert first != second


def test_worker_processes_with_a_shared_folder_tell_their_sum(tmp_path):
    program = (
        "import os; from pathlib import Path;"
        "from app.observability.metrics import Metrics; from chains.around import Call;"
        f"metrics = Metrics(shared=Path({str(tmp_path)!r})); worker = os.fork();"
        "metrics.ended(Call({}, error=GeneratorExit()));"
        "worker and (os.waitpid(worker, 0), print(metrics.text().decode()))"
    )
    environment = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert 'waypoint_answers_total{outcome="left"} 2.0' in done.stdout
