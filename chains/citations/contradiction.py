"""Find two documents that contradict each other in what an answer says.

Two claims contradict each other that have one subject, one measure and one condition, and another value.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, partial
from itertools import chain
from typing import Final

from chains.citations.claims import GENERIC, IN_NO_TITLE, OF_DOCUMENTS, Claim, ClaimReader
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
    bounds = {claim.value.bound for claim in (one, other) if isinstance(claim.value, Quantity)}
    both_answer = bool(asked) and len(bounds) <= 1 and _answers(one, asked) and _answers(other, asked)
    if one.conditions != other.conditions and not (
        both_answer and (one.conditions < other.conditions or other.conditions < one.conditions)
    ):
        return False
    is_listed = one.about.document == other.about.document and one.group == other.group != ""
    if is_listed and (one.beside != other.beside or not one.is_row):
        return False  # Two items of one list, or two rows of one table, speak of two things.
    return (
        _same_subject(one, other, asked, both_answer)
        and not _about_others(one, other)
        and not _under_others(one, other, both_answer)
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
    beside = one.words | other.words
    mine, theirs = mine - theirs - beside - other.about.title, theirs - mine - beside - one.about.title
    return bool(mine and theirs) and mine.isdisjoint(other.also) and theirs.isdisjoint(one.also)


def _same_subject(one: Claim, other: Claim, asked: Collection[str], both_answer: bool) -> bool:
    """Return whether each claim says all words of the other's subject, or its headings or its title do."""
    shared, names = one.words & other.words, _shared_names(one, other)
    if shared <= OF_DOCUMENTS and one.about.document != other.about.document:
        return False
    topics = [claim.words | claim.heading | claim.about.title for claim in (one, other)]
    in_common = (topics[0] & topics[1]) - GENERIC
    related = len(shared) >= FEWEST_SHARED or (shared and (len(in_common) > FEWEST_SHARED or names >= FEWEST_SHARED))
    if not related and not (shared and (both_answer or _is_repeated(one, other))):
        return False
    needed = [one.words, other.words]
    if one.is_row and other.is_row:  # Not the words of a column that the other's table does not have.
        needed = [a.words - a.between if "|" not in b.beside else a.words for a, b in ((one, other), (other, one))]
    mine, theirs = _unsaid(needed[0], other, asked), _unsaid(needed[1], one, asked)
    if not (mine or theirs):
        return True
    longer = one if mine else other
    is_name = names > 0 and not isinstance(one.value, Quantity)
    may_say_more = (
        is_name
        or (both_answer and all(_is_said(word, longer.also) for word in frozenset(asked) - GENERIC))
        or (len(shared) >= ALIKE and not (one.is_row or other.is_row))
    )
    return bool(may_say_more and not (mine and theirs) and (is_name or len({*mine, *theirs}) <= MOST_MORE))


def _is_repeated(one: Claim, other: Claim) -> bool:
    return one.said == other.said and len(one.said) >= REPEATED


def _shared_names(one: Claim, other: Claim) -> int:
    mine = {name for name in one.names if _is_said(name, other.also)}
    return len(mine | {name for name in other.names if _is_said(name, one.also)})


def _unsaid(words: Collection[str], other: Claim, asked: Collection[str] = frozenset()) -> list[str]:
    """Return the words that another claim does not say; what was asked is said by a document without a subject."""
    said = other.also if other.about.names else other.also.union(asked)
    return [word for word in words if not _is_said(word, said)]


def _answers(claim: Claim, asked: Collection[str]) -> bool:
    """Return whether a claim speaks of all that was asked, and gives it a value with a word of the question."""
    about = frozenset(asked) - GENERIC
    return bool(about & claim.words) and not _unsaid(about, claim, asked)


def _is_said(word: str, said: Collection[str]) -> bool:
    """Return whether a word is among others, or one of the same root: "Malaysian" for "Malaysia"."""
    if word in said:
        return True
    root = word[: max(SHORTEST_ROOT, len(word) - 3)]
    return len(word) > SHORTEST_ROOT and any(theirs.startswith(root) for theirs in said)


