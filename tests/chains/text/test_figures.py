import pytest

from chains.text.words import searchable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1,577 million and 12,345,678 shares", "$1577 million and 12345678 shares"),
        ("FY2022, FY22 and FY '22", "FY 2022, FY 2022 and FY 2022"),
        ("2Q22, Q2 2022 and Q2 FY2022", "Q2 2022, Q2 2022 and Q2 2022"),
        ("fiscal year 2022", "fiscal year 2022"),
        ("12,34 and 1,2345 and 3.14,159", "12,34 and 1,2345 and 3.14,159"),
        ("FY1999 of the Q5 22 in Fyn", "FY1999 of the Q5 22 in Fyn"),
    ],
)
def test_figures_and_fiscal_years_have_one_form(text, expected):
    assert searchable(text) == expected
