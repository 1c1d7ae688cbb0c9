import dataclasses
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from app.http.policy import Policies, Policy
from app.http.server import create_app
from app.settings import load_settings
from app.wiring import open_service
from tests.access import key_entry, serving, settings_over

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
def app(tmp_path_factory) -> FastAPI:
    return create_app(open_service(load_settings(_env_file=None, chroma_path=tmp_path_factory.mktemp("index"))))


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
    del fields["invalid"], fields["statuses"]  # Words, no permission.
    changed = {name: value for name, (value, default) in fields.items() if value != default}
    return {name: value.__name__ if callable(value) else value for name, value in changed.items()}


def test_every_route_allows_what_the_table_says(app, policies):
    found = {f"{method} {path}": declared(policies.find(path, method)) for method, path in routes(app)}
    assert found == DECLARED | {route: {} for route in DEFAULTS}


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


STAFF = "staff-key"
KEYS = key_entry("staff", STAFF, "ask:internal+feedback+metrics+ingest")
BEARER = {"Authorization": f"Bearer {STAFF}"}
KEY = {"X-API-Key": STAFF}
USER = {"user_id": "u1", "email": "a@b.c", "is_admin": True, "valid": True}
EVERY_WAY: list[tuple[dict[str, Any], list[dict[str, str]]]] = [
    ({"auth_mode": "none"}, []),
    ({"auth_mode": "public"}, []),
    ({"auth_mode": "session"}, [BEARER]),
    ({"auth_mode": "api_key", "api_keys": KEYS}, [BEARER, KEY]),
]


@pytest.fixture
def mode(httpserver, request) -> dict[str, Any]:
    """The settings of a mode, with an auth service on loopback."""
    httpserver.expect_request("/auth/validate", headers=BEARER).respond_with_json(USER)
    return request.param | {"auth_url": httpserver.url_for("").rstrip("/")}


def description_of(settings: Any) -> dict[str, Any]:
    description: dict[str, Any] = create_app(open_service(settings)).openapi()
    return description


def operations(description: dict[str, Any]) -> Iterator[tuple[str, str, list]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation.get("security", [])


def headers_of(description: dict[str, Any], requirement: dict[str, list]) -> dict[str, str]:
    """The headers that a client sends who reads the description."""
    [name] = requirement
    scheme = description["components"]["securitySchemes"][name]
    if scheme["type"] == "apiKey":
        assert scheme["in"] == "header"
        return {scheme["name"]: STAFF}
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    return {"Authorization": f"Bearer {STAFF}"}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "shown"), EVERY_WAY, indirect=["mode"])
def test_an_operation_asks_for_a_name_exactly_where_the_description_says_so(corpus, groq, mode, shown):
    settings = settings_over(corpus, groq.url, rate_limit="off", **mode)
    description = description_of(settings)
    with serving(settings) as url, httpx.Client(base_url=url) as client:
        for method, path, security in operations(description):
            body: dict | None = {} if method == "post" else None
            refused = client.request(method, path, json=body).status_code == 401
            assert refused is bool(security), f"{method} {path}"
            for requirement in security:
                headers = headers_of(description, requirement)
                assert client.request(method, path, json=body, headers=headers).status_code not in {401, 403}
            taken = [headers_of(description, requirement) for requirement in security]
            assert taken == (shown if refused else [])


@pytest.mark.parametrize("auth_mode", ["session", "api_key"])
def test_probes_are_described_as_open(corpus, groq, auth_mode):
    description = description_of(settings_over(corpus, groq.url, auth_mode=auth_mode, api_keys=KEYS))
    unasked = {path for _, path, security in operations(description) if not security}
    assert unasked == {"/health", "/health/live", "/health/ready", "/api/health"}


def test_without_authentication_nothing_is_described(corpus, groq):
    description = description_of(settings_over(corpus, groq.url))
    assert "securitySchemes" not in description["components"]
    assert not any(security for *_, security in operations(description))