def _about_others(one: Claim, other: Claim) -> bool:
    """Return whether the documents are about two countries, two carriers, two products."""
    mine, theirs = _unsaid(one.about.names, other), _unsaid(other.about.names, one)
    places = {one.about.place, other.about.place} - {""}
    if len(places) > 1 and (mine or theirs or not one.about.names | other.about.names):
        return True
    is_alike = one.words == other.words and len(one.words) >= SPECIFIC
    are_parallel = not (one.about.title & other.about.title) <= IN_NO_TITLE
    return bool(mine and theirs) and (are_parallel or not is_alike)


def _under_others(one: Claim, other: Claim, both_answer: bool) -> bool:
    """Return whether the headings name two things, such as "Sea freight" and "Air freight"."""
    if one.words == other.words and len(one.words) >= SPECIFIC:
        return False
    in_one = one.about.document == other.about.document
    if in_one and one.path != other.path and one.path[-1:] == other.path[-1:]:
        return True
    mine, theirs = _unsaid(one.heading, other), _unsaid(other.heading, one)
    # A claim that repeats no word of its heading is not understood without it.
    needed = [bool(mine) and not one.heading & one.words, bool(theirs) and not other.heading & other.words]
    if mine and theirs and (one.heading & other.heading or all(needed)):
        return True
    if not any(needed) or both_answer or _is_repeated(one, other):
        return False
    shared, names = one.words & other.words, _shared_names(one, other)
    if (names and not isinstance(one.value, Quantity)) or len(shared) >= SPECIFIC or names > 1:
        return False
    alike = one.words == other.words or one.is_row or other.is_row
    return not (len(shared) >= SPECIFIC - 1 and (alike or names > 0))


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
    reader = ClaimReader({word.key for one in shown for word in tokens(one["content"]) if word.text[0].islower()})
    said = {word.key for word in tokens(answer)}
    words = tokens(_HOW.sub(" ", question))  # Without what is measured: "how long".
    asked = frozenset(word.key for word in words if word.weight > 0 and word.kind != "number")
    claims = [cache(partial(_claims, passage, reader)) for passage in shown]  # Each is read once, if at all.
    pairs: dict[bool, Disagreement] = {}
    for place, start, end in _cited(citations, shown):
        passage = shown[place]
        mine = [one for one in claims[place]() if start <= one.start < end and _is_repeated_in(said, one)]
        subjects = frozenset(chain.from_iterable(one.words for one in mine))
        for rank, other in enumerate(shown) if subjects else ():
            is_same = source_key(other)[0] == source_key(passage)[0]
            in_force = all(is_in_force(str(one["metadata"].get("title") or "")) for one in (passage, other))
            if is_same or in_force in pairs or subjects.isdisjoint(evidence_of(other).occurrences):
                continue
            for rival in claims[rank]():
                if one := next((claim for claim in mine if contradict(claim, rival, asked)), None):
                    pairs[in_force] = _with_title(one, passage), _with_title(rival, other)
                    break
    return pairs.get(True), pairs.get(False)


def _cited(citations: Sequence[Citation], shown: Sequence[Passage]) -> Iterator[tuple[int, int, int]]:
    """Yield the place of the passage that a citation quotes, and where in it the quote begins and ends."""
    for citation in citations:
        for place, passage in enumerate(shown) if citation["matched"] and citation["quote"] else ():
            start = passage["content"].find(citation["quote"])
            if start >= 0 and passage["metadata"].get("doc_id") == citation["doc_id"]:
                yield place, start, start + len(citation["quote"])
                break


def _claims(passage: Passage, reader: ClaimReader) -> list[Claim]:
    metadata = passage["metadata"]
    title, place = str(metadata.get("title") or ""), str(metadata.get("jurisdiction") or "")
    about = reader.about(str(source_key(passage)[0]), title, place)
    path = [str(metadata["section"])] if metadata.get("section") else []
    return list(reader.claims(passage["content"], about, path, str(metadata.get("table_head") or "")))


def _is_repeated_in(said: set[str], claim: Claim) -> bool:
    """Return whether the words of an answer repeat what the claim gives."""
    if not isinstance(claim.value, Quantity):
        return bool(claim.value & said)
    return any(word.kind == "number" and word.key in said for word in tokens(claim.written))


def _with_title(claim: Claim, passage: Passage) -> str:
    title = one_line(passage["metadata"].get("title") or "")
    return f"{claim.written} ({title[:LONGEST_TITLE]})" if title else claim.written
