"""Versions: the one in force leads, older ones stand last and say so, and two documents of one title are told apart."""

from datetime import date

import pytest

from chains.documents.versions import holds_on, in_force_first, is_left, left_titles, replaced, series_of, stated
from chains.state import Passage

TODAY = date(2026, 1, 31).toordinal()


def document(title: str, **more: str) -> dict[str, str]:
    return {"doc_id": title.replace(" ", "_"), "title": title, **more}


def passage(title: str, content: str = "", **more: str) -> Passage:
    return Passage(content=content or f"The fee of {title} is 4 euro.", metadata=document(title, **more), score=0.5)


def titles(*passages: Passage, question: str = "What is the fee?") -> list[str]:
    return [one["metadata"]["title"] for one in in_force_first(passages, question, TODAY)]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Price list 2023", "Price list 2025"),
        ("Price list v1.9", "Price list v1.10"),
        ("Price list March 2025", "Price list November 2025"),
        ("Price list, edition 2", "Price list, edition 3"),
        ("Price list 2024-01-31", "Price list 2024-02-01"),
        ("Weld plan Rev. B", "Weld plan Rev. C"),
        ("Staff handbook, 2nd edition", "Staff handbook, 10th edition"),
        ("Lift passes winter 2024/25", "Lift passes winter 2025/26"),
    ],
)
def test_the_later_edition_of_a_title_is_in_force(older, newer):
    assert replaced([document(newer), document(older)], TODAY) == {1: 0}
    assert titles(passage(older), passage(newer)) == [newer, f"{older} (older version)"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (document("Annual report 2023"), document("Annual report 2025")),  # Each is of its own year.
        (document("Price list 2023"), document("Packing list 2025")),
        (document("Fees 2023", jurisdiction="Norland"), document("Fees 2025", jurisdiction="Sudland")),
        (document("Fees 2023", file_path="dunmore/fees.md"), document("Fees 2025", file_path="kestrel/fees.md")),
        (document("Opening hours", last_updated="2023-01-01"), document("Opening hours", last_updated="2025-01-01")),
    ],
)
def test_documents_about_two_things_are_no_versions(one, other):
    assert replaced([one, other], TODAY) == {}


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        (
            [document("Fees 2023", file_path="old/2023/fees.md"), document("Fees 2025", file_path="2025/fees.md")],
            {0: 1},
        ),
        ([document("Rules for travellers"), document("Expenses", replaces="the Rules for Travellers")], {0: 1}),
        (
            [document("Fees 2026", valid_from="1 March 2026"), document("Fees 2025"), document("Fees 2024")],
            {0: 1, 2: 1},
        ),
    ],
    ids=["folders of an archive", "what a document says it replaces", "a version that begins later"],
)
def test_an_older_version_is_told_by_folder_statement_and_date(documents, expected):
    assert replaced(documents, TODAY) == expected


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({"version": "1.9"}, {"version": "1.10"}),
        ({"valid_from": "1 September 2023"}, {"valid_from": "1 September 2025"}),
        ({"file_path": "archive/fees.md"}, {"file_path": "current/fees.md"}),
        ({"file_path": "fees_v1.txt"}, {"file_path": "fees_v2.txt"}),
        ({"valid_until": "31 December 2025"}, {}),
        ({"file_path": "hr-07.md"}, {"title": "Working time", "replaces": "HR-07"}),
    ],
)
def test_documents_of_one_title_are_versions_by_what_they_and_their_files_say(older, newer):
    assert replaced([document("Fees") | newer, document("Fees") | older], TODAY).keys() == {1}


def test_a_document_that_says_it_no_longer_holds_is_marked_alone():
    assert titles(passage("Old fees", superseded="true"), passage("Tools")) == ["Tools", "Old fees (not in force)"]


def test_the_version_that_a_question_names_keeps_its_place():
    found = titles(passage("Fees 2023"), passage("Fees 2025"), question="What was the fee in 2023?")
    assert found == ["Fees 2023 (older version)", "Fees 2025"]
    assert not is_left(found[0], "What was the fee in 2023?")
    assert not is_left("Fees (2023-09-01, older version)", "What was the fee in September 2023?")
    assert is_left(found[0], "What is the fee?")


def test_two_documents_of_one_title_are_told_apart():
    one = passage("Fees", "Trucks pay 4 euro.", doc_id="a", file_path="a.md")
    other = passage("Fees", "Ships pay a lot.", doc_id="b", file_path="b.md")
    assert titles(one, other) == ["Fees (a)", "Fees (b)"]
    one["metadata"]["last_updated"], other["metadata"]["last_updated"] = "2023-01-10", "2025-01-10"
    assert titles(one, other) == ["Fees (2023-01-10)", "Fees (2025-01-10)"]


