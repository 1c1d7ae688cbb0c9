"""Words and forms by which a claim is told from an example, a plan or the past, and what of it names its subject."""

import re
from typing import Final

from chains.text.words import stem, word_set


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, word_set(words)))


GENERIC: Final = _stems(
    "amount apply bear carry charge charges cost equal pay stay rate rates standard general normal headline usual "
    "current prevailing value figure total level fee price term terms period time timeline target "
    "deadline minimum maximum limit least most take takes stand count day days hour hours week month year years "
    "percent item amounts valid validity expect due open close fix present describe detail requirement retain receive "
    "lead notice obtain store "
    "need require provide offer set remain stood arrange last keep hold long early many much often"
)
"""Words that do not say what a figure is about: verbs that give it, and what its unit says already."""

IN_NO_HEADING: Final = _stems(
    "overview summary introduction question questions answer faq note notes tip tips fact facts key detail details "
    "background reminder reminders general other more information point points practical data term terms basic desk "
    "customer hears most compliance glossary abbreviations abbreviation page chapter section part"
)
"""Words of headings that say nothing about the text below."""

IN_NO_TITLE: Final = _stems(
    "faq sla sop policy guide handbook manual procedure procedures note notes memo summary list overview reference "
    "terms conditions document agreement requirements rules price prices new staff asked frequently "
    "upload file text copy untitled"
)
"""Words of titles that name a kind of document, and no subject."""

OF_DOCUMENTS: Final = _stems(
    "document version id effective review date owner classification approved author status updated pol sop next issue "
    "revision page"
)
"""What documents say of themselves: each says something else."""

SINGLE: Final = _stems(
    "headquarters headquartered office capital owner manager director contact authority code currency language system "
    "hub chair chaired issued administered notified approved signed regulated supervised led founded named called "
    "located based run filed lodged responsible operator operated"
)
"""Words behind which one name stands, so that another name contradicts it."""

EVERYWHERE: Final = frozenset({"global", "international", "worldwide", "asean", "eu", "n/a"})
"""Jurisdictions that are no country."""

NOT_NOW: Final = re.compile(
    r"\b(?:was|were|had been|formerly|previously|in the past|used to|will be|will rise|will fall|would|propos\w+|"
    r"plan(?:s|ned)|draft|expected to|superseded|obsolete|no longer|any ?more|outdated|old)\b",
    re.IGNORECASE,
)
EXAMPLE: Final = re.compile(
    r"\b(?:examples?|for instance|e\.g|suppose|imagine|sample calculation)\b|[=÷×]", re.IGNORECASE
)
