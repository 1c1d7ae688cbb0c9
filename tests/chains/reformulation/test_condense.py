"""What a language model's reply has to be to be searched for; seed 003's own cases."""

import pytest
from langchain_core.language_models import FakeListChatModel

from chains.errors import ConfigurationError
from chains.history import Turn
from chains.reformulation import Condense, Reformulate
from tests.cases import cases
from tests.chains.gst import gst_chain

SAID = [Turn("user", "What is the exam policy of MARP?")]


USABLE = {
    "blanks and quotation marks around a reply are left out": [
        ("  'What is MARP?'  ", "Waht is it?", SAID, "What is MARP?"),
        *(
            (reply, "Waht is it?", SAID, reply)
            for reply in ('What is "MARP"?', "What is the academic registry of MARP?")
        ),
    ],
    "corrected words and abbreviations written out are on the subject": [
        (reply, question, [], reply)
        for reply, question in (
            ("What does a certificate of origin cost?", "coo cost?"),
            ("Certificate of origin?", "COO?"),
            ("What is the policy?", "waht is the polcy"),
        )
    ],
}


@pytest.mark.parametrize(("reply", "question", "said", "query"), cases(USABLE))
def test_a_reply_on_the_subject_is_the_query(reply, question, said, query):
    assert Condense(FakeListChatModel(responses=[""])).usable(reply, question, said) == query


def test_a_query_of_the_model_is_searched_for_and_the_prompt_keeps_the_users_words():
    condense = Condense(FakeListChatModel(responses=["What is X?"]))
    answer = gst_chain(reformulation=Reformulate(condense=condense, always=True)).invoke({"question": "Waht is X?"})

    assert answer["metadata"]["search_query"] == "What is X?"
    assert answer["metadata"]["query"] == answer["question"] == "Waht is X?"


class Failing(FakeListChatModel):
    """Fails in a way of its own."""

    def _call(self, *args: object, **kwargs: object) -> str:
        raise ZeroDivisionError


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_model_that_fails_leaves_the_users_words(way):
    chain = gst_chain(reformulation=Reformulate(condense=Condense(Failing(responses=[])), always=True))
    asked = {"question": "Waht is X?"}
    answer = chain.invoke(asked) if way == "invoke" else await chain.ainvoke(asked)

    assert answer["metadata"]["search_query"] == "Waht is X?"


@pytest.mark.parametrize("prompt", ["Rewrite it.", "{conversation", "{conversation} {tone}"])
def test_a_prompt_that_cannot_be_filled_is_refused(prompt):
    with pytest.raises(ConfigurationError, match=r"the prompt .*"):
        Condense(FakeListChatModel(responses=[]), prompt=prompt)
