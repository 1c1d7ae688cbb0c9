"""Measures over questions, and their intervals by bootstrap."""

import numpy as np
import pytest

from evals.metrics import evaluate
from evals.metrics.measure import interval, mean, ratio, with_intervals
from tests.evals.test_metrics import case, row


def test_questions_that_do_not_count_are_in_no_denominator():
    measure = mean("answers", "right", [1.0, None, 0.0, None])
    assert (measure.value(), measure.count) == (0.5, 2)


def test_a_ratio_is_of_the_things_counted_not_of_the_questions():
    # 3 of 4 citations of one question, 0 of 1 of another: 3 of 5, not the mean of 0.75 and 0.
    measure = ratio("citations", "valid", [(3, 4), (0, 1), None])
    assert (measure.value(), measure.count) == (0.6, 5)


def test_the_interval_of_a_share_is_that_of_the_binomial():
    # 40 right of 100: the normal approximation gives 0.4 -+ 1.96 * sqrt(0.4 * 0.6 / 100) = 0.304 to 0.496.
    [metric] = with_intervals([mean("answers", "right", [1.0] * 40 + [0.0] * 60)])
    assert metric.value == 0.4
    assert metric.low == pytest.approx(0.304, abs=0.02)
    assert metric.high == pytest.approx(0.496, abs=0.02)


def test_a_draw_in_which_no_question_counts_is_left_out_of_the_interval():
    assert interval(np.array([np.nan, 0.5, np.nan])) == (0.5, 0.5)
    assert interval(np.array([np.nan])) is None


def test_every_metric_with_a_value_has_an_interval_that_is_the_same_each_time():
    cases = [case(str(n), answer_facts=("9%",)) for n in range(8)]
    rows = [
        row(str(n), answer="9 %" if n % 2 else "8 %", cited=["01_regulatory_gst"], score=n / 8, timings_ms={"a": n})
        for n in range(8)
    ]
    found, again = (evaluate(cases, rows, samples=50) for _ in range(2))

    assert found == again
    assert [metric.name for metric in found if (metric.low is None) != (metric.value is None)] == []
    assert [metric.name for metric in found if (metric.low or 0) > (metric.high or 0)] == []


def test_one_question_has_no_interval():
    assert all(metric.low is None for metric in evaluate([case()], [row()], samples=50))
