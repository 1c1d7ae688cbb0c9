"""The house may not grow."""

from benchmarks.house import RATCHET, ratchet


def test_more_lines_than_the_ratchet_fail_and_as_many_do_not() -> None:
    assert "delete" in str(ratchet(RATCHET + 1))
    assert ratchet(RATCHET) is None


def test_the_ratchet_follows_a_house_that_became_smaller() -> None:
    assert "lower RATCHET" in str(ratchet(RATCHET * 9 // 10))
