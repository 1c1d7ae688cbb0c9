"""Derive the title of a report without one from its first pages: company, year and form."""

import re
from collections.abc import Sequence

from chains.text.words import word_set

FORM = re.compile(r"\bform\s+(10-?[kq](?:/a)?|8-?k|6-?k|20-?f|40-?f|s-?1)\b", re.IGNORECASE)
PERIOD = re.compile(
    r"\b(?:fiscal\s+year|year|quarter(?:ly\s+period)?|period)\s+(?:ended|ending)\b[^.\n]{0,40}?\b((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
REPORTED = re.compile(r"\bdate\s+of\s+(?:report|earliest)[^.]{0,80}?\b((?:19|20)\d\d)\b", re.IGNORECASE | re.DOTALL)
REGISTRANT = re.compile(r"exact\s+name\s+of\s+(?:the\s+)?registrant", re.IGNORECASE)
LETTERS = re.compile(r"[^\W\d_]{2}")
# Words that name the kind of a file and not what it is about.
KINDS = word_set("""
    10-k 10k 10-q 10q 8-k 8k annual copy doc document draft file final financial form page pages pdf print quarterly
    report scan statement statements the untitled version microsoft word www html htm
    """)
LONGEST = 150


def report_title(text: str) -> str:
    """Return company, year and form of a report to a stock exchange, as `ACME Corp 2022 10-K`; else nothing."""
    company, form = _company(text.splitlines()), FORM.search(text)
    if not company or not form:
        return ""
    year = PERIOD.search(text) or REPORTED.search(text)
    return " ".join(filter(None, [company, year[1] if year else "", form[1].upper()]))


def _company(lines: Sequence[str]) -> str:
    """Return the line above the words "Exact name of registrant"."""
    for number, line in enumerate(lines):
        if REGISTRANT.search(line):
            above = [text.strip() for text in lines[max(0, number - 4) : number] if LETTERS.search(text)]
            return above[-1][:LONGEST] if above else ""
    return ""


def says_something(title: str) -> bool:
    """Return whether a title contains a word other than numbers and kinds of files."""
    words = re.findall(r"[^\s_,.:()]+", title.lower())
    return any(LETTERS.search(word) and word.rstrip("0123456789") not in KINDS for word in words)
