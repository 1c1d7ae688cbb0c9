"""Where a model has no answer that the documents support they are quoted; what it does not mark is read again."""

import json
from pathlib import Path

import pytest

from app.settings import load_settings
from app.wiring import open_index
from tests.corpora import write_documents
from tests.fakes import Reply

DOCUMENTS = {
    "travel_2023.md": "# Travel policy 2023\n\n## Meals\n\nThe daily meal allowance is 42 euro.\n\n"
    "## Planes\n\nFlights below 500 km are not booked.\n",
    "travel_2025.md": "# Travel policy 2025\n\nThis policy replaces that of 2023.\n\n## Meals\n\n"
    "The daily meal allowance is 55 euro.\n\n## Planes\n\nFlights below 600 km are not booked.\n",
    "members.md": "# Membership\n\n## Classes\n\n| Class | Visits a month |\n|---|---|\n| Silver | 1 to 5 |\n"
    "| Gold | 6 to 12 |\n| Platinum | more than 12 |\n",
    "yard.md": "# Yard rules\n\n## Cranes\n\nCranes stop at 54 km/h of wind.\n",
}
SUMMARY = "Summarise the travel policy 2025"
CHANGES = "What changed in the travel policy between 2023 and 2025?"


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    folder: Path = tmp_path_factory.mktemp("reading")
    settings = load_settings(_env_file=None, chroma_path=folder / "index")
    open_index(settings).ingest([write_documents(folder / "desk", DOCUMENTS)])
    return folder / "index"


@pytest.fixture
def desk(index, groq, monkeypatch) -> None:
    variables = {"CHROMA_PATH": str(index), "LLM_BASE_URL": groq.url, "GROQ_API_KEY": "gsk_test"}
    for name, value in (variables | {"RELEVANCE_THRESHOLD": "0"}).items():
        monkeypatch.setenv(name, value)


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


def test_the_line_above_quoted_documents_is_in_the_language_of_the_asker(waypoint, desk, groq):
    groq.replies[:] = [Reply("It makes every journey of our staff safe, green and comfortable.")]
    answer = json.loads(waypoint("ask", "--json", "--language", "id", SUMMARY)[1])["answer"]

    assert answer.startswith("Tidak ada sumber yang mendukung ringkasan")
    assert "The daily meal allowance is 55 euro." in answer


def test_without_the_offline_answerer_an_overview_stays_ungrounded(waypoint, desk, groq, monkeypatch):
    monkeypatch.setenv("LLM_FALLBACK", "false")
    groq.replies[:] = [Reply("It makes every journey of our staff safe, green and comfortable.")]
    assert json.loads(waypoint("ask", "--json", SUMMARY)[1])["outcome"] == "ungrounded"


UNSURE_LINE = "Closest in the documents; check it:"
DECLINE = "I don't have specific information about that in the documents I can see."


@pytest.mark.parametrize("written", [DECLINE, "The crane limit is set by the port authority each morning."])
def test_what_the_documents_say_is_shown_where_the_model_has_no_answer(waypoint, desk, groq, written):
    groq.replies[:] = [Reply(written)]
    answer = json.loads(waypoint("ask", "At which wind do cranes stop?", "--json")[1])

    assert answer["outcome"] == "unsure"
    assert answer["answer"].startswith(f"{UNSURE_LINE}\n\nCranes stop at 54 km/h of wind.")
    assert answer["citations"][0]["quote"] == "Cranes stop at 54 km/h of wind."
    assert answer["confidence"]["level"] == "low"
    assert answer["confidence"]["reason"].startswith("The language model gave no answer")


def test_a_figure_that_no_source_has_gives_way_to_the_one_that_stands_there(waypoint, desk, groq):
    groq.replies[:] = [Reply("The daily meal allowance is 90 euro [Travel policy 2025 > Meals].")]
    answer = json.loads(waypoint("ask", "--json", "What is the meal allowance?")[1])

    assert (answer["outcome"], "90 euro" in answer["answer"]) == ("unsure", False)
    assert "The daily meal allowance is 55 euro." in answer["answer"]


def test_a_decline_stands_where_the_documents_are_not_sure_either(waypoint, desk, groq):
    groq.replies[:] = [Reply(DECLINE)]
    answer = json.loads(waypoint("ask", "Who paints the cranes?", "--json")[1])

    assert (answer["outcome"], answer["answer"]) == ("declined", DECLINE)


@pytest.mark.parametrize("style", ["title", "numbered"])
@pytest.mark.parametrize(("written", "levels"), [("Gold", {"high", "medium"}), ("Platinum", {"low", "very_low"})])
def test_an_answer_without_a_marker_is_as_sure_as_the_documents_read_alone(
    waypoint, desk, groq, monkeypatch, written, levels, style
):
    monkeypatch.setenv("CITATION_STYLE", style)
    groq.replies[:] = [Reply(f"A member with 8 visits a month is in the {written} class.")]
    answer = json.loads(waypoint("ask", "--json", "Which class is a member with 8 visits a month in?")[1])

    assert answer["outcome"] in {"answered", "unsure"}
    assert answer["confidence"]["level"] in levels


@pytest.mark.parametrize("strategy", ["calibrated", "composite"])
def test_an_unmarked_answer_that_nothing_confirms_is_doubtful(waypoint, desk, groq, monkeypatch, strategy):
    monkeypatch.setenv("CONFIDENCE_STRATEGY", strategy)
    groq.replies[:] = [Reply("Flights below 600 km are not booked.")]
    asked = ("ask", "--json", "May I fly to a town that is 550 km away?")
    doubted = json.loads(waypoint(*asked)[1])
    monkeypatch.setenv("LLM_FALLBACK", "false")
    groq.replies[:] = [Reply("Flights below 600 km are not booked.")]
    rated = json.loads(waypoint(*asked)[1])

    assert (doubted["outcome"], rated["outcome"]) == ("answered", "answered")
    assert doubted["confidence"]["level"] in {"low", "very_low"}
    assert "The model named none" in doubted["confidence"]["reason"]
    assert doubted["confidence"]["score"] <= rated["confidence"]["score"]
