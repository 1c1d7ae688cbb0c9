"""The public names on plain values, as a user of Waypoint's `services/index.js` would call them."""

from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

import chains
from tests.chains.citations.desk import SHOWN

ANSWER = "Import GST is 9 % [GST Guide > Import GST]. It floats [Nothing > Here]. It is due [GST Guide > Import GST]."


def test_every_public_name_is_there():
    for name in chains.__all__:
        assert getattr(chains, name) is not None


def test_documents_of_any_retriever_become_passages():
    [passage] = chains.passages_of([Document("Words.", metadata={"title": "T", "similarity": "0.7"})])

    assert passage == {"content": "Words.", "score": 0.7, "metadata": {"title": "T"}}


def test_passages_become_a_context():
    assert chains.format_context(SHOWN[:1])["text"].startswith("[1] GST Guide > Import GST\nImport GST in Singapore")


def test_a_context_may_be_text_alone():
    asked = chains.generate(RunnableLambda(lambda prompt: AIMessage(prompt.to_string())))
    state: Any = {"question": "What is the rate?", "context": "The rate of GST is 9 %."}
    without: Any = {"question": "?", "context": ""}

    assert "The rate of GST is 9 %." in asked.invoke(state).text
    assert chains.generate(FakeListChatModel(responses=["9 %"])).invoke(without).text != "9 %"


def test_documents_are_taken_as_passages_are():
    documents = [
        Document(one["content"], metadata=one["metadata"] | ({} if one["score"] is None else {"score": one["score"]}))
        for one in SHOWN
    ]

    assert chains.format_context(documents) == chains.format_context(SHOWN)
    assert chains.citation_metadata(documents) == chains.citation_metadata(SHOWN)
    assert chains.extract_citations("It is 9 % [GST Guide].", documents)[0]["title"] == "GST Guide"
    assert chains.process_citations(ANSWER, documents) == chains.process_citations(ANSWER, SHOWN)


def test_an_invented_title_alone_is_no_citation_and_with_a_section_it_is_unmatched():
    stats = [chains.process_citations(text, SHOWN)["stats"] for text in ("So [Invented].", "So [Invented > Rate].")]

    assert stats == [{"total": 0, "matched": 0, "unmatched": 0}, {"total": 1, "matched": 0, "unmatched": 1}]


def test_markers_are_found_with_their_places():
    found = chains.extract_citations(ANSWER)

    assert [(one["title"], one["section"], ANSWER[one["start"] : one["end"]]) for one in found] == [
        ("GST Guide", "Import GST", "[GST Guide > Import GST]"),
        ("Nothing", "Here", "[Nothing > Here]"),
        ("GST Guide", "Import GST", "[GST Guide > Import GST]"),
    ]


def test_with_passages_a_bare_title_and_a_number_are_markers_too():
    found = chains.extract_citations("It is 9 % [GST Guide]. A Form D proves it [2].", SHOWN)

    assert [one["raw"] for one in found] == ["[GST Guide]", "[2]"]


def test_citations_are_matched_counted_and_listed():
    processed = chains.process_citations(ANSWER, SHOWN)

    assert processed["stats"] == {"total": 3, "matched": 2, "unmatched": 1}
    assert processed["markdown"] == "1. [GST Guide > Import GST](https://example.org/a,b)"
    assert [source["url"] for source in processed["sources"]] == ["https://example.org/a,b"]
    assert processed["citations"][0]["quote"] in SHOWN[0]["content"]


def test_numbers_are_processed_in_the_other_style():
    processed = chains.process_citations("Import GST is 9 % [1].", SHOWN, style="numbered")

    assert [(one["number"], one["title"]) for one in processed["citations"]] == [(1, "GST Guide")]


def test_two_sections_of_a_title_are_two_citations_and_the_same_one_is_one():
    citations = chains.process_citations(ANSWER, SHOWN)["citations"]

    assert [(one["title"], one["section"]) for one in chains.deduplicate_citations(citations)] == [
        ("GST Guide", "Import GST"),
        ("Nothing", "Here"),
    ]


def test_confidence_needs_documents_citations_and_outcome_alone():
    citations = chains.process_citations(ANSWER, SHOWN)["citations"]
    state: Any = {"documents": SHOWN, "citations": citations, "outcome": "answered"}
    rated = chains.score_confidence(state)

    assert (rated["level"], rated["score"]) == ("High", 0.5)


def test_an_answer_is_generated_from_a_question_and_a_context():
    model = FakeListChatModel(responses=["9 %."])
    state: Any = {"question": "Rate?", "context": chains.format_context(SHOWN)}
    message = chains.generate(model).invoke(state)

    assert message.text == "9 %."


def test_metadata_for_citation_and_likeness_of_titles():
    assert chains.citation_metadata(SHOWN[:1])[0]["source_urls"] == ["https://example.org/a,b"]
    assert chains.similarity("GST guide", "GST Guide") == 1.0
    assert chains.dice("night", "nacht") == 0.25
