"""Two runs compared, and floors under their figures."""

import pytest

from evals.compare import Change, compare, comparison_text
from evals.gate import Floor, FloorError, check_names, failures, read_floor
from evals.metrics import Metric, names_for
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


METRICS = [
    Metric("right", "right, all kinds", 0.75, 20),
    Metric("retrieval", "document hit@5", 0.9, 20),
    Metric("answers", "false declines", 0.2, 20, less_is_better=True),
    Metric("retrieval", "page hit@5", None, 0),
]


@pytest.mark.parametrize("text", ["", "right", "right=", "right=high", "right=nan", "right=inf"])
def test_what_is_no_floor_is_refused_with_an_example(text):
    with pytest.raises(FloorError, match="write metric=value with a number"):
        read_floor(text)


@pytest.mark.parametrize(
    ("floors", "told"),
    [
        ([Floor("right, all kinds", 0.75)], []),
        (
            [Floor("right, all kinds", 0.8), Floor("document hit@5", 0.8)],
            ["right, all kinds is 0.750, less than the 0.8 that is asked for"],
        ),
        ([Floor("false declines", 0.2)], []),
        ([Floor("false declines", 0.1)], ["false declines is 0.200, more than the 0.1 that is allowed"]),
        ([Floor("page hit@5", 0)], ["page hit@5 is unknown: no question counts for it; the limit is 0"]),
    ],
)
def test_a_figure_beyond_its_limit_or_of_no_question_fails_with_both_values(floors, told):
    assert failures(floors, METRICS) == told


@pytest.mark.parametrize("name", ["Right, all kinds", "right-all-kinds", "RIGHT_ALL_KINDS"])
def test_a_name_may_be_written_as_a_shell_likes_it(name):
    [told] = failures([Floor(name, 1)], METRICS)
    assert told.startswith("right, all kinds is 0.750")


def test_an_unknown_metric_is_refused_with_the_names_there_are():
    with pytest.raises(FloorError, match=r"no metric 'recall'; there are: document hit@5, false declines, page hit@5"):
        failures([Floor("recall", 0.5)], METRICS)


def test_no_two_metrics_are_written_alike():
    names = names_for([case(str(n), kind=kind) for n, kind in enumerate(["followup", "underspecified"])], ["context"])
    check_names([Floor(name, 0) for name in names], names)
    assert len({"".join(c for c in name.lower() if c.isalnum()) for name in names}) == len(names)
