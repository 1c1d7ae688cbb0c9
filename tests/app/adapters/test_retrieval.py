import json
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from pydantic import SecretStr
from pytest_httpserver import HTTPServer

from app.adapters.retrieval import KIND, RemoteRetriever
from app.adapters.service_calls import ServiceCalls
from chains.callbacks import Deadline
from chains.errors import DeadlineError, RetrievalError
from chains.resilience import RetryPolicy
from tests.clocks import StoppedClock
from tests.failures import is_circuit_open, is_unavailable

HIT = {
    "text": "Illness has to be reported.",
    "document_id": "regulations",
    "chunk_index": 12,
    "title": "General Regulations",
    "page": 15,
    "url": "https://example.org/a,b.pdf",
    "score": 0.71,
}
METADATA = {
    "doc_id": "regulations",
    "chunk_index": 12,
    "title": "General Regulations",
    "page": 15,
    "score": 0.71,
    "rank": 1,
    "audience": "internal",
    "source_urls": '["https://example.org/a,b.pdf"]',
}
STAFF: RunnableConfig = {"configurable": {"audience": "internal"}}
STRANGER: RunnableConfig = {"configurable": {"audience": "public"}}
both = pytest.mark.parametrize("way", ["invoke", "ainvoke"])


def retriever(server: HTTPServer, **options: Any) -> RemoteRetriever:
    chosen: dict[str, Any] = {"clock": StoppedClock(), "policy": RetryPolicy(chance=lambda: 0.0)} | options
    return RemoteRetriever(calls=ServiceCalls(KIND, server.url_for("/"), **chosen), top_k=8)


async def found(retriever: RemoteRetriever, way: str, config: RunnableConfig = STAFF, **limits) -> list:
    if way == "invoke":
        return retriever.invoke("Q?", config, **limits)
    documents = await retriever.ainvoke("Q?", config, **limits)
    await retriever.aclose()
    return documents


def serve(server: HTTPServer, *statuses: int, hits=(HIT,), **headers: str) -> None:
    for status in statuses:
        server.expect_ordered_request("/search").respond_with_data("no", status=status, headers=headers)
    for _ in range(9):
        server.expect_ordered_request("/search").respond_with_json({"query": "Q?", "results": list(hits)})


@both
async def test_the_contract_is_asked_and_a_passage_is_a_document(httpserver, way):
    body = {"query": "Q?", "top_k": 3}
    httpserver.expect_request(
        "/search", method="POST", json=body, headers={"Authorization": "Bearer k"}
    ).respond_with_json({"query": "Q?", "results": [HIT]})

    [document] = await found(retriever(httpserver, api_key=SecretStr("k")), way, top_k=3)

    assert document.page_content == HIT["text"]
    assert document.metadata == METADATA


@both
async def test_a_hit_that_scores_less_than_the_threshold_is_dropped_and_one_without_a_score_stays(httpserver, way):
    unscored = {"text": "Unscored."}
    serve(httpserver, hits=[HIT, HIT | {"text": "Far.", "score": 0.1}, unscored])

    assert [document.page_content for document in await found(retriever(httpserver), way)] == [HIT["text"], "Unscored."]


@both
async def test_no_more_than_was_asked_for_is_taken_and_what_the_call_may_not_see_does_not_count(httpserver, way):
    public = HIT | {"metadata": {"audience": "public"}}
    serve(httpserver, hits=[HIT, *[public | {"chunk_index": number} for number in range(9)]])

    documents = await found(retriever(httpserver), way, STRANGER, top_k=3)

    assert [document.metadata["chunk_index"] for document in documents] == [0, 1, 2]


@both
async def test_a_score_that_is_no_similarity_is_unknown(httpserver, way):
    serve(httpserver, hits=[HIT | {"score": 57.3}])

    [document] = await found(retriever(httpserver), way)

    assert "score" not in document.metadata


