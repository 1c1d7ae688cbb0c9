"""The figures of `waypoint eval` as evaluators: by langsmith's own `evaluate` on loopback, and as plain functions."""

import inspect
from collections.abc import Iterator

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import Runnable
from langsmith import Client, evaluate

from chains import build_chain
from evals.evaluators import EVALUATORS, FIGURES, citation_precision, declined, right
from evals.experiment import example_of, scores_of
from evals.questions import case_of
from evals.rows import ask
from tests.langsmith_stub import Backend, backend

SHELF = [
    Document("The rate of GST is 9 %.", metadata={"title": "GST Guide", "doc_id": "gst"}),
    Document("The fee of the port is 4 dollars.", metadata={"title": "Port", "doc_id": "port"}),
]
CASES = [
    case_of(
        {
            "id": "rate",
            "question": "What is the rate of GST?",
            "gold": [{"doc_id": "gst", "evidence": "GST is 9 %"}],
            "answer_facts": ["9 %", "5 dollars"],
        }
    ),
    case_of({"id": "moon", "question": "What is the rate of GST on the moon?", "kind": "uncovered"}),
]


def chain() -> Runnable:
    model = FakeListChatModel(responses=["It is 9 % [GST Guide]. The fee of the port is 4 dollars [Port]."])
    return build_chain(retriever=lambda _: SHELF, model=model)


@pytest.fixture
def langsmith() -> Iterator[Backend]:
    with backend() as stub:
        yield stub


def test_langsmiths_own_evaluate_takes_them(langsmith) -> None:
    client = Client(langsmith.url, api_key="lsv2_key")
    dataset = client.create_dataset("desk")
    examples = [dict(example_of(case)) for case in CASES]
    renamed = [{"reference_outputs": one.pop("outputs"), **one} for one in examples]
    client.create_examples(dataset_id=dataset.id, examples=renamed)
    results = evaluate(
        chain().invoke, data="desk", evaluators=list(EVALUATORS), client=client, max_concurrency=0, blocking=True
    )
    scored = {
        (result["example"].inputs or {})["question"]: {
            one.key: one.score for one in result["evaluation_results"]["results"] if one.score is not None
        }
        for result in results
    }

    assert scored == {case.question: scores_of(case, ask(chain(), case)) for case in CASES}
    assert scored[CASES[0].question]["fact_coverage"] == 0.5


def test_a_test_of_ones_own_needs_only_the_answer_and_what_it_is_held_to() -> None:
    answer = chain().invoke({"question": "What is the rate of GST?"})

    assert right(answer, {"answer_facts": ["9 %"]}) == {"key": "right", "score": 1}
    assert right(answer, {"answer_facts": ["8 %"]})["score"] == 0
    assert right(answer, {"kind": "uncovered"})["score"] == 0
    assert right(answer)["score"] is None
    assert citation_precision(answer, {"gold": [{"doc_id": "port"}]})["score"] == 0.5
    assert declined(answer)["score"] == 0


def test_a_reference_that_does_not_fit_is_refused_by_its_field() -> None:
    answer = chain().invoke({"question": "What is the rate of GST?"})

    with pytest.raises(ValueError, match="answer_facts must be a list of texts"):
        right(answer, {"answer_facts": "9 %"})


def test_every_figure_has_an_evaluator_of_its_name() -> None:
    assert {one.__name__ for one in EVALUATORS if inspect.isfunction(one)} == set(FIGURES)
