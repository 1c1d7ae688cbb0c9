import json
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from pydantic import SecretStr
from pytest_httpserver import HTTPServer

from app.adapters.http_client import ServiceCalls
from app.adapters.retrieval import KIND, RemoteRetriever
from chains.callbacks import Deadline
from chains.errors import DeadlineError, RetrievalError
from chains.resilience import RetryPolicy
from tests.clocks import StoppedClock
from tests.failures import is_unavailable

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


@pytest.mark.parametrize("reply", ["no JSON", "[]", '{"results": [{"title": "no text"}]}', '{"results": 3}'])
@both
async def test_a_reply_that_is_no_list_of_passages_is_an_error(httpserver, way, reply):
    httpserver.expect_request("/search").respond_with_data(reply)
    with pytest.raises(RetrievalError, match="no list of passages"):
        await found(retriever(httpserver), way)


@both
async def test_a_question_whose_time_is_over_is_not_sent(httpserver, way):
    config: RunnableConfig = {**STAFF, "callbacks": [Deadline(0, StoppedClock())]}
    with pytest.raises(DeadlineError):
        await found(retriever(httpserver), way, config)
    assert httpserver.log == []


def test_a_check_of_a_service_that_is_down_fails(httpserver):
    serve(httpserver, 503)
    with pytest.raises(RetrievalError, check=is_unavailable):
        retriever(httpserver).check()
