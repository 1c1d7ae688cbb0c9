"""The table of costs: tokens times prices."""

from benchmarks.costs import MEAN, MOST, PRICES, cost_table


def test_a_thousand_questions_cost_their_tokens_times_the_prices():
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in cost_table().splitlines()[2:]]
    read, written = MEAN

    assert [row[0] for row in rows] == list(PRICES)
    for (name, _, mean, most), (prompt, answer) in zip(rows, PRICES.values(), strict=True):
        assert mean == f"{(read * prompt + written * answer) / 1000:.2f}", name
        assert most == f"{(MOST[0] * prompt + MOST[1] * answer) / 1000:.2f}", name
