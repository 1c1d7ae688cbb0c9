"""The confidence of the LCEL chatbot: its recorded cases, on ours."""

from typing import Any

import pytest
from langchain_core.documents import Document

from chains.confidence import Thresholds
from chains.confidence.composite import composite, explanation, factors
from chains.retrieval.passages import passage
from tests.contract.recorded import recorded


def cases(field: str) -> list[Any]:
    return [row for row in recorded("confidence") if row.values[0] is None or field in row.values[0]["input"]]


@pytest.mark.parametrize("case", cases("similarityScores"))
def test_the_composite_score_level_factors_and_explanation_are_the_expected_ones(case):
    given, expected = case["input"], case["expected"]

    found = factors(given["similarityScores"], given["documentCount"], given["topK"], given["answerText"])
    wanted = {{"answerQuality": "answer_quality"}.get(name, name): value for name, value in expected["factors"].items()}
    assert found == pytest.approx(wanted)
    assert composite(found) == pytest.approx(expected["overall"])
    assert Thresholds().level(composite(found)) == expected["level"]
    assert explanation(found) == expected["explanation"]


@pytest.mark.parametrize("case", cases("metadata"))
def test_a_similarity_is_read_from_each_name_that_retrievers_give_it(case):
    assert passage(Document("text", metadata=case["input"]["metadata"]))["score"] == pytest.approx(case["expected"])


@pytest.mark.parametrize("case", cases("distances"))
def test_distant_documents_rate_lower_than_near_ones(case):
    def rated(distances: list[float]) -> float:
        return composite(factors([1 - one for one in distances], len(distances), case["input"]["topK"], "It renews."))

    assert rated(case["input"]["distances"]) < rated([0.2, 0.9])
    assert Thresholds().level(rated(case["input"]["distances"])) != "high"
