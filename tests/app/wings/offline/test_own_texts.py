"""A deployment's own texts, in PROMPTS_PATH, are said where nothing is sure."""

import json
from pathlib import Path

import pytest

from tests.corpora import write_documents
from tests.fakes import Reply

GUIDE = "# Thailand Guide\n\n## Tax\n\nThe VAT rate in Thailand is 7 %. A late return costs a fine of 2,000 baht.\n"
DECLINE, UNSURE = "Please ask Ann at the desk.", "Nothing sure; see below."
CUP = "Who won the world cup in 1998?"
LATE = "Who pays if we are late with the tax papers?"
BOTH = f"What is the VAT rate in Thailand? {CUP}"


@pytest.fixture
def own_texts(waypoint) -> None:
    write_documents(Path("texts"), {"decline.txt": f"{DECLINE}\n", "unsure.txt": f"{UNSURE}\n"})
    write_documents(Path("desk"), {"guide.md": GUIDE})
    waypoint("ingest", "desk", PROMPTS_PATH="texts", RELEVANCE_THRESHOLD="0")


@pytest.mark.parametrize(
    ("question", "outcome", "text"), [(LATE, "unsure", UNSURE), (CUP, "declined", DECLINE), (BOTH, "answered", DECLINE)]
)
def test_the_texts_of_the_deployment_are_said_where_nothing_is_sure(waypoint, own_texts, question, outcome, text):
    answer = json.loads(waypoint("ask", "--json", question)[1])
    shown = waypoint("ask", question)[1]

    assert (answer["outcome"], text in answer["answer"], text in shown) == (outcome, True, True)


def test_a_model_that_says_the_sentence_of_the_deployment_declines(waypoint, own_texts, groq, monkeypatch):
    monkeypatch.setenv("GROQ_API_KEY", "gsk_test")
    monkeypatch.setenv("LLM_BASE_URL", groq.url)
    groq.replies[:] = [Reply(DECLINE)]
    answer = json.loads(waypoint("ask", "--json", CUP)[1])

    assert (answer["outcome"], answer["answer"]) == ("declined", DECLINE)
