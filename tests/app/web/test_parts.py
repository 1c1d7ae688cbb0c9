"""Answers to several questions, each part below its heading."""

import pytest

from app.web import answer
from app.web.markdown import LONGEST_HEADING, questions_of, under_headings

MESSAGE = "Dear desk,\n\nWhat is the *GST* rate? Which permits does Indonesia want?\n\nRegards\nJo"
QUESTIONS = ["What is the GST rate?", "Which permits does Indonesia want?"]


def test_the_questions_of_a_message_are_headings_without_signs_of_markdown():
    assert questions_of(MESSAGE) == QUESTIONS


@pytest.mark.parametrize("message", ["", "   ", "What is the GST rate?", "Thanks!"])
def test_a_message_with_one_question_has_no_headings(message):
    assert questions_of(message) == []


def test_a_long_question_is_cut_between_words():
    long = questions_of(f"What is the rate of {'goods ' * 60}? Where is the port?")[0]
    assert len(long) <= LONGEST_HEADING + len(" …")
    assert long.endswith("goods …")


@pytest.mark.parametrize(
    "text",
    [
        "1. It is 9 %.\n\n2. A permit.\n\n- Of BPOM",
        "1) It is 9 %.\n\n2) A permit.\n\n- Of BPOM",
        f"**1) {QUESTIONS[0]}**\n\nIt is 9 %.\n\n**2) {QUESTIONS[1]}**\n\nA permit.\n\n- Of BPOM",
    ],
)
def test_each_part_stands_below_its_question(text):
    html, _ = answer.render(text, questions=QUESTIONS)
    assert html.replace("\n", "") == (
        "<h3>1. What is the GST rate?</h3><p>It is 9 %.</p>"
        "<h3>2. Which permits does Indonesia want?</h3><p>A permit.</p><ul><li>Of BPOM</li></ul>"
    )


def test_a_part_that_grows_has_its_heading_already():
    html, length = answer.render_growing("1. It is 9 %.\n\n2. A per", questions=QUESTIONS)
    assert html.count("<h3>") == len(QUESTIONS)
    assert length == len("1. It is 9 %.\n\n2. A per")


def test_chips_stay_where_they_are():
    text = "1. It is 9 % [GST].\n\n2. A permit [BPOM]."
    places = [(13, 18), (33, 39)]
    cited = {"number": None, "section": None, "matched": True, "attributed": False}
    citations = [cited | {"start": start, "end": end, "title": text[start:end], "doc_id": "x"} for start, end in places]
    html, _ = answer.render(text, citations, questions=QUESTIONS)
    assert "It is 9 % <button" in html
    assert "A permit <button" in html


@pytest.mark.parametrize("text", ["Steps:\n1. One\n2. Two", "2. It is 9 %.", "It is 1. or 2.", "", "```\n3. code\n```"])
def test_what_begins_no_part_stays(text):
    assert under_headings(text, QUESTIONS) == text
