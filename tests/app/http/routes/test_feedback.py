import json
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

from app.http.errors import RequestRefusedError, error_response
from app.http.routes import answers
from app.settings import load_settings
from app.wiring import Service, open_service
from tests.waiting import await_until

TRACE = str(uuid4())


async def give(body, services: Service | None = None) -> httpx.Response:
    app = FastAPI()
    app.include_router(answers.waypoint_router)
    for kind in (RequestRefusedError, RequestValidationError):
        app.add_exception_handler(kind, error_response)
    app.state.services = services or open_service(load_settings())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://desk") as client:
        content = body if isinstance(body, bytes) else json.dumps(body)
        return await client.post("/api/feedback", content=content, headers={"Content-Type": "application/json"})


@pytest.mark.parametrize("score", [-1, 0, 0.5, 1])
async def test_a_score_from_bad_to_good_is_accepted_where_nothing_takes_it_too(score):
    assert (await give({"trace_id": TRACE, "score": score})).status_code == 202


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"trace_id": TRACE}, "score: Field required"),
        ({"score": 1}, "trace_id: Field required"),
        ({"trace_id": "run 1", "score": 1}, "trace_id: Input should be a valid UUID"),
        ({"trace_id": TRACE, "score": 2}, "score: Input should be less than or equal to 1"),
        ({"trace_id": TRACE, "score": -1.5}, "score: Input should be greater than or equal to -1"),
        ({"trace_id": TRACE, "score": "1"}, "score: Input should be a valid number"),
        ({"trace_id": TRACE, "score": True}, "score: Input should be a valid number"),
        ({"trace_id": TRACE, "score": float("nan")}, "score: Input should be"),
        ({"trace_id": TRACE, "score": 1, "comment": "x" * 2001}, "comment: String should have at most 2000"),
        ([], "The body must be a JSON object with a trace_id and a score"),
        (b"{", "The body must be a JSON object with a trace_id and a score"),
        (b"", "The body must be a JSON object with a trace_id and a score"),
    ],
)
async def test_a_body_that_does_not_fit_is_a_400_that_says_what_is_wrong(body, message):
    response = await give(body)

    assert response.status_code == 400
    assert response.json()["error"] == "Bad Request"
    assert response.json()["message"].startswith(message)


async def test_feedback_that_is_not_or_cannot_be_kept_is_not_said_to_be(tmp_path):
    for days in (90, 0):
        folder = tmp_path / str(days)
        services = open_service(load_settings(chroma_path=folder / "index" / "chroma", answer_log_days=days))
        response = await give({"trace_id": TRACE, "score": -1, "comment": "Out of date."}, services)
        assert (response.status_code, response.json()) == (202, {"status": "accepted", "kept": False})
        assert days or not list(folder.rglob("answers*"))

    (tmp_path / "taken").write_text("a file where the folder should be")
    services = open_service(load_settings(answer_log_days=90, chroma_path=tmp_path / "taken"))
    response = await give({"trace_id": TRACE, "score": 1}, services)
    assert (response.status_code, response.json()["message"]) == (503, answers.NOT_KEPT)


@pytest.fixture
def langsmith(httpserver):
    """LangSmith's API as far as a score needs it; what it was sent is in the server's log."""
    project = {"id": str(uuid4()), "name": "desk", "tenant_id": str(uuid4()), "reference_dataset_id": None}
    httpserver.expect_request("/info").respond_with_json({"version": "0.12.0"})
    httpserver.expect_request("/sessions").respond_with_json([project])
    httpserver.expect_request("/feedback", method="POST").respond_with_json({})
    return httpserver


async def test_a_score_reaches_langsmith_under_the_trace_of_its_answer(langsmith):
    settings = {"langsmith_tracing": True, "langsmith_api_key": "ls", "langsmith_project": "desk"}
    services = open_service(load_settings(**settings, langsmith_endpoint=langsmith.url_for("").rstrip("/")))

    def sent() -> list[dict]:
        return [json.loads(request.data) for request, _ in langsmith.log if request.path == "/feedback"]

    await give({"trace_id": TRACE, "score": -1, "comment": "Out of date. Tell anna@example.org."}, services)
    await await_until(sent)

    [score] = sent()
    kept = {name: score[name] for name in ("key", "score", "comment", "trace_id")}
    assert kept == {"key": "user_score", "score": -1, "comment": "Out of date. Tell <EMAIL>.", "trace_id": TRACE}


async def test_a_langsmith_that_is_away_costs_the_score_and_nothing_else():
    services = open_service(load_settings(langsmith_tracing=True, langsmith_endpoint="http://127.0.0.1:9"))

    assert (await give({"trace_id": TRACE, "score": 1}, services)).status_code == 202

    await await_until(lambda: services.tracing.dropped() == {"langsmith": 0, "langsmith_scores": 1})
