"""Which row of a table a question in everyday words picks, and which of its cells is said first."""

import pytest

from app.wings.offline import OfflineChatModel
from app.wiring.models import word_similarity
from tests.app.wings.offline.asking_offline import UNSURE, ask, reply_to

TOURS = (
    "[Observatory]\n| Tour | For | Day | Starts | Ends | Room | Guide | Fee |\n|---|---|---|---|---|---|---|---|\n"
    "| Moon walk | 6 to 9 | Friday | 17:00 | 18:15 | Dome 2 | Ada Lund | £4 |\n"
    "| Star night | 10 and over | Saturday | 20:30 | 23:00 | Terrace | Ravi Sen | £7 |"
)
CHEESES = (
    "[Dairy]\n| Cheese | Weight | Whole | Slicing, 10 minutes | Letters included | Each further letter |\n"
    "|---|---|---|---|---|---|\n| Round | up to 4 kg | €12 | €1 | 20 | €0.50 |\n"
    "| Wheel | 5 to 12 kg | €30 | €2 | 40 | €0.80 |"
)
BATHS = (
    "[Sauna]\n| Bath | Up to 15 years | 16 years and over |\n|---|---|---|\n"
    "| 30 minutes | 3 € | 5 € |\n| 60 minutes | 5 € | 8 € |\n| 90 minutes | 7 € | 11 € |"
)
FAIRS = (
    "[Fairs]\n| Date | Fair | Opens |\n|---|---|---|\n| 03/05/2027 | Seed swap | 10:00 |\n"
    "| 03/07/2027 | Rose show | 9:30 |\n| 2027-10-09 | Apple day | 11:00 |"
)
TENTS = (
    "[Camping]\n| Place | Families | Dogs |\n|---|---|---|\n| Hill tent | ✓ |  |\n| Yurt | ✓ | ✓ |\n| Pod |  | ✓ |\n"
    "| Ask us for a cot. | | |"
)
TOLLS = (
    "[Bridge]\n| Vehicle | Toll |\n|---|---|\n| Car up to 5 m | 2 € |\n| Car over 5 m | 3 € |\n"
    "| Lorry up to 10 m | 9 € |\n| Lorry over 10 m | 14 € |"
)
KILNS = (
    "[Kilns]\n| Kiln | From | To | Holds | 1 month | 12 months |\n|---|---|---|---|---|---|\n"
    "| Large kiln | 3 May 2027 | 9 July 2027 | 60 kg | €40 | €400 |\n"
    "| Small kiln | 1 June 2027 | 2 August 2027 | 20 kg | €25 | €250 |"
)
BARN = "[Barn]\nHay barn, Low Road.\n\nMonday to Friday 8:00 to 16:00. Eggs cost £2."


def first(question: str, *entries: str, score: float = 0.6) -> str:
    answer = ask(question, *entries, model=OfflineChatModel(similarity=word_similarity()), scores=[score])
    return answer.removeprefix(UNSURE).strip()


@pytest.mark.parametrize(
    ("question", "entry", "said"),
    [
        ("when is the moon walk", TOURS, "Moon walk – Day: Friday; Starts: 17:00; Ends: 18:15;"),
        ("what time does the moon walk finish", TOURS, "Moon walk – Ends: 18:15;"),
        ("when does star night begin", TOURS, "Star night – Starts: 20:30;"),
        ("who does star night", TOURS, "Star night – Guide: Ravi Sen;"),
        ("where is the moon walk", TOURS, "Moon walk – Room: Dome 2;"),
        ("how much to see the star night", TOURS, "Star night – Fee: £7;"),
        ("10 kg what does it cost", CHEESES, "Wheel – Whole: €30;"),
        ("price of one more letter on a round", CHEESES, "Round – Each further letter: €0.50;"),
        ("half an hour for a 9 year old", BATHS, "30 minutes – Up to 15 years: 3 €;"),
        ("which fair is on the 3rd of may", FAIRS, "03/05/2027 – Fair: Seed swap;"),
        ("whats on 9 october", FAIRS, "2027-10-09 – Fair: Apple day;"),
        ("which tent is ok for families with dogs", TENTS, "Yurt – Families: yes; Dogs: yes."),
        ("when does the small kiln end", KILNS, "Small kiln – To: 2 August 2027;"),
        ("the big kiln for a year", KILNS, "Large kiln – 12 months: €400;"),
        ("how much can the small kiln hold", KILNS, "Small kiln – Holds: 20 kg;"),
        ("toll for a car of 4.2 m", TOLLS, "Car up to 5 m – Toll: 2 €."),
        ("toll for a 12 m truck", TOLLS, "Lorry over 10 m – Toll: 14 €."),
    ],
)
def test_the_cell_that_is_asked_for_stands_first(question, entry, said):
    assert first(question, entry).startswith(said)


def test_which_thing_names_no_row_by_its_own_word():
    assert first("which tent takes dogs", TENTS).startswith("- Yurt – Dogs: yes")


def test_a_note_below_a_table_is_no_row_of_it():
    assert "cot" not in first("the tents", TENTS)


def test_a_column_of_the_age_is_named_by_how_old():
    hire = "[Hire]\n| Boat | Deposit | Least age |\n|---|---|---|\n| Raft | £30 | 12 |\n| Yacht | £90 | 21 |"
    assert first("how old for the yacht", hire).startswith("Yacht – Least age: 21;")


@pytest.mark.parametrize("question", ["when do you shut", "are you open on tuesday"])
def test_hours_of_a_day_say_that_something_is_open(question):
    assert first(question, BARN, score=0.35).startswith("Monday to Friday 8:00 to 16:00.")


def test_open_only_asks_in_are_you_open():
    barn = "[Barn]\nIn May also Saturday afternoon until 16:00. Eggs cost £2."
    answer = ask("are you open saturday afternoon", barn, model=OfflineChatModel(), scores=[0.4])
    assert answer.startswith("In May also Saturday afternoon until 16:00.")


def test_a_range_behind_a_word_for_the_young_is_of_years():
    bus = "[Bus]\n| Rider | Fare |\n|---|---|\n| Adult | 12 kr |\n| Child 5 to 15 | 6 kr |\n| Child under 5 | 0 kr |"
    assert first("12 year old", bus).startswith("Child 5 to 15 – Fare: 6 kr.")


def test_a_word_that_a_single_passage_lacks_weighs_less_than_in_many():
    kiosk = "[Kiosk]\nThe machines take coins and cards, no notes. A coffee is €2."
    model = OfflineChatModel(similarity=word_similarity())
    assert (
        reply_to("do the machines take swipe cards", kiosk, model=model, scores=[0.45]).response_metadata["match"]
        > 0.48
    )
