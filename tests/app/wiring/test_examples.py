from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.http.routes.page import EXAMPLES, TEAMS, offered, read_page_file
from app.settings import load_settings
from app.web import words
from app.wiring import open_service, sample_corpus
from chains.documents.audience import CATEGORIES
from chains.errors import ConfigurationError
from chains.retrieval.passages import retrieve
from chains.scope import SCOPE_FILE, load_scope
from chains.state import Searching

INTERNAL: Any = {"configurable": {"audience": "internal"}}


def examples(file: Path | None = None, *, held: Collection[str] | None = None, language: str = "en") -> list[str]:
    """Examples over an index that holds these documents, or all."""
    return offered(read_page_file(EXAMPLES, file), language, lambda named: named if held is None else held)


def test_the_sample_corpus_offers_questions_in_every_language_of_the_page():
    assert all(len(examples(language=language)) >= 4 for language in words.languages())


def test_a_question_is_offered_while_its_document_is_in_the_index():
    gst = "01_regulatory_sg_gst_guide"
    assert examples(held={gst}) == ["What is the GST rate on imports into Singapore?"]
    assert examples(held=()) == []


def test_a_question_of_ones_own_needs_no_document(tmp_path):
    own = tmp_path / "examples.yaml"
    own.write_text("en: ['What is ours?', {question: 'And theirs?', document: theirs}]")
    assert examples(own, held=()) == ["What is ours?"]
    assert examples(own) == ["What is ours?", "And theirs?"]
    assert examples(own, language="id") == []


def test_a_question_that_asks_for_it_is_offered_while_its_answer_is_sure(tmp_path):
    own = tmp_path / "examples.yaml"
    own.write_text("en: [What is ours?, {question: Terms, sure: true}, {question: Lost keys, sure: true}]")
    found = offered(read_page_file(EXAMPLES, own), "en", lambda named: named, {"Lost keys"}.__contains__)

    assert found == ["What is ours?", "Lost keys"]


def test_each_english_example_of_the_sample_is_answered_surely_without_a_model(tmp_path):
    services = open_service(load_settings(_env_file=None, chroma_path=tmp_path / "store", llm_provider="offline"))
    services.index.ingest([sample_corpus()])
    asked = [each if isinstance(each, str) else each["question"] for each in read_page_file(EXAMPLES, None)["en"]]
    rated: dict[str, Any] = {
        text: services.chain.invoke({"question": text}, INTERNAL)["confidence"] or {} for text in asked
    }

    assert [text for text, found in rated.items() if found.get("level") not in {"high", "medium"}] == []


UNREADABLE = {
    "examples.yaml": [
        *(b"- a", b"en: text", b"en: ['']", b"en: [[1]]", b"en: [a", b"\xff"),
        *(b"en: [a, a, a, a, a, a, a, a, a, a, a, a, a]", b""),
    ],
    "teams.yaml": [b"- a", b"other: text", b"other: {}", b"other: {name: ''}", b"other: {name: A, mail: b}"],
    "page.yaml": [b"title: Ask"],
}


@pytest.mark.parametrize(("name", "content"), [(name, one) for name, texts in UNREADABLE.items() for one in texts])
def test_a_file_of_another_form_is_refused_with_its_name_and_the_form(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=rf"{name}.* needs UTF-8 YAML"):
        read_page_file(name, file)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        examples(tmp_path / "none.yaml")


EVIDENCE = {
    "Apa saja dokumen impor di Indonesia selain PIB?": "commercial invoice",
    "Berapa GST impor di Singapore, dihitung dari nilai CIF?": "9 %",
    "Apa perbedaan CIF dan FOB dalam Incoterms 2020?": "difference between FOB and CIF",
    "Berapa lama Form D ATIGA berlaku?": "12 months",
    "Welche Import-Dokumente verlangt Indonesien?": "commercial invoice",
    "Wie hoch ist die GST bei der Einfuhr nach Singapur?": "9 %",
    "Wie unterscheidet sich CIF von FOB in den Incoterms 2020?": "difference between FOB and CIF",
    "Was bedeutet FCA in den Incoterms 2020?": "Free Carrier",
}


def test_the_passages_of_each_example_in_another_language_hold_its_answer(tmp_path):
    services = open_service(load_settings(_env_file=None, chroma_path=tmp_path / "store", llm_api_key="gsk_test"))
    services.index.ingest([sample_corpus()])
    present = partial(services.index.library.present, audience="public")
    sample = read_page_file(EXAMPLES, None)
    asked = [one for code in words.languages() if code != words.DEFAULT for one in offered(sample, code, present)]

    assert asked == [one for one in asked if one in EVIDENCE]
    for question, evidence in EVIDENCE.items():
        found = retrieve(services.answerer.retriever).invoke(Searching(question=question))
        assert any(evidence.casefold() in one["content"].casefold() for one in found), question


def test_the_sample_corpus_names_a_team_for_each_category_and_intent_and_one_for_everything_else():
    teams = read_page_file(TEAMS, None)
    scope = load_scope(sample_corpus() / SCOPE_FILE)
    redirected = scope.intents.keys() - {"off_topic"}  # That is no desk's.
    assert set(teams) == {*CATEGORIES.values(), *redirected, "other"}
    assert all(team["name"] for team in teams.values())
