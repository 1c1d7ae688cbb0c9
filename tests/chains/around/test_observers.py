from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda

from chains.around.observers import Call, ObservedRunnable
from chains.state import Question
from tests.chains.test_composition import called

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


def fail(state):
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

    await called(ObservedRunnable(RunnableLambda(echo), [notebook]), way, CONFIG, {"question": "x"})

    [(first, call), (second, same)] = notebook.pages
    assert (first, second) == ("started", "ended")
    assert call is same
    assert (call.question, call.metadata["request_id"]) == ({"question": "x"}, "r1")
    assert dict(call.answer or {}) == {"answer": "X", "outcome": "answered"}
    assert call.streamed == (way in {"stream", "astream"})


def test_the_pieces_of_a_stream_are_joined_and_a_replacement_is_the_answer():
    notebook = Notebook()
    chain = ObservedRunnable(RunnableLambda(lambda state: state) | _generator(), [notebook])

    list(chain.stream(Question(question="abc")))
    list(chain.stream(Question(question="bad")))

    assert [call.answer["answer"] for event, call in notebook.pages if event == "ended" and call.answer] == [
        "abc",
        "good",
    ]


def _generator():
    from langchain_core.runnables import RunnableGenerator

    return RunnableGenerator(parts)


def test_an_error_is_told_and_reaches_the_caller():
    notebook = Notebook()

    with pytest.raises(ZeroDivisionError):
        ObservedRunnable(RunnableLambda(fail), [notebook]).invoke(Question(question="x"))

    assert isinstance(notebook.pages[-1][1].error, ZeroDivisionError)
    assert notebook.pages[-1][1].answer is None


def test_a_stream_that_is_left_has_no_answer():
    notebook = Notebook()

    stream: Any = ObservedRunnable(_generator(), [notebook]).stream(Question(question="abc"))
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
