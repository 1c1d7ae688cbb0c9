"""The checked answer in the language of a question that was put into English, beside the English one."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from chains.answer_translation import TranslateAnswer
from chains.stage import stage
from chains.text.words import plain_words
from tests.chains.gst import gst_chain, noting
from tests.streams import asked

QUESTION: Any = {"question": "Berapa tarif GST?"}
ANSWER = "The rate of GST is 9.5 %, says tax@gov.example [GST Guide > Rate]."
TRANSLATION = "Tarif GST adalah 9,5 %, kata tax@gov.example."
ENGLISH = frozenset(plain_words(ANSWER))


def reads_english(text: str) -> bool:
    return set(plain_words(text)) <= ENGLISH


def translate(reply: Any, **state: Any) -> Any:
    model = noting(reply)
    scored: Any = {**QUESTION, "translation": "Rate?", "outcome": "answered", "answer": ANSWER, "replacement": None}
    found = TranslateAnswer(model, reads_english=reads_english).invoke(scored | state)
    return found, model.asked


def test_an_answer_to_a_translated_question_is_translated_without_its_markers():
    found, [[system, question]] = translate(f" {TRANSLATION}\n")

    assert found == {"answer_translation": TRANSLATION}
    assert "Keep every figure" in system.text
    assert "Question: Berapa tarif GST?\nAnswer: The rate of GST is 9.5 %, says tax@gov.example.\n" in question.text


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "The rate of GST is 9.5 %, says tax@gov.example.",
        "Tarif GST adalah 95,5 %, kata tax@gov.example.",
        "Tarif GST adalah 9,5 %, kata tax@goy.example.",
        "Tarif GST adalah 9,5 %, kata tax@gov.example, lihat https://evil.example/9.",
        "Tarif GST adalah 9,5 %, kata tax@gov.example [di sini](//evil.example).",
        "Tarif GST adalah 9,5 %, kata tax@gov.example [GST Guide > Rate].",
        f"{TRANSLATION} {'Semoga ini membantu. ' * 12}",
        AIMessage(TRANSLATION, response_metadata={"finish_reason": "length"}),
    ],
    ids=["empty", "English", "figure", "address", "link", "markdown link", "marker", "chatter", "cut"],
)
def test_a_reply_that_is_no_faithful_translation_is_not_shown(reply):
    assert translate(reply)[0] == {}


def test_figures_are_compared_without_the_separators_of_a_language():
    assert translate("Harganya 1.000,50 euro.", answer="It is 1,000.50 euro.")[0]
    assert not translate("Harganya 1.000,50 atau 2 euro.", answer="It is 1,000.50 euro.")[0]


def test_words_that_stand_in_place_of_the_models_are_what_is_translated():
    _, [[_, question]] = translate(TRANSLATION, replacement="It is 9 %.")

    assert "Answer: It is 9 %.\n" in question.text


@pytest.mark.parametrize("outcome", ["declined", "unsure", "ungrounded", "no_results", "degraded"])
def test_what_is_no_checked_answer_is_not_translated(outcome):
    assert translate(TRANSLATION, outcome=outcome) == ({}, [])


def test_an_answer_to_a_question_that_needed_no_translation_asks_no_model():
    model = noting(TRANSLATION)
    step = TranslateAnswer(model, reads_english=reads_english)
    state: Any = {"question": "Rate?", "outcome": "answered", "answer": ANSWER, "replacement": None}

    assert (step.invoke(state), model.asked) == ({}, [])


def test_a_model_that_fails_costs_the_translation_alone():
    assert translate(ValueError("no"))[0] == {}


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_every_way_of_calling_the_chain_gives_the_translation(way):
    step = TranslateAnswer(noting("Tarifnya 9 %."), reads_english=reads_english)
    chain = gst_chain(
        reformulation=lambda _: {"search_query": "Rate?", "scope": None, "translation": "Rate?"},
        stages={"confidence": stage("answer_translation", translated=step, unpack=True)},
    )
    answer = await asked(chain, way, QUESTION)

    assert answer["answer_translation"] == "Tarifnya 9 %."
    assert (answer["answer"], answer["outcome"]) == ("It is 9% [GST Guide > Rate].", "answered")
