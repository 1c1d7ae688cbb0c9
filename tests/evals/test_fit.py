"""Confidence fitted to answers, and what can be certified of it."""

import numpy as np
import pytest

from chains.confidence.calibrated import CalibrationModel
from chains.errors import WaypointError
from evals.certify import certify, least_kept, times_needed, upper_bound
from evals.fit import Labelled, cross_validated, fit, fit_to, gain, untrained
from evals.logistic import listwise
from evals.metrics import Judged, auroc, calibration_error

NAMES = ["best_similarity", "background"]


def rows(count: int, *, seed: int = 1, corpus: str = "a") -> list[Labelled]:
    """Answers of which those with a near passage are right more often; `documents` says nothing."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        near, many = rng.uniform(0, 1, 2)
        right = bool(rng.uniform() < 1 / (1 + np.exp(-8 * (near - 0.5))))
        found.append(Labelled({"best_similarity": float(near), "background": float(many)}, right, corpus))
    return found


def judged(model: CalibrationModel, some: list[Labelled]) -> Judged:
    return [(model.probability(row.features), row.right) for row in some]


def ranked(of: Judged) -> float:
    value = auroc(of)
    assert value is not None
    return value


def test_a_model_fitted_to_many_rows_ranks_and_predicts_rows_it_has_not_seen():
    seen, unseen = rows(400), rows(400, seed=2)
    model = fit(seen, untrained(seen, NAMES), strength=1.0)

    assert ranked(judged(model, unseen)) > 0.85
    error = calibration_error(judged(model, unseen))
    assert error is not None
    assert error < 0.08
    assert abs(model.factors["background"].weight) < model.factors["best_similarity"].weight / 4


def test_few_rows_leave_the_model_near_the_prior_and_many_move_it():
    prior = fit(rows(400), untrained(rows(400), NAMES))
    opposite = [Labelled(row.features, not row.right) for row in rows(400, seed=3)]

    few, many = fit(opposite[:10], prior), fit(opposite, prior)
    assert few.factors["best_similarity"].weight > 0 > many.factors["best_similarity"].weight


def test_a_ranker_fitted_to_lists_puts_the_wanted_one_first_in_lists_it_has_not_seen():
    rng = np.random.default_rng(0)
    lists = [rng.normal(size=(5, 2)) for _ in range(200)]
    wanted = [np.eye(5)[int((values @ [1.0, -2.0]).argmax())] for values in lists]
    found = listwise(list(zip(lists[:100], wanted[:100], strict=True)), np.zeros(2), np.ones(2))

    right = [int((values @ found).argmax()) == int(best.argmax()) for values, best in zip(lists, wanted, strict=True)]
    assert np.mean(right[100:]) > 0.9


def test_each_corpus_counts_alike():
    large, small = rows(400), [Labelled(row.features, not row.right, "b") for row in rows(40, seed=3)]
    both = fit([*large, *small], untrained(large, NAMES), strength=0.1)

    assert abs(both.factors["best_similarity"].weight) < 0.5


def test_no_row_is_judged_by_a_model_that_has_seen_it():
    noise = [Labelled(row.features, bool(n % 2)) for n, row in enumerate(rows(60))]
    prior = untrained(noise, NAMES)

    seen = ranked(judged(fit(noise, prior, strength=0.01), noise))
    assert ranked(cross_validated(noise, prior)) < seen


def test_the_gain_has_an_interval_that_holds_it():
    seen = rows(300)
    found = gain([(0.5, row.right) for row in seen], judged(fit(seen, untrained(seen, NAMES)), seen), samples=100)

    change, low, high = found["AUROC"]
    assert low < change < high
    assert low > 0.2


@pytest.mark.parametrize("some", [rows(10), [Labelled(row.features, True) for row in rows(40)]])
def test_too_few_rows_and_rows_that_are_all_right_are_refused(some):
    with pytest.raises(WaypointError, match="20 or more answers, some right and some wrong"):
        fit_to(some, untrained(some, NAMES), fitted_on="rows")


def answers(*kept: tuple[float, int, int]) -> list[tuple[float, bool]]:
    """Of each score: so many answers, and how many of them are wrong."""
    return [(score, number >= wrong) for score, count, wrong in kept for number in range(count)]


@pytest.mark.parametrize(("wrong", "kept", "bound"), [(0, 22, 0.0994), (1, 38, 0.0985), (5, 91, 0.0995), (3, 3, 1.0)])
def test_the_bound_is_that_of_clopper_and_pearson(wrong, kept, bound):
    assert upper_bound(wrong, kept, 0.9) == pytest.approx(bound, abs=5e-5)


def test_the_lowest_threshold_that_holds_is_certified():
    found = certify(answers((0.95, 30, 0), (0.85, 30, 1), (0.7, 30, 20)))

    assert found is not None
    assert (found.kept, found.wrong) == (60, 1)
    assert 0.7 < found.threshold <= 0.85


def test_the_first_threshold_that_fails_ends_the_sequence():
    assert certify(answers((0.95, 30, 10), (0.85, 1000, 0))) is None


def test_too_few_answers_are_passed_over_and_never_certified():
    assert certify(answers((0.95, least_kept(0.1, 0.9) - 1, 0))) is None
    assert certify([]) is None
    found = certify(answers((0.99, 2, 1), (0.85, 60, 0)))
    assert found is not None
    assert found.kept == 62


def test_no_threshold_at_or_below_the_level_beneath_is_certified():
    found = certify(answers((0.95, 30, 0), (0.6, 30, 0)), above=0.6)

    assert found is not None
    assert found.threshold == 0.61


def test_the_promise_is_broken_in_at_most_a_tenth_of_samples():
    """Of all answers with a score s a share of (1 - s) is wrong: of those with at least .8 a tenth."""
    rng, broken = np.random.default_rng(7), 0
    for _ in range(1000):
        scores = rng.uniform(0.5, 1, 300)
        found = certify(np.column_stack([scores, rng.uniform(size=300) < scores]))
        broken += found is not None and (1 - found.threshold) / 2 > 0.1

    assert broken <= 100


def test_how_many_more_questions_would_do_follows_from_the_shares_so_far():
    assert times_needed(answers((0.95, 11, 0), (0.7, 30, 10))) == 2
    assert times_needed(answers((0.95, 11, 3), (0.7, 30, 10))) is None
    assert times_needed([]) is None
