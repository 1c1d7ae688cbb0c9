"""Find two documents that contradict each other in what an answer says.

Two claims contradict each other that have one subject, one measure and one condition, and another value.
"""

import re
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Final

from chains.citations.claims import GENERIC, IN_NO_TITLE, OF_DOCUMENTS, Claim, claims_of, small_and_capital
from chains.citations.evidence import evidence_of
from chains.citations.numbering import source_key
from chains.documents.versions import is_in_force, series_of
from chains.state import Citation, Passage
from chains.text.letters import one_line
from chains.text.quantities import Quantity
from chains.text.tokens import tokens

FEWEST_SHARED: Final = 2
SPECIFIC: Final = 4  # So many words in common say what a claim is about without a heading.
REPEATED: Final = 3  # So many words said alike, and no others.
ALIKE: Final = 5  # With so many words in common one claim may say more than the other,
MOST_MORE: Final = 3  # but not more words than these.
SHORTEST_ROOT: Final = 4


def contradict(one: Claim, other: Claim, asked: Collection[str] = frozenset()) -> bool:
    """Return whether two claims cannot both be true. Precision comes first: where it is not sure, they can.

    Where a question was `asked` whose words both claims hold, one may say more than the other.
    """
    if not _values_differ(one, other) or one.is_denied != other.is_denied:
        return False
    if one.about.series == other.about.series != "" and one.about.edition != other.about.edition:
        # The titles differ in a year or a version alone.
        mine, theirs = ([series_of(heading) for heading in claim.path] for claim in (one, other))
        is_same = one.conditions == other.conditions and one.said == other.said and mine == theirs
        return is_same and bool(one.words)
    is_listed = one.about.document == other.about.document and one.group == other.group != ""
    if is_listed and (one.beside != other.beside or not one.is_row):
        return False  # Two items of one list, or two rows of one table, speak of two things.
    pair = _Pair(one, other, asked)
    if one.conditions != other.conditions and not (
        pair.both_answer and (one.conditions < other.conditions or other.conditions < one.conditions)
    ):
        return False
    return pair.has_one_subject() and not pair.is_about_two() and not pair.is_under_two()


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
    beside = one.words | other.words
    mine, theirs = mine - theirs - beside - other.about.title, theirs - mine - beside - one.about.title
    return bool(mine and theirs) and mine.isdisjoint(other.also) and theirs.isdisjoint(one.also)


class _Pair:
    """Two claims, compared once: the words and the number of names that they share, and how much they say alike."""

    def __init__(self, one: Claim, other: Claim, asked: Collection[str]) -> None:
        self.one, self.other = one, other
        self.asked = frozenset(asked)
        self.shared = one.words & other.words
        mine = {name for name in one.names if _is_said(name, other.also)}
        self.names = len(mine | {name for name in other.names if _is_said(name, one.also)})
        self.are_figures = isinstance(one.value, Quantity)
        self.is_specific = one.words == other.words and len(one.words) >= SPECIFIC
        self.is_repeated = one.said == other.said and len(one.said) >= REPEATED
        bounds = {claim.value.bound for claim in (one, other) if isinstance(claim.value, Quantity)}
        # Each speaks of all that was asked, and gives a value with a word of the question.
        about = self.asked - GENERIC
        self.both_answer = len(bounds) <= 1 and all(
            about & claim.words and not _unsaid(about, claim, self.asked) for claim in (one, other)
        )

    def has_one_subject(self) -> bool:
        """Return whether each claim says all words of the other's subject, or its headings or its title do."""
        one, other, shared = self.one, self.other, self.shared
        if not shared or (shared <= OF_DOCUMENTS and one.about.document != other.about.document):
            return False
        topics = [claim.words | claim.heading | claim.about.title for claim in (one, other)]
        in_common = (topics[0] & topics[1]) - GENERIC
        related = len(shared) >= FEWEST_SHARED or len(in_common) > FEWEST_SHARED or self.names >= FEWEST_SHARED
        if not (related or self.both_answer or self.is_repeated):
            return False
        needed = [one.words, other.words]
        if one.is_row and other.is_row:  # Not the words of a column that the other's table does not have.
            needed = [a.words - a.between if "|" not in b.beside else a.words for a, b in ((one, other), (other, one))]
        mine, theirs = _unsaid(needed[0], other, self.asked), _unsaid(needed[1], one, self.asked)
        if not (mine and theirs) and (mine or theirs):
            longer = one if mine else other
            is_name = self.names > 0 and not self.are_figures
            is_asked = self.both_answer and all(_is_said(word, longer.also) for word in self.asked - GENERIC)
            is_alike = len(shared) >= ALIKE and not (one.is_row or other.is_row)
            return is_name or ((is_asked or is_alike) and len({*mine, *theirs}) <= MOST_MORE)
        return not mine

    def is_about_two(self) -> bool:
        """Return whether the documents are about two countries, two carriers, two products."""
        one, other = self.one.about, self.other.about
        mine, theirs = _unsaid(one.names, self.other), _unsaid(other.names, self.one)
        if len({one.place, other.place} - {""}) > 1 and (mine or theirs or not one.names | other.names):
            return True
        are_parallel = not (one.title & other.title) <= IN_NO_TITLE
        return bool(mine and theirs) and (are_parallel or not self.is_specific)

    def is_under_two(self) -> bool:
        """Return whether the headings name two things, such as "Sea freight" and "Air freight"."""
        one, other = self.one, self.other
        if self.is_specific:
            return False
        in_one = one.about.document == other.about.document
        if in_one and one.path != other.path and one.path[-1:] == other.path[-1:]:
            return True
        mine, theirs = _unsaid(one.heading, other), _unsaid(other.heading, one)
        # A claim that repeats no word of its heading is not understood without it.
        needed = [bool(mine) and not one.heading & one.words, bool(theirs) and not other.heading & other.words]
        if mine and theirs and (one.heading & other.heading or all(needed)):
            return True
        is_known = self.both_answer or self.is_repeated or len(self.shared) >= SPECIFIC
        return any(needed) and not is_known and self.names <= (1 if self.are_figures else 0)


