"""What stands around a chain changes questions and answers, and nothing else of the chain."""

import pickle
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnablePassthrough

from chains.around.runnable import Around
from chains.output import AnswerChunk
from tests.chains.gst import ANSWER, QUESTION, gst_chain
from tests.chains.test_composition import called, every_way


class Louder(Around):
    def before(self, question: Any, config: RunnableConfig | None) -> Any:
        return {**question, "question": question["question"] + "!"}

    def shown(self, part: Any, config: RunnableConfig | None) -> Any:
        return AnswerChunk({**part, "answer": part["answer"].upper()}) if "answer" in part else part


@every_way
async def test_the_question_and_each_part_of_the_answer_are_changed_whichever_way_is_asked(way):
    answer = await called(Louder(gst_chain()), way)
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
