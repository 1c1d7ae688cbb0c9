"""The MARP service's context: numbered headers within a budget; where this project differs on purpose, why."""

import pytest

from chains.context import format_context
from chains.state import Passage
from tests.contract.recorded import recorded

DEVIATIONS = {
    "marp-050": "a chunk without words is not shown: there is nothing in it to cite",
    "marp-052": "separators count, and what is left of the budget shows the beginning of the next chunk",
    "marp-055": "0 is a value: a budget of no tokens shows nothing (MAX_CONTEXT_TOKENS has to be positive)",
    "marp-056": "question and context travel in messages of their own, not in one text",
}


def passage(chunk: dict) -> Passage:
    return Passage(content=chunk.get("text", ""), metadata=chunk, score=0.5)


@pytest.mark.parametrize("case", recorded("context"))
def test_the_context_is_what_the_contract_says(case):
    chunks = case["input"].get("chunks")
    if case["id"] in DEVIATIONS:
        pytest.xfail(DEVIATIONS[case["id"]])
    assert format_context([passage(chunk) for chunk in chunks], style="numbered")["text"] == case["expected"]


def test_twelve_long_chunks_fill_the_budget_and_never_pass_it():
    chunks = [passage({"title": "T", "page": 1, "text": "word " * 340}) for _ in range(12)]
    context = format_context(chunks, max_tokens=3500, style="numbered")

    assert len(context["passages"]) == 9
    assert 13_000 < len(context["text"]) <= 14_000
