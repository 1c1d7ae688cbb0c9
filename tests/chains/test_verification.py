import pytest

from chains.citations.asked import asked
from chains.citations.checking import LONGEST_SENTENCE, CheckedText, SentenceGate
from chains.citations.verification import verify
from chains.state import Passage

LENGTHS = "| Box | Inner length |\n|---|---|\n| 40 ft standard | 12.0 m |\n| 40 ft reefer | 11.5 m |"


def is_supported(question: str, sentence: str, content: str, title: str = "Guide") -> bool:
    passage = Passage(content=content, metadata={"title": title, "section": ""}, score=0.5)
    return verify([sentence], [passage], None, asked(question)).supported


@pytest.mark.parametrize(
    ("question", "sentence", "content"),
    [
        ("When must the papers be kept until?", "They must be kept for five years.", "Papers are kept for five years."),
        ("How long is the BPOM notification valid?", "Three years.", "The BPOM notification is valid for three years."),
        ("Who signs the form at the depot?", "The desk coordinator", "The form is signed by the desk coordinator."),
        ("What is the inner length of a 40 ft reefer?", "The inner length of a 40 ft reefer is 11.5 m.", LENGTHS),
    ],
)
def test_words_of_the_question_and_short_answers_find_their_passage(question, sentence, content):
    assert is_supported(question, sentence, content)


@pytest.mark.parametrize(
    ("question", "sentence", "content"),
    [
        ("Is it compulsory?", "Yes, it is compulsory.", "Halal certification is voluntary for most goods."),
        (
            "Which papers does the Philippines ask for?",
            "The Philippines asks for a letter of authorisation.",
            "Customs asks for a letter of authorisation.",
        ),
        ("What is the inner length of a 40 ft reefer?", "The inner length of a 40 ft reefer is 12.0 m.", LENGTHS),
        ("What is the fee?", "The fee is S$40.", "The fee is S$50."),
        ("What is the fee at the depot?", "17 October 2026", "The law begins on 17 October 2026."),
    ],
)
def test_an_echo_another_name_another_row_and_another_figure_are_not_supported(question, sentence, content):
    assert not is_supported(question, sentence, content)


def shown(pieces: list[str], supported: str = "Right") -> list[str]:
    gate = SentenceGate(lambda text: CheckedText(supported in text, []))
    return [part["answer"] for piece in (*pieces, None) for part in (gate.feed(piece) if piece else gate.flush())]


def test_a_sentence_passes_once_the_next_one_has_begun_and_with_its_markers():
    pieces = ["Right is this fee here. ", "[Guide > Fee] ", "Another statement follows", " here."]
    assert shown(pieces) == ["Right is this fee here. [Guide > Fee] ", "Another statement follows here."]


def test_nothing_passes_before_a_supported_sentence_and_then_all_that_waited():
    pieces = ["A wrong statement stands here. ", "Right is this fee here. ", "Done with the answer."]
    assert "".join(shown(pieces)) == "".join(pieces)
    assert shown(pieces)[0].startswith("A wrong statement stands here. Right")
    assert shown(pieces, supported="nothing") == []


def test_words_without_the_end_of_a_sentence_are_not_held_for_ever():
    parts = shown(["Right words "] * 500)
    assert "".join(parts) == "Right words " * 500
    assert max(map(len, parts)) <= LONGEST_SENTENCE
