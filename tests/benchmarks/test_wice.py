"""The figures of `support` count claims of one document together, and never by weights that saw the document."""

import numpy as np

from benchmarks.claims import Claim, aurocs, documents, folds
from benchmarks.wice import Model, by_degree, cross_validated, linear, weigh_features

PAGE = "A sentence so long that two pages hold it only where one of them is a copy of the other, " * 2


def claims(count: int) -> list[Claim]:
    """Claims of which every two are of one article, their grades by turns."""
    return [Claim("Text.", ["Evidence."], place % 3, f"Article {place // 2}") for place in range(count)]


def test_claims_of_one_article_or_with_a_long_sentence_in_common_are_of_one_document():
    rows = [
        Claim("One.", ["Short."], 0, "Rice"),
        Claim("Two.", ["Short.", PAGE], 1, "Tea"),
        Claim("Three.", ["Other."], 2, "Rice"),
        Claim("Four.", [PAGE], 2, "Milk"),
        Claim("Five.", ["More."], 2, "Milk"),
        Claim("Six.", ["Short."], 0, "Salt"),
    ]
    found = documents(rows)
    assert [found.index(number) for number in found] == [0, 1, 0, 1, 1, 5]


def test_every_row_is_held_out_once_and_documents_stay_whole():
    groups = documents(claims(40))
    held = np.array(list(folds(groups, 5, 0)))
    assert (held.sum(axis=0) == 1).all()
    assert all(len({tuple(held[:, row]) for row in np.flatnonzero(np.array(groups) == one)}) == 1 for one in groups)


def test_a_feature_that_tells_grades_apart_gets_the_weight():
    grades = np.tile([0.0, 1.0, 2.0], 50)
    noise = np.random.default_rng(0).normal(size=(150, 2))
    values = np.column_stack([grades + noise[:, 0], noise[:, 1]])
    telling, idle = weigh_features(values, by_degree(grades), 1.0)
    assert telling > 3 * abs(idle)


def test_a_feature_that_says_nothing_ranks_claims_of_other_documents_no_better_than_chance():
    rows = claims(120)
    values = np.random.default_rng(0).normal(size=(120, 12))
    scores = cross_validated(Model(values, [range(1, 12)], linear, by_degree), rows)
    supported, partially = aurocs([row.grade for row in rows], scores)
    assert max(supported, partially) < 0.6
