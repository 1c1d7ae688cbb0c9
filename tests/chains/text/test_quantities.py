import pytest

from chains.text.quantities import quantities


def contradict(one: str, other: str) -> bool:
    return any(mine.contradicts(theirs) for mine in quantities(one) for theirs in quantities(other))


FIGURES = {
    True: [
        ("12 %", "11 per cent"),
        ("S$400", "SGD 500"),
        ("14 days", "three weeks"),
        ("3 to 5 days", "9 days"),
        ("3 to 5 working days", "6-8 business days"),
        ("at least 5 years", "4 years"),
        ("up to S$400", "up to S$500"),
        ("1 January 2024", "2024-07-01"),
        ("March 2025", "1 April 2025"),
        ("08:30 to 18:00", "9:00 am - 6:00 pm"),
        ("three originals", "2 originals"),
        ("SGD 5,000 - 20,000", "SGD 30,000"),
    ],
    False: [
        ("1,000 kg", "1 t"),
        ("14 days", "two weeks"),
        ("24 hours", "1 day"),
        ("12 months", "1 year"),
        ("14 calendar days", "14 days"),
        ("5 working days", "7 calendar days"),
        ("S$400", "USD 300"),
        ("3 to 5 days", "4 days"),
        ("up to 5 days", "3 days"),
        ("about 14 days", "10 days"),
        ("1 January 2024", "January 2024"),
        ("17 October", "17 October 2026"),
        ("2 million", "2,000,000"),
        ("50k", "50,000"),
        ("SGD 1.5K", "SGD 1,500"),
        ("step 3", "S$4"),
        ("they may 3 times", "in May 2024"),
    ],
}


@pytest.mark.parametrize(
    ("one", "other", "expected"), [(*pair, expected) for expected, pairs in FIGURES.items() for pair in pairs]
)
def test_figures_of_one_measure_contradict_each_other_and_those_that_can_both_hold_do_not(one, other, expected):
    assert (contradict(one, other), contradict(other, one)) == (expected, expected)


def test_a_quantity_tells_its_place():
    text = "A quote is valid for 3 to 5 working days."
    [found] = quantities(text)

    assert text[found.start : found.end] == "3 to 5 working days"
    assert (found.measure, found.low, found.high) == ("working duration", 3 * 1440, 5 * 1440)


def test_of_a_day_that_no_calendar_has_only_the_year_is_a_date():
    assert [one.measure for one in quantities("31 February 2024")] == ["februari", "date"]
