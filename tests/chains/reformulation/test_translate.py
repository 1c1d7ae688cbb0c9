"""Questions in a language that the documents are not in are searched for, and answered, in English."""

from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

import prompts
from app.wings.safety.pii import redact
from chains.reformulation import Condense, Foreign, Reformulate, Translate
from chains.text.words import plain_words
from tests.chains.gst import gst_chain
from tests.streams import asked

ENGLISH = frozenset(plain_words("how what is the rate of gst and for import export in a does it also apply thank you"))
HELD = frozenset(plain_words("gst singapore tarif dokumen"))
THANKS = ("Terima kasih!", "Merci beaucoup pour tout !")
FOREIGN = Foreign(is_english=ENGLISH.__contains__, is_held=lambda word, _: word in HELD)
QUESTION = "Berapa tarif GST untuk barang impor?"


class Translator(FakeListChatModel):
    """Replies with what is given, and notes what it was asked."""

    asked: list[Any] = []

    def _call(self, messages: Any, *args: Any, **kwargs: Any) -> str:
        self.asked.append(messages)
        return super()._call(messages, *args, **kwargs)

    def _stream(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.asked.append(messages)
        return super()._stream(messages, *args, **kwargs)

    async def _astream(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.asked.append(messages)
        async for piece in super()._astream(messages, *args, **kwargs):
            yield piece


def reformulate(*replies: str, **options: Any) -> tuple[Reformulate, Translator]:
    model = Translator(responses=list(replies) or ["unasked"])
    return Reformulate(is_foreign=FOREIGN, translate=Translate(model, is_foreign=FOREIGN, **options)), model


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_question_in_another_language_is_searched_for_in_english(way):
    reformulation, model = reformulate("'What is the rate of GST for import?'")
    found = await asked(reformulation, way, {"question": QUESTION})

    assert found["search_query"] == found["translation"] == "What is the rate of GST for import?"
    assert model.asked[0][-1].text.endswith(QUESTION)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_personal_data_leaves_the_translation_as_it_leaves_a_question(way):
    model = Translator(responses=["What is the rate of GST for a@b.example?"])
    translate = Translate(model, is_foreign=FOREIGN)
    reformulation = Reformulate(is_foreign=FOREIGN, translate=translate, clean=redact)
    found = await asked(reformulation, way, {"question": QUESTION})

    assert found["search_query"] == found["translation"] == "What is the rate of GST for <EMAIL>?"
    assert found["translation_redacted"] == ["EMAIL"]


@pytest.mark.parametrize(
    "question",
    [
        "What is the rate of GST in Batam?",  # English, but for a name.
        "Tarif GST Singapore?",  # The documents hold its words.
        "zzyzx",  # It may be a name.
        "GST 9 %?",
        "12345?",
    ],
)
def test_a_question_in_a_known_language_is_not_translated(question):
    reformulation, model = reformulate()

    assert "translation" not in reformulation.invoke({"question": question})
    assert model.asked == []


def test_a_word_in_another_script_is_no_name():
    assert reformulate("What is GST?")[0].invoke({"question": "海运税"})["translation"] == "What is GST?"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        QUESTION,  # It is still in the other language.
        "It is 9 % [1].",
        "What is it?\n\nThe rate of GST is 9 %.",
        "what is the rate of gst " * 20,
    ],
)
def test_a_reply_that_is_no_question_in_english_leaves_the_users_words(reply):
    found = reformulate(reply)[0].invoke({"question": QUESTION})

    assert found == {"search_query": QUESTION, "scope": None, "foreign": True}


def test_thanks_are_answered_in_every_language_and_those_that_are_known_ask_no_model():
    reformulation, model = reformulate("Thank you")

    known, other = (reformulation.invoke({"question": thanks})["scope"] for thanks in THANKS)

    assert [known and known["intent"], other and other["intent"]] == ["small_talk", "small_talk"]
    assert len(model.asked) == 1


def test_a_follow_up_is_completed_after_its_translation():
    history = [{"role": "user", "content": "What is the rate of GST?"}, {"role": "assistant", "content": "9 %."}]
    reformulation, model = reformulate("Does it also apply in Singapore?")
    found = reformulation.invoke({"question": "Apakah berlaku juga?", "history": history})

    assert found["translation"] == "Does it also apply in Singapore?"
    assert "GST" in found["search_query"]
    assert "user: What is the rate of GST?\nassistant: 9 %." in model.asked[0][0].text


def test_the_questions_of_a_message_are_parts_of_its_translation():
    reformulation, _ = reformulate("What is the rate of GST? What is the rate for export?")
    found = reformulation.invoke({"question": "Berapa tarifnya? Dan untuk ekspor?"})

    assert [part["question"] for part in found["parts"]] == ["What is the rate of GST?", "What is the rate for export?"]


def test_where_no_translation_comes_a_follow_up_is_condensed_as_before():
    condense = Condense(FakeListChatModel(responses=["Berapa tarif GST untuk ekspor?"]))
    translate = Translate(FakeListChatModel(responses=[""]), is_foreign=FOREIGN)
    history = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "9 %."}]
    reformulation = Reformulate(condense=condense, is_foreign=FOREIGN, translate=translate)
    found = reformulation.invoke({"question": "Dan untuk ekspor bagaimana?", "history": history})

    assert found == {"search_query": "Berapa tarif GST untuk ekspor?", "scope": None, "foreign": True}


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_the_answer_is_to_the_translation_and_the_user_reads_the_own_question(way):
    reformulation, _ = reformulate("What is the rate of GST?")
    model = Translator(responses=["The rate of GST is 9%. [GST Guide > Rate]"])
    answer = await asked(
        gst_chain(model=model, reformulation=reformulation, unread=prompts.load("unread")),
        way,
        {"question": QUESTION, "language": "id"},
    )

    assert answer["outcome"] == "answered"
    assert answer["metadata"]["query"] == QUESTION
    assert answer["metadata"]["search_query"] == "What is the rate of GST?"
    assert [one[-1].text.partition("\n")[0] for one in model.asked] == ["What is the rate of GST?"]


def test_the_documents_that_an_asker_may_not_see_know_no_word():
    seen: list[Any] = []

    def is_held(_word: str, config: Any) -> bool:
        seen.append(config)
        return False

    foreign = Foreign(is_english=ENGLISH.__contains__, is_held=is_held)
    Reformulate(is_foreign=foreign).invoke({"question": QUESTION}, {"configurable": {"audience": "public"}})

    assert {config["configurable"]["audience"] for config in seen} == {"public"}
