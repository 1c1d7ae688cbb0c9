"""A new subject is searched for by its own words; a question with a gap goes on with the one before."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables.base import coerce_to_runnable

from app.settings import load_settings
from app.wiring import Service, open_service, sample_corpus
from benchmarks.offline import offline
from tests.cases import cases
from tests.corpora import write_documents

INDONESIA = "What documents do I need to ship sea freight from Singapore to Indonesia?"
BATHS = {
    "prices.md": """# Prices of the Harbour Baths

## Tickets

| Ticket | Price |
|---|---|
| Day ticket, adult | £11.50 |
| Day ticket, child under 14 | £6.00 |

## Money back

A ticket is refunded only when the baths close early.

## Parking

The parking fee is £1.20 for each hour. A bicycle is parked free of charge behind the hall.
""",
    "hours.md": """# Opening Hours and Water

## Hours

The pool opens at 06:30 from Monday to Friday, at 08:00 on Saturday and at 09:00 on Sunday.

The sauna is open from 14:00 to 21:00 and is closed on Tuesday.

## Water

The water of the indoor pool has a temperature of 28 degrees. The outdoor pool is heated to 24 degrees.
""",
    "rules.md": """# House Rules

## Belongings

A locker takes a £1 coin, which comes back. The cut-off is ten at night. Lost property is kept four weeks.

## Animals

Dogs may not enter the baths, except guide dogs.
""",
}
TWINS = {
    f"{name.lower()}.md": f"# {name} Pool Guide\n\n## Lifeguards\n\nThe lifeguards are on duty until {hour}:00."
    f"\n\n## Slides\n\nThe slides at {name} are {hour} metres long."
    for name, hour in (("Millbrook", 18), ("Eastgate", 21))
}


def after(*questions: str) -> list[dict[str, str]]:
    said = [("user", text) if place % 2 == 0 else ("assistant", "It is.") for text in questions for place in (0, 1)]
    return [{"role": role, "content": text} for role, text in said]


def query(services: Service, question: str, *before: str) -> str:
    state: Any = {"question": question, "history": after(*before)}
    return str(coerce_to_runnable(services.answerer.reformulation).invoke(state)["search_query"])


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Service:
    services = open_service(load_settings(_env_file=None, chroma_path=tmp_path_factory.mktemp("desk")))
    services.index.ingest([sample_corpus()])
    return services


@pytest.fixture(scope="module")
def baths(tmp_path_factory) -> Service:
    folder: Path = tmp_path_factory.mktemp("baths")
    return offline(folder, write_documents(folder / "documents", BATHS | TWINS))


OF_THE_DESK = {
    "a new subject stands alone": [
        (question, question)
        for question in (
            *("lcl cutoff", "gst rate?", "office hours", "thai vat", "incoterms", "sla", "liability limit"),
            *("Can we ship without a packing list?", "How do I pay by card?"),
        )
    ],
    "a question with a gap goes on with the one before": [
        ("for Vietnam?", "What documents do I need to ship sea freight from Singapore to Vietnam?"),
        ("and by air?", f"{INDONESIA[:-1]} air"),
        ("who prepares them?", "who prepares them? documents ship sea freight Singapore Indonesia"),
    ],
}
TICKET = "How much is a day ticket for an adult?"


@pytest.mark.parametrize(("question", "expected"), cases(OF_THE_DESK))
def test_what_a_question_of_the_desk_searches_for(desk, question, expected):
    assert query(desk, question, INDONESIA) == expected


def test_a_word_that_has_no_passage_without_the_question_before_goes_on_with_it(desk):
    booked = "How early must an LCL shipment be booked?"
    assert query(desk, "reefer?", booked) == booked.replace("LCL", "reefer")  # Both are rows of one table.
    assert query(desk, "vietnam?", "What is the VAT rate in Indonesia?") == "What is the VAT rate in vietnam?"


def test_a_follow_up_goes_on_with_the_new_subject(desk):
    assert query(desk, "and for FCL?", INDONESIA, "lcl cutoff") == "FCL cutoff"


@pytest.mark.parametrize(
    "question",
    [
        *("lost property", "water temperature", "dogs", "parking fee", "sauna hours"),
        *("lost proprety", "lockers cutoff"),  # Spelling does not tie a subject to the one before.
    ],
)
def test_a_new_subject_of_another_trade_stands_alone(baths, question):
    assert query(baths, question, TICKET) == question


@pytest.mark.parametrize("question", ["and for a child?", "what does it cost?", "a child under 14?"])
def test_a_gap_of_another_trade_is_filled(baths, question):
    assert "ticket" in query(baths, question, TICKET)


def test_a_name_takes_the_place_of_another_where_their_documents_are_of_one_kind(baths):
    guards = "Until when are the lifeguards at Millbrook on duty?"
    assert query(baths, "eastgate?", guards) == "Until when are the lifeguards at eastgate on duty?"
    assert query(baths, "slides", guards) == "slides"
    assert query(baths, "child?", "What does a ticket cost for an adult at the day?").startswith(
        "What does a ticket cost for an child"
    )


async def test_the_answer_is_searched_for_by_the_own_words_in_every_form_of_call(baths):
    state: Any = {"question": "lost property", "history": after("How much is a day ticket for an adult?")}

    for answer in (baths.chain.invoke(state), await baths.chain.ainvoke(state)):
        assert answer["metadata"]["search_query"] == "lost property"
        assert answer["citations"][0]["section"] == "Belongings"


def test_what_was_found_is_forgotten_when_the_documents_change(baths, tmp_path):
    ticket = "How much is a day ticket for an adult?"
    assert query(baths, "towel hire", ticket) != "towel hire"
    (tmp_path / "towels.md").write_text("# Towels\n\nThe hire of a towel costs £2.", encoding="utf-8")
    baths.index.ingest([tmp_path])

    assert query(baths, "towel hire", ticket) == "towel hire"
