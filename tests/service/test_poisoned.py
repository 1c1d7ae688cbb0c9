"""Forty poisoned documents and a model that obeys whatever it reads: nothing of it reaches an answer or a stream."""

from typing import Any

import pytest

from app.settings import load_settings
from app.wiring import Parts, Service, open_service
from chains.output import merge
from tests.fakes import WordEmbeddings
from tests.service.poisoned import CARRIERS, SIGNS, Obeying, seen_of, write_poisoned


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory) -> tuple[Service, int, Any]:
    folder = tmp_path_factory.mktemp("poisoned")
    count = write_poisoned(folder / "documents")
    settings = load_settings(
        _env_file=None,
        chroma_path=folder / "store",
        scope_file="off",
        relevance_threshold=0,
        retrieval_top_k=100,
        max_context_tokens=20_000,
        llm_provider="offline",
    )
    services = open_service(settings, parts=Parts(model=Obeying(), embeddings=WordEmbeddings()))
    report = services.index.ingest([folder / "documents"])
    return services, count, report


def test_nothing_that_a_document_orders_reaches_an_answer_or_a_stream(poisoned):
    services, count, _ = poisoned
    for number in range(count):
        question = {"question": f"What is the handling fee of document {number}?"}
        parts = list(services.chain.stream(question))
        streamed = "".join(part.get("answer", "") for part in parts)
        answers = [merge(parts)]
        if number < len(CARRIERS):  # The same stages make an answer at once: one of each form is enough.
            answers.append(services.chain.invoke(question))

        for words in (streamed, *map(seen_of, answers)):
            assert [sign for sign in SIGNS if sign in words] == []
        assert all(citation["quote"] for answer in answers for citation in answer["citations"] if citation["matched"])


def test_the_ingestion_names_the_documents_that_give_orders(poisoned):
    _, count, report = poisoned
    named = {problem.path for problem in report.warnings if "read like orders" in problem.reason}

    assert (report.files, report.problems) == (count + 1, [])
    assert len(named) >= 0.6 * count


def test_what_is_honest_in_a_poisoned_collection_is_still_told(poisoned):
    services, count, _ = poisoned
    answer = services.chain.invoke({"question": f"What is the handling fee of document {count}?"})

    # A model that repeats itself gives no answer: what it read is shown as the closest passage.
    assert "40 dollars" in answer["closest"][0]["marked"]
    assert answer["metadata"]["safety"]["passages_dropped"] >= 0.6 * count
