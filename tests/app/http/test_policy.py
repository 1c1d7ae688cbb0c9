import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from app.adapters.sessions.identity import Scope
from app.http.policy import Policies, Policy, one_question
from app.http.server import create_app
from app.settings import load_settings
from app.wiring import open_service

PROBE = {"access": "open", "drained": False}
OPEN = {"access": "open"}
LONG = {"body_bytes": 32 * 1024}
OWN_PAGE = {"access": "own_page", "questions": "no_question"}
OPENAI = {"errors": "openai"}
INGEST = {"access": "ingest"}

# Whoever changes what a route allows changes it here too. Routes with the defaults stand in DEFAULTS.
DECLARED: dict[str, dict[str, Any]] = {
    "POST /chat": {"errors": "marp"},
    "GET /health": PROBE,
    "POST /api/feedback": {"access": "feedback"},
    "POST /copilot/invoke": LONG,
    "POST /copilot/batch": LONG | {"questions": "inputs_in"},
    "POST /copilot/stream": LONG,
    "POST /copilot/stream_events": LONG,
    "GET /api/health": PROBE,
    "GET /health/live": PROBE,
    "GET /health/ready": {"access": "report", "drained": False},
    "GET /metrics": {"access": "metrics", "drained": False},
    "GET /": OPEN,
    "HEAD /": OPEN,
    "GET /embed": OPEN,
    "HEAD /embed": OPEN,
    "GET /widget.js": OPEN,
    "HEAD /widget.js": OPEN,
    "GET /icon": OPEN,
    "HEAD /icon": OPEN,
    "GET /static/{path:path}": OPEN,
    "HEAD /static/{path:path}": OPEN,
    "POST /page/render": {"body_bytes": 64 * 1024, "questions": "no_question", "drained": False},
    "POST /sign-in": OWN_PAGE,
    "POST /sign-out": OWN_PAGE,
    "GET /api/me": {"access": "optional"},
    "GET /documents/{doc_id}/pages/{page}.png": {"pages": "pictures"},
    "GET /documents/{doc_id}/pages/{page}": {"pages": "words"},
    "GET /insights": INGEST | {"questions": "no_question"},
    "POST /api/outdated": {"questions": "no_question"},
    "POST /api/why": {"access": "ask:internal"},
    "POST /mcp": {"questions": "tool_calls_in"},
    "POST /v1/chat/completions": OPENAI | {"body_bytes": 128 * 1024},
    "POST /v1/responses": OPENAI | {"body_bytes": 128 * 1024},
    "GET /v1/models": OPENAI,
    "GET /v1/models/{model:path}": OPENAI,
    "POST /api/documents": INGEST | {"streamed": True, "questions": "no_question"},
    "DELETE /api/documents/{doc_id}": INGEST,
    "GET /api/jobs/{job_id}": INGEST,
    "GET /api/jobs/{job_id}/events": INGEST,
}
DEFAULTS = {
    *("POST /api/query", "POST /api/certificate", "POST /search", "DELETE /api/sessions/{session_id}"),
    *("GET /api/answers", "GET /api/answers/{trace_id}", "GET /api/documents", "GET /documents/{doc_id}"),
    *("GET /copilot/input_schema", "GET /copilot/output_schema", "GET /copilot/playground/{file_path:path}"),
    *("POST /copilot/playground/run", "GET /docs", "GET /redoc", "GET /redoc/redoc.js", "GET /openapi.json"),
    *("HEAD /openapi.json", "GET /static-offline-docs"),
}


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return create_app(open_service(load_settings(_env_file=None)))


@pytest.fixture(scope="module")
def policies(app) -> Policies:
    return Policies(app.routes)


def routes(app: FastAPI) -> Iterator[tuple[str, str]]:
    for route in iter_route_contexts(app.routes):
        for method in route.methods or {"GET"}:
            yield method, route.path or ""


def declared(policy: Policy) -> dict[str, Any]:
    """What differs from the defaults."""
    fields = {field.name: (getattr(policy, field.name), field.default) for field in dataclasses.fields(policy)}
    del fields["invalid"]  # Words, no permission.
    changed = {name: value for name, (value, default) in fields.items() if value != default}
    return {name: value.__name__ if callable(value) else value for name, value in changed.items()}


def test_every_route_allows_what_the_table_says(app, policies):
    found = {f"{method} {path}": declared(policies.find(path, method)) for method, path in routes(app)}
    assert found == DECLARED | {route: {} for route in DEFAULTS}


def test_a_route_that_declares_nothing_asks_for_an_identity_and_counts():
    assert Policy() == Policy(
        access=Scope.ASK, body_bytes=10_240, streamed=False, questions=one_question, drained=True, errors="waypoint"
    )
    assert not Policy().is_open


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/no/such", {}),
        ("POST", "/copilot/no-such", {}),
        ("GET", "/health/", {}),
        ("GET", "/metrics/", {"access": "metrics"}),
        ("POST", "/metrics", {"access": "metrics", "drained": False}),
        ("PATCH", "/api/documents", INGEST | {"streamed": True, "questions": "no_question"}),
        ("HEAD", "/api/documents", {}),
        ("POST", "/health", PROBE),
        ("POST", "/v1/no-such", OPENAI),
        ("GET", "/chat", {"errors": "marp"}),
    ],
)
def test_requests_without_a_route_get_the_policy_of_what_is_nearest(policies, method, path, expected):
    assert declared(policies.find(path, method)) == expected


@pytest.mark.parametrize(
    ("path", "body", "count"),
    [
        ("/api/query", None, 1),
        ("/copilot/batch", {"inputs": [1, 2, 3]}, 3),
        ("/copilot/batch", {"inputs": "x"}, 1),
        ("/copilot/batch", [], 1),
        ("/mcp", {"method": "tools/call"}, 1),
        ("/mcp", {"method": "tools/list"}, 0),
        ("/mcp", None, 0),
        ("/sign-in", {}, 0),
    ],
)
def test_a_route_counts_the_questions_of_a_body(policies, path, body, count):
    assert policies.find(path, "POST").questions(body) == count
