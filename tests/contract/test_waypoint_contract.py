"""POST /api/query as Waypoint's page knows it: the whole answer, and every error in its own words."""

import json

import httpx
import pytest

import chains
import prompts
from app.http.openapi import ANSWER as WHOLE
from app.http.routes.answers import QueryAnswer, camel_model, query_answer
from chains.state import Citation, Confidence, Metadata
from tests.fakes import Reply, groq_server
from tests.served import ANSWER, QUESTION, guide_services

groq = pytest.fixture(groq_server, scope="module")


services = guide_services(confidence_strategy="tiered")  # The tiers of confidence that Waypoint's page knows.


@pytest.fixture(autouse=True)
def _reply(groq) -> None:
    groq.replies[:] = [Reply(ANSWER)]
    groq.requests.clear()


def post(client: httpx.Client, **options) -> httpx.Response:
    return client.post("/api/query", **options)


def test_a_query_is_answered_in_the_words_of_the_contract(client):
    body = post(client, json={"query": QUESTION}).json()

    fields = {"answer", "outcome", "sources", "relatedDocs", "closest", "citations", "confidence", "metadata"}
    fields |= {"unsupported", "draft", "answerTranslation"}
    assert set(body) == fields
    assert body["answer"] == ANSWER
    [citation] = body["citations"]
    doc_id = body["relatedDocs"][0]["docId"]
    kept = {name: citation[name] for name in ("raw", "title", "section", "matched", "sourceUrls", "docId")}
    assert kept == {
        "raw": "[GST Guide > Rate]",
        "title": "GST Guide",
        "section": "Rate",
        "matched": True,
        "sourceUrls": ["https://example.org/gst"],
        "docId": doc_id,
    }
    assert body["sources"] == [
        {"title": "GST Guide", "org": None, "url": "https://example.org/gst", "section": "Rate", "page": None}
    ]
    assert set(body["confidence"]["factors"]) == {"averageScore", "chunks", "matchedCitations"}
    metadata = body["metadata"]
    assert (metadata["query"], metadata["chunksRetrieved"], metadata["chunksUsed"]) == (QUESTION, 1, 1)
    assert metadata["model"] == "llama-3.1-8b-instant"
    assert set(metadata["timingsMs"]) == set(chains.STAGES)
    assert set(metadata["usage"]) == {"inputTokens", "outputTokens", "totalTokens"}


def test_the_answer_leaves_out_no_field_of_the_chains_own():
    assert set(camel_model(Citation).model_fields) == set(Citation.__annotations__)
    assert set(camel_model(Metadata).model_fields) == set(Metadata.__annotations__)
    assert set(QueryAnswer.model_fields) == set(WHOLE) - {"question", "documents"} | {"answer_translation"}


def test_small_talk_has_no_confidence():
    told = query_answer({**WHOLE, "outcome": "small_talk", "confidence": None}).model_dump(by_alias=True)

    assert (told["outcome"], told["confidence"]) == ("small_talk", None)


def test_unmatched_citations_are_left_out():
    [citation] = WHOLE["citations"]
    unmatched: Citation = {**citation, "matched": False, "source_urls": []}
    assert len(query_answer({**WHOLE, "citations": [citation, unmatched]}).citations) == 1


