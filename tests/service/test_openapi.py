"""What the service says of itself, held against what it does: schemathesis, over real sockets."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema

from tests.fakes import groq_server
from tests.served import guide_services

pytestmark = pytest.mark.slow

ACCEPTED = "positive_data_acceptance"
LANGSERVE = ["/copilot/invoke", "/copilot/batch", "/copilot/stream", "/copilot/stream_events"]
UNSAID = {"POST /api/documents", "POST /v1/chat/completions", "POST /v1/responses"}
UNSAID_MESSAGES = (b"is no field of the documents", b"Query cannot be empty")
CONFIG = {
    "seed": 1,
    "request-timeout": 60,
    "generation": {"max-examples": 6, "deterministic": True, "database": "none"},
    "phases": {"stateful": {"enabled": False}},
    # Every way in which a body can be wrong is tried on the other routes; the models of these are LangServe's, and a
    # wrong item in a list that is then left empty passes for wrong.
    "operations": [
        {
            "include-path": LANGSERVE,
            "phases": {"coverage": {"enabled": False}},
            "generation": {"mode": "positive", "max-examples": 6, "deterministic": True},
        }
    ],
}


groq = pytest.fixture(groq_server, scope="module")
services = guide_services()


@pytest.fixture(scope="module")
def description(client) -> dict:
    return client.get("/openapi.json").json()


def operations(description: dict) -> Iterator[tuple[str, dict]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def failures(recorder: Any) -> Iterator[str]:
    for case, checks in recorder.checks.items():
        answer = recorder.interactions[case].response
        for check in checks:
            # A schema cannot describe a size in bytes, the name of an uploaded file, whose message is the last, a field
            # that is always refused, which fields the documents have, or what is no word.
            unsaid = (
                answer.status_code == 413
                or recorder.label in UNSAID
                or any(message in answer.content for message in UNSAID_MESSAGES)
            )
            if check.failure_info and not (check.name == ACCEPTED and unsaid):
                yield check.failure_info.failure.message


@pytest.mark.timeout(600)  # Some two hundred requests: ten seconds, but not on a busy machine.
def test_every_response_is_as_described_and_none_is_a_500(url):
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json", config=SchemathesisConfig.from_dict(CONFIG))
    asked: set[str] = set()
    found: set[tuple[str, str]] = set()
    for event in from_schema(schema).execute():
        assert not isinstance(event, events.NonFatalError | events.FatalError), event
        if isinstance(event, events.ScenarioFinished):
            asked.add(str(event.label))
            found |= {(str(event.label), failure) for failure in failures(event.recorder)}

    assert found == set(), "\n".join(map(str, found))
    assert {name for name, _ in operations(schema.raw_schema)} <= asked


def test_every_response_of_every_route_is_described_by_a_schema_or_an_example(description):
    missing = [
        f"{name} {status}"
        for name, operation in operations(description)
        for status, response in operation["responses"].items()
        for content in response.get("content", {} if status == "204" else {"": {}}).values()
        if not content.get("schema") and "example" not in content
    ]
    assert missing == []


def test_the_body_of_a_query_and_its_answer_are_described_by_their_models(description):
    query = description["paths"]["/api/query"]["post"]
    schemas = description["components"]["schemas"]

    assert query["requestBody"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/QueryBody"}
    assert query["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/QueryAnswer")
    fields = {"query", "topK", "threshold", "history", "sessionId", "language", "filters"}
    assert set(schemas["QueryBody"]["properties"]) == fields
    assert {"relatedDocs", "citations"} <= set(schemas["QueryAnswer"]["properties"])
    assert "422" not in query["responses"]


@pytest.mark.parametrize("page", ["/docs", "/redoc", "/copilot/playground/"])
def test_the_pages_load_nothing_from_elsewhere(client, page):
    html = client.get(page).text
    assert "http://" not in html
    assert "https://" not in html


def test_the_files_of_the_pages_come_from_the_package(client):
    html = client.get("/docs").text
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert f"/static-offline-docs/{name}" in html
        assert client.get(f"/static-offline-docs/{name}").status_code == 200


def test_the_script_of_redoc_asks_its_maker_for_nothing(client):
    script = client.get("/redoc/redoc.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "redocly logo" in script.text
    assert "cdn.redoc.ly" not in script.text
