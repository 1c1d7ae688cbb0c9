import numpy as np
import pytest

from evals.certify import certify, least_kept, times_needed, upper_bound

RNG = np.random.default_rng


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
    rng, broken = RNG(7), 0
    for _ in range(1000):
        scores = rng.uniform(0.5, 1, 300)
        found = certify(np.column_stack([scores, rng.uniform(size=300) < scores]))
        broken += found is not None and (1 - found.threshold) / 2 > 0.1

    assert broken <= 100


def test_how_many_more_questions_would_do_follows_from_the_shares_so_far():
    assert times_needed(answers((0.95, 11, 0), (0.7, 30, 10))) == 2
    assert times_needed(answers((0.95, 11, 3), (0.7, 30, 10))) is None
    assert times_needed([]) is None