def _unsaid(words: Collection[str], other: Claim, asked: Collection[str] = frozenset()) -> list[str]:
    """Return the words that another claim does not say; what was asked is said by a document without a subject."""
    said = other.also if other.about.names else other.also.union(asked)
    return [word for word in words if not _is_said(word, said)]


def _is_said(word: str, said: Collection[str]) -> bool:
    """Return whether a word is among others, or one of the same root: "Malaysian" for "Malaysia"."""
    root = word[: max(SHORTEST_ROOT, len(word) - 3)]
    return word in said or (len(word) > SHORTEST_ROOT and any(theirs.startswith(root) for theirs in said))


LONGEST_TITLE = 80
_HOW = re.compile(r"\bhow \w+", re.IGNORECASE)


Disagreement = tuple[str, str]
"""What two documents give for one thing: each a figure, a date or a name, with the title of its document behind it."""


def find_disagreements(
    answer: str, citations: Sequence[Citation], shown: Sequence[Passage], question: str = ""
) -> tuple[Disagreement | None, Disagreement | None]:
    """Return what a cited statement gives that the answer repeats, and what another document's statement gives for it.

    Both documents are in force in the first pair; one of them no longer is in the second. The question
    counts as well: of two statements that both speak of all that it asks, one may say more than the other.
    """
    common = frozenset().union(*(small_and_capital(one["content"])[0] for one in shown))
    said = {word.key for word in tokens(answer)}
    words = tokens(_HOW.sub(" ", question))  # Without what is measured: "how long".
    asked = frozenset(word.key for word in words if word.weight > 0 and word.kind != "number")
    pairs: dict[bool, Disagreement] = {}
    for citation in (one for one in citations if one["matched"] and one["quote"]):
        quoted = (one for one in shown if one["metadata"].get("doc_id") == citation["doc_id"])
        passage = next((one for one in quoted if citation["quote"] in one["content"]), None)
        if passage is None:
            continue
        start = passage["content"].find(citation["quote"])
        end = start + len(citation["quote"])
        mine = [one for one in claims_of(passage, common) if start <= one.start < end and one.is_repeated_in(said)]
        subjects = frozenset(chain.from_iterable(one.words for one in mine))
        for other in shown if subjects else ():
            is_same = source_key(other)[0] == source_key(passage)[0]
            in_force = all(is_in_force(str(one["metadata"].get("title") or "")) for one in (passage, other))
            if is_same or in_force in pairs or subjects.isdisjoint(evidence_of(other).occurrences):
                continue
            for rival in claims_of(other, common):
                if one := next((claim for claim in mine if contradict(claim, rival, asked)), None):
                    pairs[in_force] = _with_title(one, passage), _with_title(rival, other)
                    break
    return pairs.get(True), pairs.get(False)


def _with_title(claim: Claim, passage: Passage) -> str:
    title = one_line(passage["metadata"].get("title") or "")
    return f"{claim.written} ({title[:LONGEST_TITLE]})" if title else claim.written
