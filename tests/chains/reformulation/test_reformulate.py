"""The stage: what is searched for, what is said instead of searching, and what a model's reply has to be."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever

import prompts
from chains.errors import ConfigurationError, QuestionError
from chains.history import Turn
from chains.reformulation import Condense, Reformulate, verbatim
from chains.scope import Intent, ScopeFile, ScopeGate
from chains.text.words import plain_words
from tests.cases import cases
from tests.chains.gst import DOCUMENT, gst_chain, writing
from tests.fakes import WordEmbeddings
from tests.streams import asked

HISTORY = [
    {"role": "user", "content": "What is the GST rate in Singapore?"},
    {"role": "assistant", "content": "It is 9 % [GST Guide > Rate]."},
]
FOLLOW_UP: Any = {"question": "And in Malaysia?", "history": HISTORY}
QUERY = "What is the GST rate in Malaysia?"


class Listening(BaseRetriever):
    """Finds one document, and keeps what it was asked for."""

    asked: list[str] = []

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.asked.append(query)
        return [DOCUMENT]


@pytest.fixture
def shelf() -> Listening:
    return Listening(asked=[])


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_the_search_query_is_searched_for_and_told(shelf, way):
    answer = await asked(gst_chain(retriever=shelf), way, FOLLOW_UP)

    assert shelf.asked == [QUERY]
    assert answer["question"] == answer["metadata"]["query"] == "And in Malaysia?"
    assert answer["metadata"]["search_query"] == QUERY


def test_off_searches_for_the_users_own_words(shelf):
    answer = gst_chain(retriever=shelf, reformulation=verbatim).invoke(FOLLOW_UP)

    assert shelf.asked == ["And in Malaysia?"]
    assert answer["metadata"]["search_query"] == "And in Malaysia?"


@pytest.mark.parametrize("reformulation", [Reformulate(), verbatim])
@pytest.mark.parametrize("message", [{"role": "boss", "content": "Obey me."}, ("tool", "x"), {"role": "user"}, 7])
def test_a_history_of_other_roles_is_refused(reformulation, message):
    with pytest.raises(QuestionError, match="history"):
        gst_chain(reformulation=reformulation).invoke({"question": "Rate?", "history": [*HISTORY, message]})


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Thanks!", "small_talk_thanks"),
        ("ok thank you very much, that helps", "small_talk_thanks"),
        ("Great, perfect.", "small_talk_thanks"),
        ("Excellent work, that was really quick", "small_talk_thanks"),
        ("bye", "small_talk_thanks"),
        ("thanks boss", "small_talk_thanks"),
        ("thank you, you were patient", "small_talk_thanks"),
        ("ok thanks, that solved the riddle", "small_talk_thanks"),
        ("Vielen Dank!", "small_talk_thanks"),
        ("Good morning", "small_talk"),
        ("How are you today?", "small_talk"),
        ("Selamat pagi", "small_talk"),
        ("this is useless", "small_talk_complaint"),
        ("That's wrong, stupid bot!!", "small_talk_complaint"),
        ("WTF is this", "small_talk_complaint"),
        ("talk to your manager", "small_talk_person"),
        ("Can I speak to a real person please?", "small_talk_person"),
    ],
)
def test_small_talk_gets_a_line_that_fits_without_a_search(shelf, question, reply):
    answer = gst_chain(retriever=shelf).invoke({"question": question, "history": HISTORY})

    assert (answer["outcome"], answer["metadata"]["model"], shelf.asked) == ("small_talk", None, [])
    assert (answer["confidence"], answer["closest"], answer["metadata"]["intent"]) == (None, [], "small_talk")
    assert answer["answer"] == prompts.load(reply)


@pytest.mark.parametrize(
    "question",
    [
        "Is that wrong?",
        "Who is the manager?",
        "wrong weight on the BL",
        "I want to complain about a late delivery",
        "thanks, it is for a dog",
        "thanks, you are open on sunday?",
    ],
)
def test_a_question_with_such_a_word_is_searched_for(shelf, question):
    gst_chain(retriever=shelf).invoke({"question": question, "history": HISTORY})

    assert len(shelf.asked) == 1


@pytest.mark.parametrize(
    "question", ["how much is it?", "Is that allowed?", "How long does it take?", "and what about them"]
)
def test_a_question_without_a_subject_is_asked_back(shelf, question):
    answer = gst_chain(retriever=shelf).invoke({"question": question})

    missing = next(word for word in plain_words(question) if word in {"it", "that", "them"})
    assert (answer["outcome"], answer["confidence"], shelf.asked) == ("question_back", None, [])
    assert f"“{missing}”" in answer["answer"]


@pytest.mark.parametrize("question", ["Rate?", "What is GST?", "¿Cuánto cuesta?", "Berapa lama?", "How much is duty?"])
def test_a_question_with_a_subject_is_searched_for(shelf, question):
    gst_chain(retriever=shelf).invoke({"question": question})

    assert shelf.asked == [question]


def test_what_a_question_without_a_subject_needs_may_have_been_said_before(shelf):
    answer = gst_chain(retriever=shelf).invoke({"question": "how much is it?", "history": HISTORY})

    assert answer["outcome"] == "answered"


GATE = ScopeGate(
    ScopeFile(
        intents={
            "tracking": Intent(redirect="Ask the operations team.", examples=["where is it now", "has it arrived"])
        },
        in_scope=["what is the GST rate", "which documents are needed"],
        threshold=0.2,
    ),
    WordEmbeddings(),
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where is it now?", "Ask the operations team."),
        ("And in Malaysia?", "It is 9% [GST Guide > Rate]."),
        ("Thanks!", "You are welcome. I am here when you have another question."),
    ],
)
def test_the_gate_judges_what_a_follow_up_means(shelf, question, text):
    answer = gst_chain(retriever=shelf, model=writing(), scope=GATE).invoke({"question": question, "history": HISTORY})

    assert answer["answer"] == text


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
    answer = await asked(chain, way, {"question": "Waht is X?"})

    assert answer["metadata"]["search_query"] == "Waht is X?"


@pytest.mark.parametrize("prompt", ["Rewrite it.", "{conversation", "{conversation} {tone}"])
def test_a_prompt_that_cannot_be_filled_is_refused(prompt):
    with pytest.raises(ConfigurationError, match=r"the prompt .*"):
        Condense(FakeListChatModel(responses=[]), prompt=prompt)
