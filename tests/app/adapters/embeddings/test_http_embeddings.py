import json
import socket

import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from app.adapters.embeddings.http_embeddings import HttpEmbeddings
from chains.errors import EmbeddingError

PATH = "/v1/embeddings"


def embeddings(server: HTTPServer, **options):
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
    ("status", "told"), [(401, "EMBEDDING_API_KEY"), (404, "EMBEDDING_BASE_URL"), (503, "try again")]
)
def test_a_refusal_names_the_setting_to_check(httpserver, status, told):
    httpserver.expect_request(PATH).respond_with_data("no", status=status)

    with pytest.raises(EmbeddingError, match=rf"answered {status}; check .*{told}"):
        embeddings(httpserver, api_key=SecretStr("secret")).embed_query("x")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"data": []}, "0 embeddings for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1.0]}] * 2}, "2 embeddings for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}, "2 dimensions, not 1"),
        ({"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]}, "0 dimensions"),
        ({"error": "x"}, "no list of embeddings"),
        ([1], "no list of embeddings"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(httpserver, answer, told):
    httpserver.expect_request(PATH).respond_with_json(answer)

    with pytest.raises(EmbeddingError, match=told):
        embeddings(httpserver).embed_documents(["a", "b"])


def test_an_answer_that_is_no_json_is_refused(httpserver):
    httpserver.expect_request(PATH).respond_with_data("<html>")
    with pytest.raises(EmbeddingError, match="no list of embeddings"):
        embeddings(httpserver).embed_query("a")


def test_a_dimension_that_changes_between_requests_is_refused(httpserver):
    httpserver.expect_ordered_request(PATH).respond_with_json({"data": [{"index": 0, "embedding": [1.0, 2.0]}]})
    httpserver.expect_ordered_request(PATH).respond_with_json({"data": [{"index": 0, "embedding": [1.0]}]})
    model = embeddings(httpserver)
    model.embed_query("a")

    with pytest.raises(EmbeddingError, match="1 dimensions, not 2"):
        model.embed_query("b")


def test_a_service_that_is_not_there_or_too_slow_is_a_clear_error():
    with pytest.raises(EmbeddingError, match="cannot be reached; check EMBEDDING_BASE_URL"):
        HttpEmbeddings(base_url="http://127.0.0.1:9", model="m").embed_query("x")

    with socket.create_server(("127.0.0.1", 0)) as silent:
        model = HttpEmbeddings(base_url=f"http://127.0.0.1:{silent.getsockname()[1]}", model="m", timeout_s=0.05)
        with pytest.raises(EmbeddingError, match="did not answer within"):
            model.embed_query("x")
