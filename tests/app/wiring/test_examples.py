from collections.abc import Collection
from pathlib import Path

import pytest

from app.http.page_files import ExampleQuestions, Teams
from app.settings import load_settings
from app.web import words
from app.wiring import open_service, sample_corpus
from chains.documents.audience import CATEGORIES
from chains.errors import ConfigurationError
from chains.retrieval import retrieve
from chains.scope import SCOPE_FILE, load_scope
from chains.state import Searching


def examples(file: Path | None = None, *, held: Collection[str] | None = None, **options: bool) -> ExampleQuestions:
    """Examples over an index that holds these documents, or all."""
    return ExampleQuestions(file, present=lambda named, _: named if held is None else held, **options)


def test_the_sample_corpus_offers_questions_in_every_language_of_the_page():
    assert all(len(examples().of(language, "internal")) >= 4 for language in words.languages())


def test_a_question_is_offered_while_its_document_is_in_the_index():
    gst = "01_regulatory_sg_gst_guide"
    assert examples(held={gst}).of("en", "public") == ["What is the GST rate on imports into Singapore?"]
    assert examples(held=()).of("en", "public") == []


def test_a_question_of_ones_own_needs_no_document(tmp_path):
    own = tmp_path / "examples.yaml"
    own.write_text("en: ['What is ours?', {question: 'And theirs?', document: theirs}]")
    assert examples(own, held=()).of("en", "public") == ["What is ours?"]
    assert examples(own).of("en", "public") == ["What is ours?", "And theirs?"]
    assert examples(own).of("id", "public") == []


def test_without_a_language_model_english_questions_alone_are_offered():
    assert examples(english_only=True).of("de", "internal") == []
    assert examples(english_only=True).of("en", "internal")


@pytest.mark.parametrize(
    "content",
    [
        *(b"- a", b"en: text", b"en: ['']", b"en: [[1]]", b"en: [a", b"\xff"),
        *(b"en: [a, a, a, a, a, a, a, a, a, a, a, a, a]", b""),
    ],
)
def test_a_file_that_is_no_list_of_questions_is_refused_with_its_name_and_the_form(tmp_path, content):
    file = tmp_path / "examples.yaml"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"examples\.yaml.* needs UTF-8 YAML"):
        examples(file)


def test_a_file_that_is_missing_is_refused(tmp_path: Path):
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
    present = ExampleQuestions(None, present=services.index.library.present)
    offered = [one for code in words.languages() if code != words.DEFAULT for one in present.of(code, "public")]

    assert offered == [one for one in offered if one in EVIDENCE]
    for question, evidence in EVIDENCE.items():
        found = retrieve(services.answerer.retriever).invoke(Searching(question=question))
        assert any(evidence.casefold() in one["content"].casefold() for one in found), question


def test_the_sample_corpus_names_a_team_for_each_category_and_intent_and_one_for_everything_else():
    teams = Teams(None, lambda: False).by_category()
    scope = load_scope(sample_corpus() / SCOPE_FILE)
    redirected = {intent.name for intent in scope.intents} - {"off_topic"}  # That is no desk's.
    assert set(teams) == {*CATEGORIES.values(), *redirected, "other"}
    assert all(team["name"] for team in teams.values())


def test_teams_of_the_sample_are_not_named_for_other_documents_but_chosen_ones_are(tmp_path):
    own = tmp_path / "teams.yaml"
    own.write_text("other: {name: Ours}")
    assert Teams(None, lambda: True).by_category() == {}
    assert Teams(own, lambda: True).by_category() == {"other": {"name": "Ours"}}


@pytest.mark.parametrize(
    "content", ["- a", "other: text", "other: {}", "other: {name: ''}", "other: {name: A, mail: b}"]
)
def test_a_file_of_another_form_is_refused_with_its_name_and_the_form(tmp_path, content):
    file = tmp_path / "teams.yaml"
    file.write_text(content)
    with pytest.raises(ConfigurationError, match=r"teams\.yaml.* needs UTF-8 YAML"):
        Teams(file, lambda: False)
