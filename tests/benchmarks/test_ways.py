"""The parts of the table of ways that need no index."""

import numpy as np

from benchmarks.ways import Measured, change, halved, lines, misspelt
from evals.questions import Case, Gold

CASE = Case("a", "Which documents does a shipment to Indonesia need?", "answerable", (Gold("guide"),))


def measured(*firsts: float) -> Measured:
    return Measured(np.array([[first, 1.0, 1.0] for first in firsts]), 20.0, 3.0, 14.0)


def test_typing_errors_are_always_the_same_and_in_as_many_words():
    once, again = (misspelt(CASE, 2).question for _ in range(2))
    words = zip(once.split(), CASE.question.split(), strict=True)

    assert once == again
    assert sum(one != other for one, other in words) == 2
    assert misspelt(CASE, 0) == CASE


def test_the_halves_share_no_question():
    cases = [Case(str(number), "Where?", "answerable", (Gold("guide"),)) for number in range(5)]

    assert [case.id for half in ("first", "second") for case in halved(cases, half)] == ["0", "2", "4", "1", "3"]
    assert halved([Case("a", "Where?", "uncovered")], None) == []


def test_a_change_has_its_interval():
    assert change(np.array([1.0, 1.0])) == "+1.000 (+1.000 to +1.000)"


def test_the_first_way_is_compared_with_none():
    first, second = lines("sample", {"hybrid": measured(1, 0), "mmr": measured(1, 1)}).splitlines()

    assert first == "| sample | hybrid | 2 | 0.50 | 1.00 | 1.00 |  |  | 20.0 | 3.0 | 14 |"
    assert second.startswith("| sample | mmr | 2 | 1.00 | 1.00 | 1.00 | +0.500 (")
