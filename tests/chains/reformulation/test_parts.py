"""The questions of a message, and what each of them needs to stand alone."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.reformulation import Reformulate, split_questions
from chains.reformulation.splitting import CONTEXT_CHARACTERS, MOST_PARTS
from tests.cases import cases

EVALS = Path(__file__).parents[3] / "evals"
MESSAGES = [json.loads(line) for line in (EVALS / "parts.jsonl").read_text(encoding="utf-8").splitlines()]
TWO_IN_ONE = {"W-49", "W-55", "W-93", "W-128", "W-129", "C-19"}
"""Rows of the other sets that ask two questions in one sentence, read one by one."""


def queries(message: str, history: list[tuple[str, str]] | None = None) -> list[str]:
    found = Reformulate().invoke({"question": message, "history": history or []})
    return [part["query"] for part in found.get("parts", [])]


@pytest.mark.parametrize("row", MESSAGES, ids=lambda row: row["id"])
def test_a_message_is_split_into_as_many_questions_as_it_asks(row):
    assert len(split_questions(row["question"])) == len(row["parts"])


def test_single_questions_of_the_other_sets_stay_as_they_are():
    files = ("questions", "smoke", "traps", "followups", "followups_waypoint")
    lines = [line for name in files for line in (EVALS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [json.loads(line) for line in lines]
    changed = {row["id"] for row in rows if split_questions(row["question"])[0].asked != row["question"]}
    assert len(rows) > 300
    assert changed == TWO_IN_ONE


@pytest.mark.parametrize(
    "message", ["> Which duty applies to tea?", "On tea the customs wrote:\nIs it taxed?", "a@b.example"]
)
def test_a_message_of_nothing_else_is_kept(message):
    assert split_questions(message)[0].asked.split()[-1] == message.split()[-1]


QUERIES = {
    "each question is asked on the statements before it": (
        "We ship cosmetics to Indonesia. Which permits are needed? How long does the review take?",
        [
            "We ship cosmetics to Indonesia. Which permits are needed?",
            "We ship cosmetics to Indonesia. How long does the review take?",
        ],
    ),
    "a new statement takes the place of the first": (
        "Our cream goes to Malaysia. How long does the notification last there? "
        "We also send toys to Thailand. Which licence do toys need there?",
        [
            "Our cream goes to Malaysia. How long does the notification last there?",
            "We also send toys to Thailand. Which licence do toys need there?",
        ],
    ),
    "items of a list below a request are questions": (
        "Please advise on the following for Vietnam:\n- the deadline of a permit\n- who may import",
        [
            "on the following for Vietnam: the deadline of a permit",
            "on the following for Vietnam: who may import",
        ],
    ),
}


@pytest.mark.parametrize(("message", "expected"), QUERIES.values(), ids=QUERIES)
def test_each_question_is_searched_for_with_what_it_needs(message, expected):
    assert queries(message) == expected


def test_a_question_on_another_place_is_not_asked_on_the_statement():
    message = "We ship cosmetics to Indonesia. Which permits are needed? What is the VAT rate in Thailand?"
    assert queries(message)[1] == "What is the VAT rate in Thailand?"


def test_a_part_without_a_subject_inherits_it():
    assert queries("Which permits for cosmetics to Indonesia and how long do they take?") == [
        "Which permits for cosmetics to Indonesia?",
        "how long do they take? permits cosmetics Indonesia",
    ]
    assert queries("Which permit does cream to Indonesia need and how long is the notification valid?")[1] == (
        "how long is the notification valid Indonesia permit cream"
    )


def test_a_part_takes_from_the_conversation_what_it_lacks():
    before = [("user", "What is a Form D?"), ("assistant", "A certificate.")]
    assert queries("What does it cost and how long does it take?", before)[0].endswith("Form D")


TEA = "Which duty applies to tea?"
SPLIT = {
    "what stands around a question in a mail asks nothing": [
        (around.format(TEA), [TEA])
        for around in (
            *("{} Please advise soonest.", "{} Pls advise asap. Thanks & regards, Mei Lin", "Thanks a lot! {}"),
            "Dear team,\n\n{}\n\nMany thanks and best regards\nOliver\nTea Ltd",
            "Dear team,\n\n{}\n\nAwaiting your reply.\n\nMei Lin\nTea Trading Ltd\nTel +65 6123 4567",
            "Subject: Tea\n\n{}\n\nSent from my phone",
            "{}\n\nRegards\nAna\n\nDISCLAIMER: This mail is for you. Are you the intended recipient?",
            "{}\n\nThis e-mail and its attachments are confidential. Have you considered the trees before printing it?",
            "{}\n\nOn Mon, 3 Aug 2026, Desk <desk@tea.example> wrote:\n> What is the weight?\n> Which port is it?",
            "{}\n\n-----Original Message-----\nFrom: Desk\nTo: Ana\n\nWhat is the weight? Which port is it?",
            "{}\n\nFrom: Desk\nSent: Monday\nTo: Ana\n\nWhat is the weight? Which port is it?",
        )
    ],
    "thanks in the middle end nothing": [
        (f"Hi all,\n{TEA}\nThanks!\nAnd how long does clearance take?", [TEA, "how long does clearance take?"])
    ],
    "one question stays one": [
        (question, [question])
        for question in (
            "What happens if the vessel is late and the permit is no longer valid?",
            *("Must the invoice be in English or may it be in Thai?", "Tell me about a Form D and its uses."),
            *("If it comes by air, is GST due?", "What is the duty? Or none?", "Is it a paid service and how much?"),
            "please book a container, and what a mess!",
        )
    ],
    "words that only name something ask for it": [
        ("customs ruling fee and how long it takes", ["customs ruling fee", "how long it takes"]),
        ("cargo damaged and how long it takes", ["cargo damaged and how long it takes"]),
        ("damaged cargo form and how long it takes", ["damaged cargo form", "how long it takes"]),
        ("locker prices and is parking free on sundays", ["locker prices", "is parking free on sundays"]),
        ("who signs and is liable for it", ["who signs and is liable for it"]),
    ],
    "a polite request is the question behind it": [
        ("Please let us know until when we can cancel a booking.", ["until when we can cancel a booking."]),
        ("Tell me what a Form D is and when it can be used.", ["what a Form D is and when it can be used."]),
        ("Good morning,\nI'd like to know how long a quote is valid.", ["how long a quote is valid."]),
        ("Please explain Form D.", ["Please explain Form D."]),
    ],
    "a change of subject is announced, and not asked": [
        ("ok other thing, what are your hours", ["what are your hours"]),
        ("different question: do you ship to Perth?", ["do you ship to Perth?"]),
        ("what other thing do I need?", ["what other thing do I need?"]),
        ("Is there another question, and who asks it?", ["Is there another question?", "who asks it?"]),
    ],
    "what is may be written as one word": [
        (
            "whats the deposit for the camera and how long can i keep it",
            ["whats the deposit for the camera", "how long can i keep it"],
        ),
    ],
}


@pytest.mark.parametrize(("message", "asked"), cases(SPLIT))
def test_the_questions_of_a_message_are_found(message, asked):
    assert [part.asked for part in split_questions(message)] == asked


def test_further_questions_belong_to_the_last_part():
    message = " ".join(f"What is the fee of service {name}?" for name in "ABCDEFGH")
    parts = split_questions(message)
    assert len(parts) == MOST_PARTS
    assert parts[-1].asked.count("?") == 3


@given(st.text(alphabet="?!., \n-:aWhatisthe and", max_size=300) | st.text(max_size=300))
def test_no_message_is_lost(message):
    parts = split_questions(message)
    assert 1 <= len(parts) <= MOST_PARTS
    assert all(len(part.context) <= CONTEXT_CHARACTERS for part in parts)


@pytest.mark.parametrize("mark", ["?", "!", ",; ", "\n-\n", " and what is it", "can you ", "- a: "])
def test_a_long_message_of_marks_is_read_at_once(mark):
    split_questions((mark * 4000)[:4000])
