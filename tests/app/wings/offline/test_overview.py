"""Questions about documents as wholes are answered from their titles and statements."""

import pytest

from app.wings.offline.overview import overview
from app.wings.offline.passages import entries

CONTEXT = """[1] Travel policy 2025 > Meals
The daily meal allowance is 55 euro. Receipts are kept for one year.

[2] Travel policy 2025 > Planes
Flights below 500 km are not booked.

[3] Yard rules > Cranes
Cranes stop at 54 km/h of wind.

[4] Travel policy 2023 (older version) > Meals
The daily meal allowance is 42 euro. Receipts are kept for one year."""


def answer(question: str) -> list[str]:
    found = overview(question, entries(CONTEXT))
    return found.text.split("\n") if found else []


@pytest.mark.parametrize(
    "question",
    [
        *("Which documents do you have about travel?", "List the documents on travel", "Do we have a guide on travel?"),
        *("wich documents do u have about travel", "Is there anything about travel?", "Which files are about travel?"),
    ],
)
def test_documents_about_a_subject_are_listed_each_with_its_first_statement(question):
    assert answer(question) == [
        "- The daily meal allowance is 55 euro. [1]",
        "- The daily meal allowance is 42 euro. [4]",
    ]


def test_a_summary_begins_with_the_first_statement_of_each_section():
    assert answer("Summarise the travel policy 2025") == [
        *("- The daily meal allowance is 55 euro. [1]", "- Flights below 500 km are not booked. [2]"),
        "- Receipts are kept for one year. [1]",
    ]
    assert answer("Give me a summary of the travel policy 2023")[0] == "- The daily meal allowance is 42 euro. [4]"


@pytest.mark.parametrize(
    "question",
    [
        *(
            "What changed between 2023 and 2025?",
            "What is new in the travel policy?",
            "whats different in the travel policy",
        ),
        *("How do the travel policies 2023 and 2025 differ?", "compare the 2023 travel policy with the current one"),
    ],
)
def test_changes_are_told_with_what_stood_before(question):
    assert answer(question) == [
        "- The daily meal allowance is 55 euro. [1] Before: The daily meal allowance is 42 euro. [4]",
        "- Flights below 500 km are not booked. [2]",
    ]


@pytest.mark.parametrize(
    "question",
    [
        *("Which documents do I need to import?", "What is the daily meal allowance?", "Summarise the tax guide"),
        *("Which documents do you have about trains?", "What has changed in the yard rules?", "List the steps"),
        *("What is the difference between cranes and planes?", "Which documents does a traveller need?"),
    ],
)
def test_other_questions_are_left_to_the_answerer(question):
    assert answer(question) == []
