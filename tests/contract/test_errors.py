"""Every kind of error, in each of the three contracts: its status, what happened, what to do, and no inner detail."""

import json
from collections.abc import Iterator

import httpx
import pytest
from langchain_core.runnables import RunnableLambda

from app.http.errors import reply_to
from app.http.server import create_app
from app.settings import load_settings
from app.wiring import Parts, open_service
from chains import errors
from tests.access import bearer, key_entry
from tests.served import served

INNER = "the key gsk_secret at /srv/index"
KINDS = {
    kind.__name__: kind
    for kind in (
        errors.ConfigurationError,
        errors.RetrievalError,
        errors.EmbeddingError,
        errors.VectorStoreError,
        errors.LLMError,
        errors.LLMRejectedError,
        errors.LLMUnavailableError,
        errors.LLMRateLimitError,
        errors.LLMTimeoutError,
        ZeroDivisionError,
    )
}


def fail(question: dict) -> None:
    raise KINDS[question["question"]](INNER)


@pytest.fixture(scope="module")
def client(tmp_path_factory) -> Iterator[httpx.Client]:
    """The service over a chain that fails as the question says."""
    settings = load_settings(_env_file=None, llm_provider="offline", chroma_path=tmp_path_factory.mktemp("errors"))
    services = open_service(settings, parts=Parts(chain=RunnableLambda(fail)))
    with served(create_app(services)) as url, httpx.Client(base_url=url) as client:
        yield client


@pytest.fixture(scope="module")
def guarded(tmp_path_factory) -> Iterator[httpx.Client]:
    """The service over the same chain, for the holder of a key."""
    settings = load_settings(
        _env_file=None,
        llm_provider="offline",
        chroma_path=tmp_path_factory.mktemp("guarded"),
        auth_mode="api_key",
        api_keys=key_entry("ann", "k", "ask"),
    )
    services = open_service(settings, parts=Parts(chain=RunnableLambda(fail)))
    with served(create_app(services)) as url, httpx.Client(base_url=url) as client:
        yield client


def asked(client: httpx.Client, path: str, body: dict) -> tuple[int, dict]:
    response = client.post(path, json=body)
    return response.status_code, response.json()


@pytest.mark.parametrize("kind", KINDS)
def test_each_contract_says_what_happened_and_what_to_do(client, kind):
    problem = reply_to(KINDS[kind](INNER))
    told = {"error": problem.error, "message": problem.message}

    assert asked(client, "/api/query", {"query": kind}) == (problem.status, told)
    assert asked(client, "/copilot/invoke", {"input": {"question": kind}}) == (problem.status, told)
    assert asked(client, "/chat", {"query": kind}) == (problem.status, told | {"detail": problem.message})


@pytest.mark.parametrize("path", ["/copilot/stream", "/copilot/stream_events"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_ends_with_the_same_words_and_the_status(client, kind, path):
    problem = reply_to(KINDS[kind](INNER))
    response = client.post(path, json={"input": {"question": kind}})
    last = response.text.strip().split("\r\n\r\n")[-1].split("\r\n")

    assert response.status_code == 200
    assert last[0] == "event: error"
    assert json.loads(last[1].removeprefix("data: ")) == {
        "status_code": problem.status,
        "error": problem.error,
        "message": problem.message,
    }
    assert INNER not in response.text


def test_an_unknown_route_and_a_wrong_method_are_told_in_the_same_form(client):
    unknown, wrong = client.get("/nowhere"), client.get("/api/query")

    assert (unknown.status_code, set(unknown.json())) == (404, {"error", "message"})
    assert (wrong.status_code, wrong.json()["error"], wrong.headers["allow"]) == (405, "Method Not Allowed", "POST")


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        (401, {"json": {"query": "x"}, "headers": {}}),
        (401, {"json": {"query": "x"}, "headers": {"Authorization": "Basic eDp5"}}),
        (413, {"content": b" " * 200_000}),
        (400, {"content": b"{junk"}),
        (405, {"method": "PUT"}),
    ],
)
@pytest.mark.parametrize("path", ["/chat", "/api/query", "/v1/chat/completions"])
def test_what_is_refused_before_its_route_has_the_form_of_its_path(guarded, status, sent, path):
    response = guarded.request(**{"method": "POST", "url": path, "headers": bearer("k"), **sent})
    told = response.json()

    assert response.status_code == status
    if path == "/v1/chat/completions":
        assert set(told["error"]) == {"message", "type", "param", "code"}
    elif path == "/api/query":
        assert set(told) == {"error", "message"}
    else:
        assert set(told) == {"error", "message", "detail"}
        assert told["detail"] == told["message"]
