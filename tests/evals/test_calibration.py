"""How far a confidence can be believed, in figures worked out by hand in the comment or the name beside each."""

import numpy as np
import pytest

from evals.metrics import (
    Bin,
    Point,
    auroc,
    brier,
    calibration_error,
    coverage_at,
    false_answer_curve,
    percentile,
    reliability,
    risk_coverage,
    risk_coverage_area,
)


def test_calibration_error_weighs_each_bin_by_its_count():
    # Bin 0.9-1.0: confidence 0.95, right 0.5, gap 0.45, 2 of 3. Bin 0.2-0.3: confidence 0.2, right 0, gap 0.2, 1 of 3.
    judged = [(0.9, True), (1.0, False), (0.2, False)]

    assert calibration_error(judged) == pytest.approx((2 * 0.45 + 0.2) / 3)
    assert reliability(judged) == [Bin(1, 0.2, 0.0), Bin(2, 0.95, 0.5)]


def test_brier_score_is_the_mean_squared_difference():
    assert brier([(0.9, True), (0.2, False)]) == pytest.approx((0.01 + 0.04) / 2)


def test_auroc_counts_pairs_in_the_right_order_and_ties_half():
    # Right 0.8 and 0.5, wrong 0.5 and 0.1: 0.8 beats both, 0.5 ties one and beats the other: 3.5 of 4 pairs.
    assert auroc([(0.8, True), (0.5, True), (0.5, False), (0.1, False)]) == 3.5 / 4
    assert auroc([(0.8, True)]) is None


@pytest.mark.parametrize(("percent", "value"), [(50, 5), (95, 10), (100, 10), (1, 1)])
def test_a_percentile_is_the_nearest_rank(percent, value):
    assert percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], percent) == value


def test_bins_of_equal_mass_hold_equal_numbers_and_ties_share_their_rightness():
    # Twenty answers of confidence 0.9 lie in one bin of equal width, in ten of equal mass; half of each are right.
    judged = [(0.9, n < 10) for n in range(20)]
    assert reliability(judged, equal_mass=True) == [Bin(2, 0.9, 0.5)] * 10
    assert calibration_error(judged, equal_mass=True) == pytest.approx(0.4)


def test_bins_of_equal_mass_see_what_wide_bins_hide():
    # Within 0.8-0.9 the mean confidence, 0.85, is the share that is right, but not for either half.
    judged = [(0.81, True)] * 85 + [(0.81, False)] * 15 + [(0.89, True)] * 85 + [(0.89, False)] * 15
    assert calibration_error(judged) == pytest.approx(0)
    assert calibration_error(judged, equal_mass=True) == pytest.approx(0.04)


def test_the_risk_of_what_is_kept_falls_with_the_threshold():
    # Kept one: right. Kept three (two of one confidence, one wrong): a third is wrong. Kept all: half.
    judged = [(0.9, True), (0.6, True), (0.6, False), (0.1, False)]
    assert risk_coverage(judged) == [Point(0.25, 0.0, 0.9), Point(0.75, 1 / 3, 0.6), Point(1.0, 0.5, 0.1)]


def test_the_area_under_risk_coverage_takes_ties_in_any_order():
    # Risks of 1 to 4 kept: 0, (0 + 0.5)/2, (0 + 0.5 + 0.5)/3, 2/4.
    judged = [(0.9, True), (0.6, True), (0.6, False), (0.1, False)]
    assert risk_coverage_area(judged) == pytest.approx((0 + 0.25 + 1 / 3 + 0.5) / 4)
    assert risk_coverage_area(judged) == risk_coverage_area(judged[::-1])
    assert risk_coverage([]) == []


@pytest.mark.parametrize(("limit", "coverage"), [(0.0, 0.5), (0.3, 0.5), (0.34, 0.5), (0.67, 0.75), (1.0, 0.75)])
def test_coverage_at_a_false_answer_rate(limit, coverage):
    # Out of scope: answered with 0.8 and 0.5, or not. In scope: 0.9, 0.85, 0.5 and not answered.
    # None of three may be answered: above 0.8, two of four. One: above 0.5, the same two. Two: all that is answered.
    scored = np.array([(0.9, 1), (0.85, 1), (0.5, 1), (-1, 1), (0.8, 0), (0.5, 0), (-1, 0)], dtype=float)
    assert coverage_at(scored, limit=limit) == coverage


def test_coverage_at_a_false_answer_rate_needs_questions_of_both_sorts():
    assert coverage_at(np.array([(0.9, 1.0)]), limit=0.1) is None


def test_the_curve_of_false_answers_has_a_point_for_each_threshold():
    scored = np.array([(0.9, 1), (0.5, 1), (-1, 1), (0.5, 0), (-1, 0)], dtype=float)
    assert false_answer_curve(scored) == [(0, 0), (0, 1 / 3), (0.5, 2 / 3)]
    assert false_answer_curve(scored[:3]) == []
