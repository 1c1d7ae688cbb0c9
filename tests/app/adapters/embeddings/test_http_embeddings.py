import json
import socket
import threading
import time
from contextlib import suppress

import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda
from pydantic import SecretStr
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from app.adapters.embeddings.http_embeddings import HttpEmbeddings
from app.adapters.embeddings.prefixes import Prefixes
from chains.callbacks import Deadline
from chains.errors import DeadlineError, EmbeddingError
from chains.resilience import RetryPolicy
from tests.clocks import StoppedClock
from tests.failures import is_circuit_open, is_rate_limited, is_unavailable

PATH = "/v1/embeddings"
EVEN = RetryPolicy(chance=lambda: 0.0)


def embeddings(server: HTTPServer, **options):
    options = {"clock": StoppedClock(), "policy": EVEN, **options}
    return HttpEmbeddings(base_url=server.url_for("/v1/"), model="m", **options)


def serve(server: HTTPServer, *statuses: int, **headers: str) -> None:
    """Answer with these statuses in turn, then well."""
    for status in statuses:
        server.expect_ordered_request(PATH).respond_with_data("no", status=status, headers=headers)
    for _ in range(9):
        server.expect_ordered_request(PATH).respond_with_handler(reversed_answer)


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


def test_a_service_that_is_not_there_or_too_slow_is_a_clear_error(clock):
    with pytest.raises(EmbeddingError, check=is_unavailable, match="cannot be reached; check EMBEDDING_BASE_URL"):
        HttpEmbeddings(base_url="http://127.0.0.1:9", model="m", clock=clock).embed_query("x")

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        model = HttpEmbeddings(base_url=url, model="m", timeout_s=0.05, clock=clock)
        with pytest.raises(EmbeddingError, check=is_unavailable, match="did not answer within"):
            model.embed_query("x")


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_what_passes_is_met_again_and_ends_no_ingestion(httpserver, clock, status):
    serve(httpserver, status, status)

    assert len(embeddings(httpserver, clock=clock).embed_documents(["x"] * 130)) == 130
    assert clock.slept == [1, 2]
    assert len(httpserver.log) == 5


def test_a_service_that_says_how_long_to_wait_is_obeyed(httpserver, clock):
    serve(httpserver, 429, **{"Retry-After": "7"})

    assert embeddings(httpserver, clock=clock).embed_query("x") == [1.0, 1.0]
    assert clock.slept == [7]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_met_once(httpserver, clock, status):
    serve(httpserver, status)
    with pytest.raises(EmbeddingError, match=f"answered {status}"):
        embeddings(httpserver, clock=clock).embed_query("x")

    assert (len(httpserver.log), clock.slept) == (1, [])


def test_a_service_that_keeps_failing_is_not_called_for_a_while(httpserver, clock):
    serve(httpserver, *[500] * 5)
    model = embeddings(httpserver, clock=clock)
    for _ in range(2):
        with pytest.raises(EmbeddingError, check=is_unavailable):
            model.embed_query("x")
    with pytest.raises(EmbeddingError, check=is_circuit_open, match="the embedding service failed repeatedly"):
        model.embed_query("x")
    assert len(httpserver.log) == 5

    clock.time += 61
    assert model.embed_query("x") == [1.0, 1.0]


def test_many_requests_to_wait_open_no_breaker(httpserver, clock):
    serve(httpserver, *[429] * 8)
    model = embeddings(httpserver, clock=clock)
    for _ in range(2):
        with pytest.raises(EmbeddingError, check=is_rate_limited):
            model.embed_query("x")

    assert model.embed_query("x") == [1.0, 1.0]


def test_a_question_without_time_left_waits_for_no_retry_and_sends_nothing(httpserver, clock):
    serve(httpserver, 503)
    model, config = embeddings(httpserver, clock=clock), RunnableConfig(callbacks=[Deadline(1, clock)])
    embed = RunnableLambda(model.embed_query)

    with pytest.raises(EmbeddingError, check=is_unavailable):
        embed.invoke("x", config)
    clock.time += 2
    with pytest.raises(DeadlineError):
        embed.invoke("x", config)
    assert (len(httpserver.log), clock.slept) == (1, [])


def test_the_time_out_is_for_the_whole_reply_however_it_drips_in():
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
                while True:
                    connection.sendall(b" ")
                    time.sleep(0.01)

        threading.Thread(target=drip, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        model = HttpEmbeddings(base_url=url, model="m", timeout_s=0.1, policy=RetryPolicy(retries=0))
        with pytest.raises(EmbeddingError, check=is_unavailable, match="did not answer within"):
            model.embed_query("x")


def test_the_check_asks_a_service_that_has_not_answered_lately(httpserver, clock):
    serve(httpserver, 503, 503)
    model = embeddings(httpserver, clock=clock)
    for _ in range(2):
        with pytest.raises(EmbeddingError, check=is_unavailable):
            model.check()
    model.check()
    model.check()
    assert (len(httpserver.log), clock.slept) == (3, [])

    clock.time += 31
    model.check()
    assert len(httpserver.log) == 4