@both
async def test_a_stranger_sees_what_says_that_it_is_public_and_the_service_is_told(httpserver, way):
    public = HIT | {"text": "Open.", "metadata": {"audience": "public", "section": "Rules", "file_path": 7}}
    serve(httpserver, hits=[HIT, public])

    [document] = await found(retriever(httpserver), way, STRANGER)

    assert document.page_content == "Open."
    assert document.metadata["section"] == "Rules"
    assert json.loads(httpserver.log[0][0].data) == {"query": "Q?", "top_k": 8, "audience": "public"}


@both
@pytest.mark.parametrize(
    ("statuses", "headers", "slept"), [((503, 500), {}, [1.0, 2.0]), ((429,), {"Retry-After": "7"}, [7.0])]
)
async def test_a_service_that_fails_or_asks_to_wait_is_asked_again_after_waiting(
    httpserver, way, statuses, headers, slept
):
    clock = StoppedClock()
    serve(httpserver, *statuses, **headers)

    assert len(await found(retriever(httpserver, clock=clock), way)) == 1
    assert clock.slept == slept


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (401, RetrievalError, "check RETRIEVAL_API_KEY"),
        (404, RetrievalError, "check RETRIEVAL_URL"),
        (429, RetrievalError, "answered 429"),
        (500, RetrievalError, "answered 500"),
    ],
)
@both
async def test_a_refusal_names_the_setting_to_check(httpserver, way, status, error, told):
    serve(httpserver, status)
    with pytest.raises(error, match=told):
        await found(retriever(httpserver, policy=RetryPolicy(retries=0)), way)


@pytest.mark.parametrize("reply", ["no JSON", "[]", '{"results": [{"title": "no text"}]}', '{"results": 3}'])
@both
async def test_a_reply_that_is_no_list_of_passages_is_an_error(httpserver, way, reply):
    httpserver.expect_request("/search").respond_with_data(reply)
    with pytest.raises(RetrievalError, match="no list of passages"):
        await found(retriever(httpserver), way)


@both
async def test_a_service_that_keeps_failing_is_not_asked_for_a_while(httpserver, way):
    clock = StoppedClock()
    remote = retriever(httpserver, clock=clock, breaker_failures=2, policy=RetryPolicy(retries=0))
    serve(httpserver, 500, 500)
    for _ in range(2):
        with pytest.raises(RetrievalError, check=is_unavailable):
            remote.invoke("Q?", STAFF)
    with pytest.raises(RetrievalError, check=is_circuit_open):
        await found(remote, "invoke")
    clock.time += 61

    assert len(await found(remote, way)) == 1


@both
async def test_nobody_at_the_address_is_an_error_that_names_it(way):
    calls = ServiceCalls(KIND, "http://127.0.0.1:1", policy=RetryPolicy(retries=0))
    with pytest.raises(RetrievalError, check=is_unavailable, match="cannot be reached; check RETRIEVAL_URL"):
        await found(RemoteRetriever(calls=calls), way)


@both
async def test_a_question_whose_time_is_over_is_not_sent(httpserver, way):
    config: RunnableConfig = {**STAFF, "callbacks": [Deadline(0, StoppedClock())]}
    with pytest.raises(DeadlineError):
        await found(retriever(httpserver), way, config)
    assert httpserver.log == []


def test_a_check_asks_once_and_trusts_a_recent_success(httpserver):
    clock = StoppedClock()
    service = retriever(httpserver, clock=clock)
    serve(httpserver)
    service.check()
    service.check()
    assert len(httpserver.log) == 1
    clock.time += 6
    service.check()
    assert len(httpserver.log) == 2


@both
async def test_a_check_asks_at_once_after_a_question_that_failed(httpserver, way):
    remote = retriever(httpserver, clock=StoppedClock(), policy=RetryPolicy(retries=0))
    httpserver.expect_ordered_request("/search").respond_with_json({"results": []})
    serve(httpserver, 500, 503)
    remote.check()
    with pytest.raises(RetrievalError, check=is_unavailable):
        await found(remote, way)

    with pytest.raises(RetrievalError, check=is_unavailable):
        remote.check()


def test_a_check_of_a_service_that_is_down_fails(httpserver):
    serve(httpserver, 503)
    with pytest.raises(RetrievalError, check=is_unavailable):
        retriever(httpserver).check()