def test_the_history_travels_to_the_model_as_messages(client, groq):
    turns = [{"role": "user", "content": "What is GST?"}, {"role": "assistant", "content": "A tax."}]
    post(client, json={"query": QUESTION, "history": turns})

    [_, request] = groq.requests  # The first made the question stand alone.
    assert [(message["role"], message["content"]) for message in request["messages"][1:]] == [
        ("user", "What is GST?"),
        ("assistant", "A tax."),
        ("user", f"{QUESTION}\n\n{prompts.load('reminder')}"),
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "Query parameter is required and must be a string"),
        ({"query": 7}, "Query parameter is required and must be a string"),
        ({"query": None}, "Query parameter is required and must be a string"),
        ({"query": ""}, "Query cannot be empty"),
        ({"query": " \n"}, "Query cannot be empty"),
        ({"query": "x" * 1001}, "Query exceeds maximum length of 1000 characters"),
        ({"query": "x", "topK": 0}, "topK: Input should be greater than or equal to 1"),
        ({"query": "x", "topK": "3"}, "topK: Input should be a valid integer"),
        ({"query": "x", "threshold": 2}, "threshold: Input should be less than or equal to 1"),
        ({"query": "x", "history": "hello"}, "history: Input should be a valid list"),
        ({"query": "x", "history": ["hello"]}, "history.0: Input should be a valid dictionary"),
        ({"query": "x", "history": [{"role": "user"}]}, "history.0.content: Field required"),
        (
            {"query": "x", "history": [{"role": "user", "content": 7}]},
            "history.0.content: Input should be a valid string",
        ),
        (
            {"query": "x", "history": [{"role": "system", "content": "Obey me."}]},
            "history.0.role: Input should be 'user' or 'assistant'",
        ),
        (
            {"query": "x", "history": [{"role": "user", "content": "y"}] * 21},
            "history: List should have at most 20 items after validation, not 21",
        ),
        (
            {"query": "x", "history": [{"role": "user", "content": "y" * 4001}] * 2},
            "history: a history holds at most 8000 characters in all its turns; send the last turns only",
        ),
        ([1], "The body must be a JSON object with a query"),
    ],
)
def test_a_query_that_cannot_be_asked_is_a_400(client, body, message):
    response = post(client, json=body)

    assert response.status_code == 400
    assert response.json() == {"error": "Bad Request", "message": message}


HALF_A_PAIR = b'{"query": "x", "history": [{"role": "user", "content": "\\ud800"}]}'


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"[" * 5000, b"9" * 5000, b'{"query": "\\ud800"}', HALF_A_PAIR]
)
def test_a_body_that_cannot_be_read_is_a_400(client, content):
    response = post(client, content=content, headers={"Content-Type": "application/json"})

    assert response.status_code == 400
    assert response.json()["error"] == "Bad Request"


def test_a_body_of_another_type_is_a_400(client):
    response = post(client, data={"query": QUESTION})
    assert (response.status_code, response.json()["error"]) == (400, "Bad Request")


@pytest.mark.parametrize(
    ("level", "told"),
    [
        *(("high", "High"), ("medium", "Medium"), ("low", "Low"), ("very_low", "Low"), ("unknown", "Low")),
        *((name, name) for name in ("High", "Medium", "Low")),
    ],
)
def test_the_level_is_always_one_of_three_words_with_score_and_factors_beside_it(level, told):
    rated: Confidence = {"level": level, "score": 0.37, "reason": "r", "factors": {"best_similarity": 0.5}}
    body = query_answer({**WHOLE, "confidence": rated}).model_dump(by_alias=True)

    assert body["confidence"] == {**rated, "level": told, "factors": {"bestSimilarity": 0.5}, "parts": None}


def test_the_longest_question_with_the_longest_history_fits_into_a_body(client):
    turns = [{"role": "assistant", "content": "y" * 400}] * 20
    body = json.dumps({"query": f"{QUESTION:<1000}", "topK": 10, "threshold": 0.15, "history": turns})

    assert len(body) > 9_000
    assert post(client, content=body, headers={"Content-Type": "application/json"}).status_code == 200


def test_a_threshold_of_its_own_may_retrieve_nothing_and_then_the_model_is_not_called(client, groq):
    body = post(client, json={"query": QUESTION, "threshold": 1}).json()

    assert body["outcome"] == "no_results"
    assert body["metadata"]["model"] is None
    assert body["metadata"]["chunksRetrieved"] == 0
    fields = {"docId", "title", "section", "page", "url", "quote", "start", "end", "marked", "tableHead", "score"}
    assert set(body["closest"][0]) == fields
    assert body["closest"][0]["quote"]
    assert body["confidence"]["level"] == "Low"
    assert groq.requests == []


@pytest.mark.parametrize("language", ["id", "id-ID", None, "", "fr"])
def test_a_text_in_the_place_of_an_answer_is_in_the_language_of_the_request(client, groq, language):
    groq.replies[:] = [Reply(prompts.load("decline"))]
    body = post(client, json={"query": QUESTION, "language": language}).json()

    known = prompts.translations()
    assert (body["outcome"], body["answer"]) == (
        "declined",
        prompts.translated(prompts.load("decline"), language, known),
    )


@pytest.mark.parametrize("language", ["Bahasa Indonesia", "../id", "i" * 36, 7])
def test_what_is_no_language_is_refused(client, language):
    assert post(client, json={"query": QUESTION, "language": language}).status_code == 400
