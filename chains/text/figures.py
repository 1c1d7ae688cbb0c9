"""Figures and fiscal years in one written form, so that a search by words finds them however they are written."""

import re
from typing import Final

_THOUSANDS: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_FISCAL_YEAR: Final = re.compile(r"\bFY\s?['’]?(?:20)?(\d\d)\b", re.IGNORECASE)
_QUARTER: Final = re.compile(r"\b(?:Q([1-4])|([1-4])Q)[\s-]?(?:FY)?['’]?(?:20)?(\d\d)\b", re.IGNORECASE)


def searchable(text: str) -> str:
    """Return the text with `1,577` as `1577`, `FY22` and `FY2022` as `FY 2022`, and `2Q22` as `Q2 2022`."""
    text = _QUARTER.sub(lambda found: f"Q{found[1] or found[2]} 20{found[3]}", text)
    text = _FISCAL_YEAR.sub(r"FY 20\1", text)
    return _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text)
