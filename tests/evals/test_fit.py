import numpy as np
import pytest

from chains.confidence import WORDS, CalibrationModel, load_model
from chains.errors import WaypointError
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


def test_the_packaged_model_knows_every_feature():
    assert set(load_model(None, WORDS).factors) == set(WORDS)
