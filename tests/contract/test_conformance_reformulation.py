"""The MARP service's reformulation: what becomes of the model's reply, and of its failure."""

from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import BaseMessage

from chains.reformulation import Condense, Reformulate
from tests.chains.gst import ANSWER, gst_chain, noting
from tests.contract.recorded import recorded
from tests.prompted import asked as without_reminder


class Scripted(FakeListChatModel):
    """Replies as the case says, or fails."""

    error: str | None = None

    def _call(self, *args: Any, **kwargs: Any) -> str:
        if self.error:
            raise ConnectionError(self.error)
        return str(super()._call(*args, **kwargs))


def asked(query: str, reply: str, error: str | None = None) -> tuple[Any, list[BaseMessage]]:
    """Return the answer to a question that is always reformulated, and the prompt of the answer."""
    condense = Condense(Scripted(responses=[reply], error=error))
    model = noting(ANSWER)
    reformulation = Reformulate(condense=condense, always=True)
    answer = gst_chain(model=model, reformulation=reformulation).invoke({"question": query})
    return answer, model.asked[0]


@pytest.mark.parametrize("case", recorded("reformulation"))
def test_a_reply_is_used_as_the_service_used_it(case):
    given, expected = case["input"], case["expected"]
    if "error" in given:
        answer, _ = asked("orig", "", error=given["error"])
        assert answer["metadata"]["search_query"] == expected
    elif "llm_output" in given:
        answer, _ = asked("Waht is MARP?", given["llm_output"])
        assert answer["metadata"]["search_query"] == expected
    else:
        answer, prompt = asked(given["query"], given["reformulated"])
        told = {
            "search_query": answer["metadata"]["search_query"],
            "prompt_question": without_reminder(prompt[-1].text),
            "response_query": answer["question"],
        }
        assert told == expected
