"""What stands around a chain: wrappers, disclosure, observers, and steps beside the answer."""

import pickle
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig, RunnableGenerator, RunnableLambda, RunnablePassthrough

from chains import side_steps
from chains.around import Around, Call, Disclosure, ObservedRunnable
from chains.citations import cite
from chains.errors import WaypointError
from chains.output import AnswerChunk, merge
from chains.side_steps import counts, keep_faults, side_step
from chains.state import Question
from tests.chains.gst import ANSWER, QUESTION, gst_chain
from tests.streams import asked, every_way


class Louder(Around):
    def before(self, question: Any, config: RunnableConfig | None) -> Any:
        return {**question, "question": question["question"] + "!"}

    def shown(self, part: Any, config: RunnableConfig | None) -> Any:
        return AnswerChunk({**part, "answer": part["answer"].upper()}) if "answer" in part else part


@every_way
async def test_the_question_and_each_part_of_the_answer_are_changed_whichever_way_is_asked(way):
    answer = await asked(Louder(gst_chain()), way)
    answer = answer[0] if isinstance(answer, list) else answer

    assert answer["question"] == QUESTION["question"] + "!"
    assert answer["answer"] == ANSWER.upper()


def test_schemas_and_graph_are_those_of_the_chain():
    chain = gst_chain()

    assert Around(chain).get_input_jsonschema() == chain.get_input_jsonschema()
    assert Around(chain).get_output_jsonschema() == chain.get_output_jsonschema()
    assert Around(chain).get_graph().draw_mermaid() == chain.get_graph().draw_mermaid()


def test_it_is_pickled_where_the_chain_can_be():
    around = pickle.loads(pickle.dumps(Louder(RunnablePassthrough())))  # noqa: S301 - written on this line.

    assert around.invoke({"question": "Rate?"}) == {"question": "Rate?!"}


PARTS: list[dict[str, Any]] = [
    {"question": "Q", "answer": "Nine "},
    {"answer": "percent."},
    {"confidence": {"level": "high", "score": 0.9, "reason": "R", "factors": {"best": 0.9}}},
    {"metadata": {"query": "Q", "latency_ms": 5.0, "timings_ms": {"retrieval": 2.0}}},
]
STRANGER: RunnableConfig = {"configurable": {"audience": "public"}}
STAFF: RunnableConfig = {"configurable": {"audience": "internal"}}


def chain() -> Disclosure:
    def parts(_):
        yield from map(AnswerChunk, PARTS)

    async def aparts(_):
        for part in PARTS:
            yield AnswerChunk(part)

    return Disclosure(RunnableGenerator(parts, aparts))


@every_way
async def test_a_stranger_sees_level_score_and_reason_but_neither_factors_nor_laps(way):
    answer = await asked(chain(), way, {}, STRANGER)

    assert answer["confidence"] == {"level": "high", "score": 0.9, "reason": "R", "factors": {}}
    assert answer["metadata"] == {"query": "Q", "latency_ms": 5.0, "timings_ms": {}}
    assert (answer["question"], answer["answer"]) == ("Q", "Nine percent.")


def test_the_staff_sees_all_as_does_a_call_without_an_audience():
    assert chain().invoke({}, STAFF) == chain().invoke({}) == merge(PARTS)


CONFIG = {"metadata": {"request_id": "r1"}}


class Notebook:
    def __init__(self) -> None:
        self.pages: list[tuple[str, Call]] = []

    def started(self, call: Call) -> None:
        self.pages.append(("started", call))

    def ended(self, call: Call) -> None:
        self.pages.append(("ended", call))


def echo(state):
    return {"answer": state["question"].upper(), "outcome": "answered"}


def fail(*_: object) -> None:
    raise ZeroDivisionError


def parts(states):
    for state in states:
        yield {"outcome": "answered"}
        for letter in state["question"]:
            yield {"answer": letter}
        if state["question"] == "bad":
            yield {"replacement": "good"}


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch", "stream", "astream"])
async def test_an_observer_is_told_of_the_beginning_and_the_end_of_every_call(way):
    notebook = Notebook()

    await asked(ObservedRunnable(RunnableLambda(echo), [notebook]), way, {"question": "x"}, CONFIG)

    [(first, call), (second, same)] = notebook.pages
    assert (first, second) == ("started", "ended")
    assert call is same
    assert (call.question, call.metadata["request_id"]) == ({"question": "x"}, "r1")
    assert dict(call.answer or {}) == {"answer": "X", "outcome": "answered"}
    assert call.streamed == (way in {"stream", "astream"})


def test_the_pieces_of_a_stream_are_joined_and_a_replacement_is_the_answer():
    notebook = Notebook()
    chain = ObservedRunnable(RunnableLambda(lambda state: state) | RunnableGenerator(parts), [notebook])

    list(chain.stream(Question(question="abc")))
    list(chain.stream(Question(question="bad")))

    told = [call.answer["answer"] for event, call in notebook.pages if event == "ended" and call.answer]
    assert told == ["abc", "good"]


def test_an_error_is_told_and_reaches_the_caller():
    notebook = Notebook()

    with pytest.raises(ZeroDivisionError):
        ObservedRunnable(RunnableLambda(fail), [notebook]).invoke(Question(question="x"))

    assert isinstance(notebook.pages[-1][1].error, ZeroDivisionError)
    assert notebook.pages[-1][1].answer is None


def test_a_stream_that_is_left_has_no_answer():
    notebook = Notebook()

    stream: Any = ObservedRunnable(RunnableGenerator(parts), [notebook]).stream(Question(question="abc"))
    next(stream)
    stream.close()

    assert isinstance(notebook.pages[-1][1].error, GeneratorExit)


def test_an_observer_that_breaks_breaks_nothing(capsys, caplog):
    class Broken(Notebook):
        def ended(self, call: Call) -> None:
            raise ValueError

    notebook = Notebook()
    assert ObservedRunnable(RunnableLambda(echo), [Broken(), notebook]).invoke(Question(question="x"))["answer"] == "X"
    assert len(notebook.pages) == 2
    assert "side_step_failed" in capsys.readouterr().out + caplog.text


@pytest.fixture(autouse=True)
def _none_kept(monkeypatch):
    monkeypatch.setattr(side_steps, "_keepers", [])


def test_a_fault_is_logged_counted_and_kept_with_its_place_and_without_words_of_documents(capsys, caplog):
    kept: list[tuple[str, str]] = []
    keep_faults(lambda step, reason: kept.append((step, reason)))
    before, words, locked = counts["recall"], "the salary of Ms Tan", "the log is locked"

    with side_step("recall"):
        raise KeyError(words)
    with side_step("recall"):
        raise WaypointError(locked)

    assert counts["recall"] == before + 2
    assert [reason.partition(":")[0] for _, reason in kept] == ["KeyError at test_around.py", locked]
    logged = capsys.readouterr().out + caplog.text
    assert ("side_step_failed" in logged, "salary" in logged) == (True, False)


@pytest.mark.parametrize(
    ("step", "question", "outcome"),
    [("find_disagreements", "Rate?", "answered"), ("closest_of", "Which pizza is the best in Rome?", "ungrounded")],
)
def test_an_answer_stands_though_what_looks_beside_it_fails(monkeypatch, step, question, outcome):
    monkeypatch.setattr(cite, step, fail)
    answer = "Elephants are grey." if outcome == "ungrounded" else "It is 9% [GST Guide > Rate]."

    found = gst_chain(answer).invoke(QUESTION | {"question": question})

    assert (found["outcome"], found["closest"]) == (outcome, [])
