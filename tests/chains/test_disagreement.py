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
    ("The rate of GST on imports is 9 %.", "| GST on imports | rate |\n|---|---|\n| GST on imports | rate 7 % |"),
    ("The rate of GST on imports is 9 %.", "The rate of GST on imports is in step 7."),
    ("It is 9 %.", "It is 7 %."),
]
STRATEGIES = [CalibratedConfidence(), CompositeConfidence(), score_confidence]


def shelf(*texts: str, **metadata: Any) -> Shelf:
    documents = [
        Document(text, metadata={"title": f"Guide {n}", "doc_id": f"guide_{n}", "score": 0.9} | metadata)
        for n, text in enumerate([*texts, "Nothing of that."], start=1)
    ]
    return Shelf(documents=documents)


def confidence(first: str, second: str, strategy: Any = score_confidence, **metadata: Any) -> Any:
    chain = gst_chain(f"{first[:-1]} [1].", retriever=shelf(first, second, **metadata), confidence=strategy)
    answer = chain.invoke({"question": f"Is it so? {first}"})
    assert answer["outcome"] == "answered"
    return answer["confidence"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("first", "second", "figures"), ONE_SUBJECT)
def test_sources_that_disagree_lower_the_confidence_and_both_figures_are_named(first, second, figures, strategy):
    sure, unsure = confidence(first, first, strategy), confidence(first, second, strategy)

    assert unsure["reason"] == f"The sources disagree: {figures}; check them"
    assert unsure["level"].lower() in {"low", "very_low"}
    assert unsure["score"] < sure["score"]


@pytest.mark.parametrize(("first", "second"), ANOTHER_SUBJECT)
def test_a_figure_of_something_else_is_no_disagreement(first, second):
    assert "disagree" not in confidence(first, second)["reason"]


def test_two_figures_within_one_document_are_no_disagreement():
    first, second, _ = ONE_SUBJECT[1]

    assert "disagree" not in confidence(first, second, doc_id="guide")["reason"]


def test_a_heading_says_what_a_statement_is_about():
    texts = ("The rate is 9 % of the value.", "The rate is 7 % of the value.")

    assert "disagree" in confidence(*texts)["reason"]
