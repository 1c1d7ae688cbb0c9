"""Two runs of one question set: the interval of the change, and which questions flipped."""

import pytest

from evals.compare import Change, compare, comparison_text
from tests.evals.test_metrics import case, row

GOLD = "01_regulatory_gst"


def run(right: list[bool], **fields):
    return [row(str(n), cited=[GOLD if good else "other"], **fields) for n, good in enumerate(right)]


def changes(cases, before, after) -> dict[str, Change]:
    return {change.name: change for change in compare(cases, before, after, samples=300).changes}


def test_a_run_compared_with_itself_changes_nothing():
    cases = [case(str(n)) for n in range(10)]
    same = run([True, False] * 5)
    found = compare(cases, same, same, samples=50)

    assert {change.change for change in found.changes} <= {0.0, None}
    assert {change.verdict for change in found.changes} == {""}
    assert (found.better, found.worse, found.questions, found.left_out) == ((), (), 10, 0)


def test_a_steady_gain_is_told_from_chance_that_unpaired_intervals_would_hide():
    # Of 40 questions 20 are right before; the same and 6 more after: the paired interval leaves out 0.
    cases = [case(str(n)) for n in range(40)]
    found = changes(cases, run([n < 20 for n in range(40)]), run([n < 26 for n in range(40)]))["right, all kinds"]

    assert (found.before, found.after) == (0.5, 0.65)
    assert found.change == pytest.approx(0.15)
    assert found.low is not None
    assert found.low > 0
    assert found.verdict == "better"


def test_as_many_gains_as_losses_are_no_verdict_but_are_listed():
    cases = [case(str(n)) for n in range(8)]
    found = compare(cases, run([True] * 4 + [False] * 4), run([False] * 4 + [True] * 4), samples=100)

    assert [changed.verdict for changed in found.changes if changed.name == "right, all kinds"] == [""]
    assert [three[0].id for three in found.worse] == ["0", "1", "2", "3"]
    assert [three[0].id for three in found.better] == ["4", "5", "6", "7"]


def test_where_less_is_better_a_rise_is_worse():
    cases = [case(str(n), kind="action") for n in range(20)]
    declined = [row(str(n), outcome="declined") for n in range(20)]
    answered = [row(str(n)) for n in range(20)]
    found = changes(cases, declined, answered)

    assert found["false-answer rate"].verdict == "worse"
    assert found["correct declines"].verdict == "worse"


def test_only_questions_with_rows_in_both_are_compared_and_the_others_counted():
    cases = [case(str(n)) for n in range(4)]
    found = compare(cases, run([True] * 3), run([True] * 4)[1:], samples=20)
    assert (found.questions, found.left_out) == (2, 2)


def test_the_text_names_both_runs_the_change_and_the_flipped_questions():
    cases = [case(str(n)) for n in range(4)]
    text = comparison_text(
        compare(cases, run([True, False, True, True]), run([True, True, False, True]), samples=20), names=("a", "b")
    )
    lines = text.splitlines()

    assert lines[0] == "a -> b: 4 questions that both have rows of"
    assert "Got better: wrong before, right now: 1" in lines
    assert "Got worse: right before, wrong now: 1" in lines
    assert "  1 (answerable: answered -> answered) ?" in lines
    assert any(line.split()[:6] == ["right,", "all", "kinds", "0.750", "->", "0.750"] for line in lines)
