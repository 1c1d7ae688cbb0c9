"""The weights of the offline answerer: what is kept of them, and what they are worth."""

import json

import numpy as np
import pytest

from app.wings.offline.evidence import FEATURES
from app.wings.offline.ranker import packaged_ranker, read_ranker


def values(**given):
    row = [given.get(name, feature.mean) for name, feature in packaged_ranker(FEATURES).features.items()]
    return np.array([row])


def test_the_ranker_is_what_was_written():
    ranker = packaged_ranker(FEATURES)

    assert read_ranker(ranker.text(), FEATURES) == ranker


@pytest.mark.parametrize("changed", [{"version": 1}, {"features": {}}])
def test_weights_of_another_version_are_refused_with_the_command_that_fits_them(changed):
    kept = json.loads(packaged_ranker(FEATURES).text()) | changed

    with pytest.raises(ValueError, match=r"benchmarks\.fits\.answerer"):
        read_ranker(json.dumps(kept), FEATURES)


@pytest.mark.parametrize("name", ["near", "range", "score", "meaning"])
def test_more_of_what_speaks_for_a_statement_makes_it_likelier(name):
    ranker = packaged_ranker(FEATURES)

    assert ranker.probabilities(values(**{name: 1.0})) > ranker.probabilities(values(**{name: 0.0}))


def test_an_unknown_similarity_is_taken_to_be_as_good_as_the_words():
    ranker = packaged_ranker(FEATURES)
    unknown = {"score": np.nan, "meaning": np.nan, "meaning_above": np.nan}

    well, badly = (ranker.probabilities(values(near=near, **unknown)) for near in (1.0, 0.0))
    assert well > ranker.probabilities(values(near=1.0))
    assert badly < ranker.probabilities(values(near=0.0))


def test_a_statement_far_ahead_of_the_others_of_its_question_is_likelier():
    ranker = packaged_ranker(FEATURES)
    alone = ranker.probabilities(np.concatenate([values(near=1.0), values(near=0.0)]))
    beside = ranker.probabilities(np.concatenate([values(near=1.0), values(near=0.95)]))

    assert alone[0] > beside[0]


def test_a_feature_far_from_its_mean_tells_no_more_than_one_at_the_border():
    ranker = packaged_ranker(FEATURES)

    assert ranker.scores(values(score=50.0)) == pytest.approx(ranker.scores(values(score=500.0)))
