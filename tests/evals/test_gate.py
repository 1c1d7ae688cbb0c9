"""Floors under figures, from the command line's words to the sentences of a failure."""

import pytest

from evals.gate import Floor, FloorError, check_names, failures, read_floor
from evals.metrics import Metric, names_for
from tests.evals.test_metrics import case

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
