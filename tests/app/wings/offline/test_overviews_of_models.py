"""A model's overview of documents is checked by its sentences; where none stands, the documents are quoted."""

import json
from pathlib import Path

import pytest

from tests.fakes import Reply

DOCUMENTS = {
    "travel_2023.md": "# Travel policy 2023\n\n## Meals\n\nThe daily meal allowance is 42 euro.\n\n"
    "## Planes\n\nFlights below 500 km are not booked.\n",
    "travel_2025.md": "# Travel policy 2025\n\nThis policy replaces that of 2023.\n\n## Meals\n\n"
    "The daily meal allowance is 55 euro.\n\n## Planes\n\nFlights below 600 km are not booked.\n",
    "yard.md": "# Yard rules\n\n## Cranes\n\nCranes stop at 54 km/h of wind.\n",
}
SUMMARY = "Summarise the travel policy 2025"
CHANGES = "What changed in the travel policy between 2023 and 2025?"


@pytest.fixture
def desk(waypoint, groq, monkeypatch) -> None:
    Path("desk").mkdir()
    for name, text in DOCUMENTS.items():
        (Path("desk") / name).write_text(text)
    monkeypatch.setenv("RELEVANCE_THRESHOLD", "0")
    waypoint("ingest", "desk")
    monkeypatch.setenv("GROQ_API_KEY", "gsk_test")
    monkeypatch.setenv("LLM_BASE_URL", groq.url)


@pytest.mark.parametrize(
    ("question", "written"),
    [
        (
            SUMMARY,
            "Here is a summary of the travel policy 2025:\n\n"
            "- The daily meal allowance is 55 euro [Travel policy 2025 > Meals].\n"
            "- It sets out helpful guidance for everyone on the road.\n"
            "- Flights below 600 km are not booked [Travel policy 2025 > Planes].",
        ),
        (
            SUMMARY,
            "The travel policy 2025 gives guidance on trips:\n\n- Various useful rules are explained.\n"
            "- **Meals**: the daily meal allowance is 55 euro [Travel policy 2025].",
        ),
        (
            CHANGES,
            "- The daily meal allowance rose from 42 to 55 euro [Travel policy 2023 > Meals] "
            "[Travel policy 2025 > Meals].\n- Overall the policy is more modern.",
        ),
        (
            CHANGES,
            "The daily meal allowance was 42 euro in 2023 and is 55 euro in 2025 "
            "[Travel policy 2023] [Travel policy 2025].",
        ),
    ],
)
def test_an_overview_stands_where_some_of_its_points_do(waypoint, desk, groq, question, written):
    groq.replies[:] = [Reply(written)]
    answer = json.loads(waypoint("ask", "--json", question)[1])

    assert (answer["outcome"], "55 euro" in answer["answer"]) == ("answered", True)


@pytest.mark.parametrize(
    ("question", "written"),
    [
        (SUMMARY, "The travel policy 2025 makes every journey of our staff safe, green and comfortable."),
        (SUMMARY, "- The daily meal allowance is 90 euro [Travel policy 2025 > Meals].\n- Hotels are free."),
        (CHANGES, "The daily meal allowance rose from 55 to 42 euro [Travel policy 2023] [Travel policy 2025]."),
        (CHANGES, "The daily meal allowance rose from 42 to 75 euro [Travel policy 2023] [Travel policy 2025]."),
    ],
)
def test_where_no_point_stands_the_documents_are_quoted(waypoint, desk, groq, question, written):
    groq.replies[:] = [Reply(written)] * 2
    answer = json.loads(waypoint("ask", "--json", question)[1])
    shown = waypoint("ask", question)[1]

    assert answer["answer"].startswith("No source supports the overview that the model wrote.")
    assert (answer["outcome"], "55 euro" in answer["answer"], bool(answer["citations"])) == ("answered", True, True)
    assert "The daily meal allowance is 55 euro." in shown


def test_another_question_stays_ungrounded_and_without_the_offline_answerer_an_overview_does(
    waypoint, desk, groq, monkeypatch
):
    groq.replies[:] = [Reply("The daily meal allowance is 90 euro [Travel policy 2025 > Meals].")]
    assert json.loads(waypoint("ask", "--json", "What is the meal allowance?")[1])["outcome"] == "ungrounded"
    monkeypatch.setenv("LLM_FALLBACK", "false")
    groq.replies[:] = [Reply("It makes every journey of our staff safe, green and comfortable.")]
    assert json.loads(waypoint("ask", "--json", SUMMARY)[1])["outcome"] == "ungrounded"
