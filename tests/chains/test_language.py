"""The texts in the place of an answer in the asker's language, and questions that no English word list can read."""

import json
from typing import Any

import pytest

import prompts
from app.web import words
from chains.citations import CiteSources
from chains.reformulation import Reformulate
from chains.scope import Intent, ScopeFile, ScopeGate
from chains.text.tokens import is_english
from tests.chains.gst import Shelf, gst_chain
from tests.fakes import WordEmbeddings
from tests.streams import asked

DECLINE, UNREAD = prompts.load("decline"), prompts.load("unread")
INDONESIAN = prompts.translations()["id"]
RATE = {"question": "Berapa tarif pajak untuk barang impor?"}
WAYS = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])


@pytest.mark.parametrize(
    ("question", "language", "expected"),
    [
        ("What is the GST rate?", None, True),
        ("What is the GST rate?", "id", True),
        ("GST rate imports Singapore", None, True),
        ("Apakah 海运 in der Liste?", None, True),  # A word of English grammar decides.
        ("Café menu Zürich", None, True),
        ("Berapa tarif GST?", None, True),  # A language is not guessed by Latin letters.
        ("Berapa tarif GST?", "id", False),
        ("Berapa tarif GST?", "id-ID", False),
        ("GST rate", "id", True),
        ("海运需要什么文件", None, False),
        ("Какие документы нужны?", None, False),
        ("เอกสารอะไรบ้าง", "en", False),
        ("5 µm Ω", None, True),
        ("", "id", True),
    ],
)
def test_a_question_is_english_unless_its_letters_or_the_asker_say_otherwise(question, language, expected):
    assert is_english(question, language) is expected


@pytest.mark.parametrize("language", ["id", "ID-id"])
@pytest.mark.parametrize(
    ("options", "question", "name"),
    [
        ({"retriever": Shelf(documents=[])}, "Rate?", "no_results"),
        ({"answer": DECLINE}, "What is the rate of VAT?", "decline"),
        ({"answer": "Elephants fly."}, "What is the rate of VAT?", "ungrounded"),
        ({}, "Thanks!", "small_talk_thanks"),
        ({"unread": UNREAD}, "Berapa tarif pajak?", "unread"),
    ],
)
@WAYS
async def test_a_text_in_the_place_of_an_answer_is_in_the_askers_language(way, options, question, name, language):
    answer = await asked(gst_chain(**options), way, {"question": question, "language": language})

    assert answer["answer"] == INDONESIAN[prompts.load(name)]


def test_a_question_back_names_its_word_in_the_askers_language():
    answer = gst_chain().invoke({"question": "How much is it?", "language": "id"})

    assert answer["outcome"] == "question_back"
    assert answer["answer"].startswith("Mohon jelaskan apa yang dimaksud dengan “it”")


@pytest.mark.parametrize("given", [{}, {"language": "en"}, {"language": "fr"}, {"language": ""}])
def test_without_a_language_that_is_known_texts_are_english(given):
    assert gst_chain(DECLINE).invoke({"question": "What is the rate of VAT?"} | given)["answer"] == DECLINE


@WAYS
async def test_a_question_that_the_model_cannot_read_is_told_so_with_the_closest_passages(way):
    answer = await asked(gst_chain(unread=UNREAD), way, RATE | {"language": "id"})

    assert (answer["outcome"], answer["answer"]) == ("unsure", INDONESIAN[UNREAD])
    assert [one["quote"] for one in answer["closest"]] == ["The rate of GST is 9%."]
    assert answer["metadata"]["model"] is None


def test_the_scope_gate_declines_no_question_that_it_cannot_read():
    intent = Intent(redirect="Ask pricing.", examples=[RATE["question"]])
    scope = ScopeFile(intents={"rates": intent}, in_scope=["What is GST?"])
    gate: Any = ScopeGate(scope, WordEmbeddings())

    assert gate.invoke(RATE)["intent"] == "rates"
    assert gate.invoke(RATE | {"language": "id"}) is gate.invoke(RATE | {"foreign": True}) is None


def test_a_text_of_the_deployments_own_goes_before_the_packaged_translation(tmp_path):
    (tmp_path / "id").mkdir()
    (tmp_path / "decline.txt").write_text("Ask Ann.\n", encoding="utf-8")
    (tmp_path / "unsure.txt").write_text("Ask Bob.\n", encoding="utf-8")
    (tmp_path / "id" / "unsure.txt").write_text("Tanya Bob.\n", encoding="utf-8")
    known = prompts.translations(tmp_path)

    assert prompts.translated("Ask Ann.", "id", known) == "Ask Ann."
    assert prompts.translated("Ask Bob.", "id", known) == "Tanya Bob."
    assert prompts.translated(prompts.load("small_talk"), "id", known) == INDONESIAN[prompts.load("small_talk")]


def test_every_text_that_a_user_reads_is_translated_and_no_prompt_is():
    read = {
        "decline",
        "no_results",
        "question_back",
        "quoted",
        "small_talk",
        "ungrounded",
        "unread",
        "unsure",
        "withheld",
    }
    read |= {name for name in prompts.texts() if name.startswith(("blocked_", "small_talk_"))}

    assert set(prompts.translations()) == set(words.languages()) - {words.DEFAULT}
    for known in prompts.translations().values():
        assert {prompts.load(name) for name in read} == known.keys()
        assert all(text.count("{missing}") == told.count("{missing}") for text, told in known.items())
    assert json.dumps(prompts.translations())
    assert CiteSources().translations == Reformulate().translations
