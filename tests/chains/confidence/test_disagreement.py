"""Two documents that give two figures for one thing: the confidence falls, and its reason names both."""

from typing import Any

import pytest
from langchain_core.documents import Document

from chains.confidence import CalibratedConfidence, CompositeConfidence, score_confidence
from tests.chains.gst import Shelf, gst_chain

ONE_SUBJECT = [
    ("The warehouse closes at 18:00.", "The warehouse closes at 20:00.", "18:00 and 20:00"),
    ("The rate of GST on imports is 9 %.", "GST on imports is charged at a rate of 7 %.", "9 % and 7 %"),
    ("An export permit is valid for 14 days.", "Export permits are valid for 21 days.", "14 days and 21 days"),
    (
        "The penalty for a late declaration is S$500.",
        "A late declaration carries a penalty of S$1,000.",
        "S$500 and S$1,000",
    ),
    (
        "Customs records are kept for five years.",
        "Customs records have to be kept for seven years.",
        "five years and seven years",
    ),
]
ANOTHER_SUBJECT = [
    ("An ordinary certificate costs S$40.", "A preferential certificate costs S$60."),
    ("An export permit is valid for 14 days.", "An import permit is valid for 30 days."),
    ("The VAT rate in Thailand is 7 %.", "The VAT rate in Vietnam is 10 %."),
    ("Storage is free for 3 days.", "Demurrage is free for 5 days."),
    ("The rate of GST on imports is 9 %.", "The rate of GST on imports was set in 2007."),
    ("The rate of GST on imports is 9 %.", "The rate of GST on imports is 9 %, and was 7 % before."),
    ("The rate of GST on imports is 9 %.", "The rate of GST on imports is about 10 %."),
    ("The rate of GST on imports is 9 %.", "The rate of GST on imports is in step 7."),
    ("It is 9 %.", "It is 7 %."),
]
TITLES = ("Desk guide", "Price list", "Notes")
STRATEGIES = [CalibratedConfidence(), CompositeConfidence(), score_confidence]


def shelf(*texts: str, **metadata: Any) -> Shelf:
    documents = [
        Document(text, metadata={"title": title, "doc_id": title, "score": 0.9} | metadata)
        for title, text in zip(TITLES, [*texts, "Nothing of that."], strict=True)
    ]
    return Shelf(documents=documents)


def confidence(first: str, second: str, strategy: Any = score_confidence, **metadata: Any) -> Any:
    chain = gst_chain(f"{first[:-1]} [1].", retriever=shelf(first, second, **metadata), confidence=strategy)
    answer = chain.invoke({"question": f"Is it so? {first}"})
    assert answer["outcome"] == "answered"
    return answer["confidence"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("first", "second", "figures"), ONE_SUBJECT)
def test_sources_that_disagree_hold_the_confidence_at_medium_and_both_are_named(first, second, figures, strategy):
    sure, unsure = confidence(first, first, strategy), confidence(first, second, strategy)

    one, other = figures.split(" and ")
    assert unsure["reason"] == f"The sources disagree: {one} (Desk guide) and {other} (Price list); check them"
    assert (sure["level"].lower(), unsure["level"].lower()) in {("high", "medium"), ("medium", "medium")}
    assert unsure["score"] <= sure["score"]


@pytest.mark.parametrize(("first", "second"), ANOTHER_SUBJECT)
def test_a_figure_of_something_else_is_no_disagreement(first, second):
    assert "disagree" not in confidence(first, second)["reason"]


def test_two_figures_within_one_document_are_no_disagreement():
    first, second, _ = ONE_SUBJECT[1]

    assert "disagree" not in confidence(first, second, doc_id="guide")["reason"]


def test_a_heading_says_what_a_statement_is_about():
    texts = ("The rate is 9 % of the customs value.", "The rate is 7 % of the customs value.")

    assert "disagree" in confidence(*texts, section="Import GST")["reason"]


def test_a_row_of_a_table_may_disagree_with_a_sentence():
    row = "| Tax | Rate |\n|---|---|\n| GST on imports | 7 % |"

    assert "9 % (Desk guide) and 7 % (Price list)" in confidence("The rate of GST on imports is 9 %.", row)["reason"]


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("The head office of Maersk is in Copenhagen.", "The head office of Maersk is in Oslo.", "Copenhagen"),
        (
            "The new GST rate applies from 1 January 2024.",
            "The new GST rate applies from 1 July 2024.",
            "1 January 2024",
        ),
    ],
)
def test_names_and_dates_disagree_like_figures(first, second, told):
    assert f"The sources disagree: {told} (Desk guide)" in confidence(first, second)["reason"]


def test_of_two_statements_that_answer_the_question_one_may_say_more():
    sure = "GST on imports into Singapore is 9 % of the CIF value plus any duty."
    chain = gst_chain(f"{sure[:-1]} [1].", retriever=shelf(sure, "GST on imports is 8 %."), confidence=score_confidence)

    assert (
        "9 % (Desk guide) and 8 %"
        in chain.invoke({"question": "How high is the GST on imports?"})["confidence"]["reason"]
    )
    assert "disagree" not in chain.invoke({"question": "What is a carnet?"})["confidence"]["reason"]
