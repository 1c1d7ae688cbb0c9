import pytest
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever

from chains import build_chain
from chains.confidence import CompositeConfidence, Thresholds, WithoutFactors, without_confidence
from chains.errors import ConfigurationError


class Shelf(BaseRetriever):
    scores: list

    def _get_relevant_documents(self, query, *, run_manager):
        text = "Import GST in Singapore is 9 % of the CIF value."
        return [
            Document(
                f"{text} {number}", metadata={"title": "GST Guide"} | ({} if score == "absent" else {"score": score})
            )
            for number, score in enumerate(self.scores)
        ]


def confidence(*scores, answer="Import GST is 9 % of the CIF value [GST Guide].", **options):
    model = GenericFakeChatModel(messages=iter([AIMessage(answer)]))
    chain = build_chain(retriever=Shelf(scores=list(scores)), model=model, **options)
    return chain.invoke({"question": "Q?"})["confidence"]


@pytest.mark.parametrize("score", ["absent", None, "none", float("nan")])
def test_a_retriever_without_scores_gives_a_low_confidence_that_says_so(score):
    found = confidence(score, score, score)

    assert (found["level"], found["score"]) == ("Low", 0.0)
    assert found["reason"] == "The retriever gives no relevance scores"
    assert "average_score" not in found["factors"]


@pytest.mark.parametrize(
    ("scores", "level", "reason"),
    [
        ((0.5, 0.5, 0.5), "High", "3 relevant sources with 1 citation"),
        ((0.6, None, 0.5), "High", "3 relevant sources with 1 citation"),
        ((0.5, 0.5), "Medium", "2 sources found, average relevance 50%"),
        ((0.2, 0.2), "Low", "Low relevance scores (avg 20%)"),
        ((0.9,), "Low", "Only 1 source found"),
        (("0.5", 0.5, 0.5), "High", "3 relevant sources with 1 citation"),
    ],
)
def test_the_level_follows_the_number_of_chunks_and_their_average_score(scores, level, reason):
    found = confidence(*scores)

    assert (found["level"], found["reason"]) == (level, reason)


def test_the_composite_confidence_names_its_four_factors():
    found = confidence(0.9, 0.7, confidence=CompositeConfidence(top_k=4))

    assert found["factors"] == {"retrieval": 0.8, "relevance": 0.9, "coverage": 0.5, "answer_quality": 0.6}
    assert found["score"] == pytest.approx(0.35 * 0.8 + 0.3 * 0.9 + 0.15 * 0.5 + 0.2 * 0.6)
    assert (found["level"], found["reason"]) == ("medium", "highly relevant documents, incomplete context coverage")


def test_markers_do_not_make_an_answer_longer():
    marked = confidence(0.9, answer="It is 9 % [GST Guide].", confidence=CompositeConfidence())

    assert marked["factors"]["answer_quality"] == 0.3


@pytest.mark.parametrize(
    "answer", ["No source is marked here [Nowhere].", "I don\u2019t know that, sorry [GST Guide]."]
)
def test_no_answer_without_a_valid_citation_and_none_that_declines_is_high(answer):
    found = confidence(1.0, 1.0, 1.0, answer=answer, confidence=CompositeConfidence(top_k=3))

    assert found["level"] != "high"


def test_an_outcome_that_is_no_answer_has_no_composite_confidence():
    found = confidence(confidence=CompositeConfidence())

    assert (found["level"], found["score"]) == ("very_low", 0.0)
    assert found["reason"] == "No relevant documents found"


def test_may_is_a_month_and_may_is_a_doubt():
    quality = [
        confidence(0.9, answer=f"{words} in the customs office [GST Guide].", confidence=CompositeConfidence())[
            "factors"
        ]["answer_quality"]
        for words in ("The form is due on 1 May, as it was last year,", "The form may be due, as it was last year,")
    ]
    assert quality == [1.0, 0.85]


@pytest.mark.parametrize("bounds", [(0.6, 0.4, 0.8), (0.4, 0.6, 1.2), (0.5, 0.5, 0.8)])
def test_thresholds_out_of_order_are_refused(bounds):
    with pytest.raises(ConfigurationError, match="in order"):
        Thresholds(*bounds)


def test_the_thresholds_are_the_least_scores_of_the_levels():
    levels = Thresholds(0.1, 0.2, 0.3)

    assert [levels.level(score) for score in (0.09, 0.1, 0.2, 0.3)] == ["very_low", "low", "medium", "high"]


def test_factors_can_be_kept_out_and_confidence_turned_off():
    kept = confidence(0.9, confidence=WithoutFactors(CompositeConfidence()))
    off = confidence(0.9, confidence=without_confidence)

    assert (kept["factors"], kept["level"]) == ({}, "medium")
    assert off == {"level": "unknown", "score": 0.0, "reason": "Confidence is turned off", "factors": {}}
