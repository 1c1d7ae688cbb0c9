"""The real corpus, where it is present: retrieval, offsets, sections and citations on 30 documents, 25 questions."""

import json
from pathlib import Path

import pytest

from app.settings import load_settings
from app.wiring import Service, open_service

pytestmark = [pytest.mark.corpus, pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def corpus(shared) -> Path:
    return shared / "kb" / "waypoint"


@pytest.fixture(scope="module")
def services(corpus, tmp_path_factory) -> Service:
    services = open_service(load_settings(_env_file=None, chroma_path=tmp_path_factory.mktemp("corpus") / "store"))
    report = services.index.ingest([corpus])
    assert (report.files, report.problems) == (30, [])
    return services


@pytest.fixture(scope="module")
def questions(shared) -> list[dict]:
    lines = (shared / "eval" / "waypoint" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def answers(services, questions) -> dict[str, dict]:
    return {question["id"]: services.chain.invoke({"question": question["question"]}) for question in questions}


def test_a_gold_document_is_among_the_first_three_for_nine_in_ten_questions(questions, answers):
    answerable = [question for question in questions if question["gold"]]
    hits = [
        bool({gold["doc_id"] for gold in question["gold"]} & {p["metadata"]["doc_id"] for p in found[:3]})
        for question in answerable
        for found in [answers[question["id"]]["documents"]]
    ]
    assert len(hits) == 18
    assert sum(hits) / len(hits) >= 0.90


def test_every_citation_resolves_to_a_document_of_the_corpus(services, answers):
    known = {document.doc_id for document in services.index.current().documents()}
    citations = [citation for answer in answers.values() for citation in answer["citations"]]

    assert len(citations) > 15
    assert [citation for citation in citations if not citation["matched"] or citation["doc_id"] not in known] == []


def test_every_chunk_is_an_exact_slice_of_its_file_and_carries_its_own_heading(services, corpus):
    ids = [
        id_
        for document in services.index.current().documents()
        for id_ in services.index.current().chunks_of(document.doc_id)
    ]
    chunks = services.index.current().get_by_ids(ids)
    assert len(chunks) > 500
    for chunk in chunks:
        text, metadata = chunk.page_content, chunk.metadata
        source = (corpus / metadata["file_path"]).read_text(encoding="utf-8")
        assert source[metadata["start_char"] : metadata["end_char"]] == text
        first = text.splitlines()[0]
        if first.startswith("#"):
            assert first.lstrip("#").strip() == metadata["section"]


def test_a_second_ingestion_changes_nothing(services, corpus):
    report = services.index.ingest([corpus])
    assert (report.added, report.updated, report.deleted) == (0, 0, 0)
