"""The comparison of ways to find passages."""

from benchmarks import ways
from benchmarks.fits.corpora import cases_of


def test_every_question_set_that_ways_are_compared_on_can_be_read(tmp_path):
    read = {one.name: len(cases_of(one)) for one in ways.sets(tmp_path)}
    assert read.keys() == {"sample", *ways.OWN}
    assert all(read.values())
