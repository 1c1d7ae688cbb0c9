import json

import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from app.adapters.embeddings import Prefixes
from app.adapters.embeddings.http_embeddings import HttpEmbeddings
from chains.errors import EmbeddingError
from chains.resilience import RetryPolicy
from tests.clocks import StoppedClock

PATH = "/v1/embeddings"
EVEN = RetryPolicy(chance=lambda: 0.0)


def embeddings(server: HTTPServer, **options):
    options = {"clock": StoppedClock(), "policy": EVEN, **options}
    return HttpEmbeddings(base_url=server.url_for("/v1/"), model="m", **options)


def reversed_answer(request: Request) -> Response:
    texts = request.get_json()["input"]
    data = [{"index": index, "embedding": [float(len(text)), 1.0]} for index, text in enumerate(texts)]
    return Response(json.dumps({"data": data[::-1]}), content_type="application/json")


def test_vectors_come_back_in_the_order_of_the_texts(httpserver):
    httpserver.expect_request(PATH).respond_with_handler(reversed_answer)

    assert embeddings(httpserver).embed_documents(["a", "bbb", "cc"]) == [[1.0, 1.0], [3.0, 1.0], [2.0, 1.0]]
    assert embeddings(httpserver).embed_query("four") == [4.0, 1.0]


def test_many_texts_go_in_batches_and_none_in_no_request(httpserver):
    httpserver.expect_request(PATH).respond_with_handler(reversed_answer)

    assert len(embeddings(httpserver).embed_documents(["x"] * 130)) == 130
    assert [len(request.get_json()["input"]) for request, _ in httpserver.log] == [64, 64, 2]
    assert embeddings(httpserver).embed_documents([]) == []


def test_the_model_and_the_key_are_sent(httpserver):
    httpserver.expect_request(PATH).respond_with_handler(reversed_answer)
    embeddings(httpserver, api_key=SecretStr("key")).embed_query("x")
    embeddings(httpserver).embed_query("x")

    assert [request.headers.get("Authorization") for request, _ in httpserver.log] == ["Bearer key", None]
    assert httpserver.log[0][0].get_json() == {"model": "m", "input": ["x"]}


@pytest.mark.parametrize(
    ("options", "field", "sent"),
    [
        ({"prefixes": Prefixes("query: ", "passage: ")}, "input", [["query: x"], ["passage: x"]]),
        ({"input_type": True}, "input_type", ["query", "passage"]),
    ],
)
def test_questions_and_passages_get_their_prefixes_or_are_said_to_be_what_they_are(httpserver, options, field, sent):
    httpserver.expect_request(PATH).respond_with_handler(reversed_answer)
    model = embeddings(httpserver, **options)
    model.embed_query("x")
    model.embed_documents(["x"])

    assert [request.get_json()[field] for request, _ in httpserver.log] == sent


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"data": []}, "0 embeddings for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1.0]}] * 2}, "2 embeddings for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}, "2 dimensions, not 1"),
        ({"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}, "0 dimensions"),
        ({"error": "x"}, "no list of embeddings"),
        ([1], "no list of embeddings"),
        ("<html>", "no list of embeddings"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(httpserver, answer, told):
    httpserver.expect_request(PATH).respond_with_data(answer if isinstance(answer, str) else json.dumps(answer))

    with pytest.raises(EmbeddingError, match=told):
        embeddings(httpserver).embed_documents(["a", "b"])


def test_a_dimension_that_changes_between_requests_is_refused(httpserver):
    httpserver.expect_ordered_request(PATH).respond_with_json({"data": [{"index": 0, "embedding": [1.0, 2.0]}]})
    httpserver.expect_ordered_request(PATH).respond_with_json({"data": [{"index": 0, "embedding": [1.0]}]})
    model = embeddings(httpserver)
    model.embed_query("a")

    with pytest.raises(EmbeddingError, match="1 dimensions, not 2"):
        model.embed_query("b")
