"""Decide whether two claims contradict each other: one subject, one measure, one condition, and another value."""

from collections.abc import Collection
from typing import Final

from chains.citations.claim_words import GENERIC, OF_DOCUMENTS
from chains.citations.claims import Claim
from chains.text.quantities import Quantity

FEWEST_SHARED: Final = 2
SPECIFIC: Final = 4  # So many words in common say what a claim is about without a heading.
SHORTEST_ROOT: Final = 4


def contradict(one: Claim, other: Claim) -> bool:
    """Return whether two claims cannot both be true. Precision comes first: where it is not sure, they can."""
    return (
        _values_differ(one, other)
        and one.conditions == other.conditions
        and one.is_denied == other.is_denied
        and _same_subject(one, other)
        and not _listed_together(one, other)
        and not _about_others(one, other)
        and not _under_others(one, other)
    )


def _values_differ(one: Claim, other: Claim) -> bool:
    mine, theirs = one.value, other.value
    if isinstance(mine, Quantity) and isinstance(theirs, Quantity):
        return (
            mine.contradicts(theirs)
            and all(mine.contradicts(value) for value in other.values if value.measure == mine.measure)
            and all(theirs.contradicts(value) for value in one.values if value.measure == theirs.measure)
        )
    if isinstance(mine, Quantity) or isinstance(theirs, Quantity):
        return False
    mine, theirs = mine - theirs - other.about.title, theirs - mine - one.about.title
    return bool(mine and theirs) and mine.isdisjoint(other.also) and theirs.isdisjoint(one.also)


def _same_subject(one: Claim, other: Claim) -> bool:
    """Return whether each claim says all words of the other's subject, or its headings or its title do."""
    shared, names = one.words & other.words, _shared_names(one, other)
    if shared <= OF_DOCUMENTS and one.about.document != other.about.document:
        return False
    in_common = (_topic(one) & _topic(other)) - GENERIC
    if len(shared) < FEWEST_SHARED and not (shared and (len(in_common) > FEWEST_SHARED or names >= FEWEST_SHARED)):
        return False
    mine, theirs = not _unsaid(one.words, other), not _unsaid(other.words, one)
    return mine and theirs if isinstance(one.value, Quantity) or not names else mine or theirs


def _topic(claim: Claim) -> frozenset[str]:
    return claim.words | claim.heading | claim.about.title


def _shared_names(one: Claim, other: Claim) -> int:
    mine = {name for name in one.names if _is_said(name, other.also)}
    return len(mine | {name for name in other.names if _is_said(name, one.also)})


def _unsaid(words: Collection[str], other: Claim) -> list[str]:
    return [word for word in words if not _is_said(word, other.also)]


def _is_said(word: str, said: Collection[str]) -> bool:
    """Return whether a word is among others, or one of the same root: "Malaysian" for "Malaysia"."""
    if word in said:
        return True
    root = word[: max(SHORTEST_ROOT, len(word) - 3)]
    return len(word) > SHORTEST_ROOT and any(theirs.startswith(root) for theirs in said)


def _listed_together(one: Claim, other: Claim) -> bool:
    """Return whether two items of one list, or two rows of one table, speak of two things."""
    together = one.about.document == other.about.document and one.group == other.group != ""
    return together and (one.beside != other.beside or not one.is_row)


def _about_others(one: Claim, other: Claim) -> bool:
    """Return whether the documents are about two countries, two carriers, two products."""
    mine, theirs = _unsaid(one.about.names, other), _unsaid(other.about.names, one)
    places = {one.about.place, other.about.place} - {""}
    elsewhere = len(places) > 1 and bool(mine or theirs or not one.about.names | other.about.names)
    return elsewhere or bool(mine and theirs)


def _under_others(one: Claim, other: Claim) -> bool:
    """Return whether the headings name two things, such as "Sea freight" and "Air freight"."""
    if one.words == other.words and len(one.words) >= SPECIFIC:
        return False
    mine, theirs = _unsaid(one.heading, other), _unsaid(other.heading, one)
    needed = [bool(mine) and _needs_heading(one), bool(theirs) and _needs_heading(other)]
    if mine and theirs and (one.heading & other.heading or all(needed)):
        return True
    return any(needed) and not _is_specific(one, other)


def _needs_heading(claim: Claim) -> bool:
    """Return whether a claim is not understood without its heading: it repeats none of its words."""
    return not claim.heading & claim.words


def _is_specific(one: Claim, other: Claim) -> bool:
    """Return whether two claims have enough in common to be understood without the headings above them."""
    shared, names = one.words & other.words, _shared_names(one, other)
    alike = one.words == other.words or one.is_row or other.is_row
    repeated = one.said == other.said and len(one.said) >= SPECIFIC - 1
    return repeated or len(shared) >= SPECIFIC or names > 1 or (len(shared) >= SPECIFIC - 1 and (alike or names > 0))