def test_a_passage_that_was_rewritten_later_is_of_the_older_version():
    one = passage("Fees", "Trucks pay 4 euro.", doc_id="a", last_updated="2023-01-10")
    other = passage("Fees", "Trucks pay 5 euro.", doc_id="b", last_updated="2025-01-10")
    assert titles(one, other) == ["Fees (2025-01-10)", "Fees (2023-01-10, older version)"]


def test_documents_without_an_id_stay_as_they_are():
    passages = [Passage(content="A", metadata={"title": "Fees"}, score=None)] * 2
    assert in_force_first(passages, "fees") == passages


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("This policy replaces that of 2023.\n", {"replaces": "that of 2023."}),
        ("Supersedes: Yard rules, issue 4\n", {"replaces": "Yard rules, issue 4"}),
        ("Valid from 1 May 2025 – revision 7", {"valid_from": "1 May 2025", "last_updated": "2025-05-01"}),
        ("This guide has been superseded by the new one.", {"superseded": "true"}),
        ("Status: draft", {"superseded": "true"}),
        ("Repealed on 1 March 2024.", {"superseded": "true"}),
        ("This notice takes effect on 1.7.2025.", {"valid_from": "2025-07-01", "last_updated": "2025-07-01"}),
        ("Valid until 31 December 2024.", {"valid_until": "31 December 2024"}),
        ("# Rents\n\nThese rents were valid until 31 March 2021.", {"valid_until": "31 March 2021"}),
        ("# Pool\n\n## Summer\n\nThese hours are valid until 31 March 2021.", {}),
        (
            "Gültig ab 1.1.2025\n\nErsetzt die Preisliste 2023",
            {"valid_from": "2025-01-01", "last_updated": "2025-01-01", "replaces": "die Preisliste 2023"},
        ),
        (
            "| Version | Valid from |\n|---|---|\n| 2.0 | 2024-02-01 |",
            {"version": "2.0", "valid_from": "2024-02-01", "last_updated": "2024-02-01"},
        ),
        ("The fee is effective from the gate onwards.\nA crane replaces the ramp.", {}),
    ],
)
def test_the_first_lines_say_which_version_a_document_is(text, says):
    assert stated(text) == says


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Effective 2026-04-01", "2026-04-01"),
        ("# Kennel rates (valid from 1 March 2026)\n\nA night costs 31 euro.", "2026-03-01"),
        ("# Kennel rates\n\n*Last updated on Sunday, 3 May 2026 by Ann*", "2026-05-03"),
        ("---\ntitle: Kennel rates\ndate: 2026-05-03\n---\n", "2026-05-03"),
        ("Kennel rates, last revised May 2026", "2026-05"),  # A month is no day.
        ("Effective as of April 2026", "2026-04"),
        (
            "Valid from 1 May 2025\nLast updated: 2 May 2025\n" + "A night. " * 400 + "\nLast reviewed: 3.6.2026",
            "2026-06-03",
        ),
        ("As of 1 March 2026, dogs pay 12 euro.", None),
        ("Effective date: see the letter of 3 May 2024", None),
        ("Date: 12 June 2026", None),  # That of an event, perhaps.
        ("Next review: 3 May 2027", None),
        ("Valid 30 days from 3 May 2026", None),
        ("Tickets are valid from 1 May 2026.", None),
    ],
)
def test_the_date_of_a_document_is_the_one_that_it_states(text, day):
    assert stated(text).get("last_updated") == day


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("From 1 March 2026 paper is collected on Thursdays.", False),
        ("Paper is collected on Mondays until 31 December 2025.", False),
        ("Since 2020 paper is collected on Mondays.", True),
    ],
)
def test_a_statement_of_another_day_does_not_hold_today(text, holds):
    assert holds_on(text, TODAY) == holds


def test_a_year_alone_is_no_series():
    assert series_of("2024") == ""


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("What was the entry fee in 2022?", [False, True, True]),
        ("How much did a locker cost in 2024?", [True, False, True]),
        ("What is the entry fee?", [True, True, False]),
        ("What was the entry fee in 2019?", [True, True, False]),  # Before all that is known.
    ],
)
def test_a_past_year_names_the_version_of_its_time(question, left):
    titles = ["Pool tariff 2021 (older version)", "Pool tariff 2024 (older version)", "Pool tariff 2026"]
    assert left_titles(titles, question) == left
