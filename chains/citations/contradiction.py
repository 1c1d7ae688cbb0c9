"""Find two documents that contradict each other in what an answer says.

Two claims contradict each other that have one subject, one measure and one condition, and another value.
"""

import re
from collections.abc import Sequence, Set
from itertools import chain
from typing import Final

from chains.citations.claims import GENERIC, IN_NO_TITLE, OF_DOCUMENTS, Claim, claims_of, keys, small_and_capital
from chains.citations.evidence import evidence_of
from chains.citations.numbering import source_key
from chains.documents.versions import is_in_force, series_of
from chains.state import Citation, Passage
from chains.text.letters import one_line
from chains.text.quantities import Quantity
from chains.text.tokens import CALENDAR, tokens
from chains.text.words import stem

FEWEST_SHARED: Final = 2
SPECIFIC: Final = 4  # So many words in common say what a claim is about without a heading.
REPEATED: Final = 3  # So many words said alike, and no others.
ALIKE: Final = 5  # With so many words in common one claim may say more than the other;
MOST_MORE: Final = 3  # but not more words than these where only a question relates them.
SHORTEST_ROOT: Final = 4
DAYS: Final = CALENDAR | frozenset(map(stem, ("holiday", "weekday", "weekend")))


def contradict(one: Claim, other: Claim, asked: Set[str] = frozenset()) -> bool:
    """Return whether two claims cannot both be true. Precision comes first: where it is not sure, they can.

    Where a question was `asked` whose words both claims hold, one may say more than the other.
    """
    if not _values_differ(one, other) or one.is_denied != other.is_denied or one.conditions != other.conditions:
        return False
    if one.about.series == other.about.series != "" and one.about.edition != other.about.edition:
        # The titles differ in a year or a version alone.
        mine, theirs = ([series_of(heading) for heading in claim.path] for claim in (one, other))
        return one.said == other.said and mine == theirs
    # Two items of one list, two rows of one table and what stands below two like headings speak of two things.
    are_beside = one.group == other.group != "" or (one.path != other.path and _are_apart(one, other))
    is_one_document = one.about.document == other.about.document
    return not (is_one_document and are_beside) and _have_one_subject(one, other, asked)


def _are_apart(one: Claim, other: Claim) -> bool:
    """Return whether the headings above two claims of one document are like each other, or set two cases apart.

    Two cases have headings that differ in a word ("Winter opening hours", "Summer opening hours"), the title names
    both, or both name days ("Weekdays", "Weekends"). "Records" and "After departure" may speak of one thing.
    """
    if one.path[-1:] == other.path[-1:]:
        return True
    mine, theirs = one.heading - other.also, other.heading - one.also
    shared = [keys(tokens(heading)) for claim in (one, other) for heading in claim.path[-1:]]
    are_cases = frozenset.intersection(*shared) or any(
        mine & some and theirs & some for some in (one.about.title, DAYS)
    )
    return bool(mine and theirs and are_cases)


def _have_one_subject(one: Claim, other: Claim, asked: Set[str]) -> bool:
    """Return whether each claim says all words of the other's subject, or its headings or its title do."""
    shared, is_figure = one.words & other.words, isinstance(one.value, Quantity)
    names = {name for name in one.names if _is_said(name, other)} | {
        name for name in other.names if _is_said(name, one)
    }
    is_repeated = one.said == other.said and len(one.said) >= REPEATED
    is_asked = all(asked & claim.words and not _unsaid(asked, claim) for claim in (one, other))
    topics = [claim.words | claim.heading | claim.about.title for claim in (one, other)]
    is_related = max(len(shared), len(names), len(topics[0] & topics[1]) - 1) >= FEWEST_SHARED
    is_of_documents = shared <= OF_DOCUMENTS and (not shared or one.about.document != other.about.document)
    if is_of_documents or not (is_related or is_repeated or is_asked):
        return False
    mine, theirs = _unsaid(one.words, other), _unsaid(other.words, one)
    is_alike = len(shared) >= ALIKE and not (one.is_row or other.is_row)
    may_say_more = is_alike or (names and not is_figure) or (is_asked and len(mine + theirs) <= MOST_MORE)
    if (mine and theirs) or ((mine or theirs) and not may_say_more):
        return False
    is_specific = one.words == other.words and len(one.words) >= SPECIFIC
    are_parallel = not one.about.title & other.about.title <= IN_NO_TITLE
    mine, theirs = _unsaid(one.about.names, other), _unsaid(other.about.names, one)
    is_foreign = len({one.about.place, other.about.place} - {""}) > 1 and (
        mine or theirs or not one.about.names | other.about.names
    )
    if is_foreign or (mine and theirs and (are_parallel or not is_specific)):
        return False  # The documents are about two countries, two carriers, two products.
    # A claim that repeats no word of its heading is not understood without it: "Sea freight", "Air freight".
    needed = [
        bool(_unsaid(heading, rival)) and not heading & claim.words
        for claim, rival in ((one, other), (other, one))
        for heading in [claim.heading - claim.about.title]
    ]
    return is_specific or not any(needed) or (not all(needed) and (is_asked or is_repeated or len(names) > is_figure))


def _values_differ(one: Claim, other: Claim) -> bool:
    mine, theirs = one.value, other.value
    if isinstance(mine, Quantity) and isinstance(theirs, Quantity):
        pairs = [(mine, theirs), *((mine, value) for value in other.values), *((theirs, value) for value in one.values)]
        return all(
            value.contradicts(rival) for value, rival in pairs if rival is theirs or value.measure == rival.measure
        )
    if isinstance(mine, Quantity) or isinstance(theirs, Quantity):
        return False
    beside = one.words | other.words
    mine, theirs = mine - theirs - beside - other.about.title, theirs - mine - beside - one.about.title
    return bool(mine and theirs) and mine.isdisjoint(other.also) and theirs.isdisjoint(one.also)


def _unsaid(words: Set[str], other: Claim) -> list[str]:
    return [word for word in words if not _is_said(word, other)]


def _is_said(word: str, claim: Claim) -> bool:
    """Return whether a word stands around a claim, or one of the same root: "Malaysian" for "Malaysia"."""
    root = word[: max(SHORTEST_ROOT, len(word) - 3)]
    said = claim.also | claim.about.title
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
    asked = frozenset(word.key for word in words if word.weight > 0 and word.kind != "number") - GENERIC
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
