"""Find two documents that contradict each other in what an answer says.

Two claims contradict each other that have one subject, one measure and one condition, and another value.
"""

import operator
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from chains.citations.claim_words import GENERIC, IN_NO_TITLE, OF_DOCUMENTS
from chains.citations.claims import About, Claim, ClaimReader
from chains.citations.evidence import evidence_of
from chains.citations.numbering import source_key
from chains.state import Citation, Passage
from chains.text.letters import one_line
from chains.text.quantities import Quantity
from chains.text.tokens import tokens
from chains.versions import MARK, is_in_force, series_of

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
    if _are_versions(one.about, other.about):
        paths = ([series_of(heading) for heading in claim.path] for claim in (one, other))
        alike = one.conditions == other.conditions and one.said == other.said and operator.eq(*paths)
        return alike and bool(one.words)
    both_answer = bool(asked) and _same_bound(one, other) and _answers(one, asked) and _answers(other, asked)
    return (
        _same_conditions(one, other, both_answer)
        and _same_subject(one, other, asked, both_answer)
        and not _listed_together(one, other)
        and not _about_others(one, other)
        and not _under_others(one, other, both_answer)
    )


def _are_versions(one: About, other: About) -> bool:
    """Return whether two titles differ in a year or a version alone."""
    return one.series == other.series != "" and one.edition != other.edition


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


def _same_bound(one: Claim, other: Claim) -> bool:
    bounds = {claim.value.bound for claim in (one, other) if isinstance(claim.value, Quantity)}
    return len(bounds) <= 1


def _same_conditions(one: Claim, other: Claim, both_answer: bool) -> bool:
    mine, theirs = one.conditions, other.conditions
    return mine == theirs or (both_answer and (mine < theirs or theirs < mine))


def _same_subject(one: Claim, other: Claim, asked: Collection[str], both_answer: bool) -> bool:
    """Return whether each claim says all words of the other's subject, or its headings or its title do."""
    shared, names = one.words & other.words, _shared_names(one, other)
    if shared <= OF_DOCUMENTS and one.about.document != other.about.document:
        return False
    in_common = (_topic(one) & _topic(other)) - GENERIC
    repeated = one.said == other.said and len(one.said) >= REPEATED
    related = len(shared) >= FEWEST_SHARED or (shared and (len(in_common) > FEWEST_SHARED or names >= FEWEST_SHARED))
    if not related and not (shared and (both_answer or repeated)):
        return False
    mine, theirs = _unsaid(_needed(one, other), other, asked), _unsaid(_needed(other, one), one, asked)
    if not (mine or theirs):
        return True
    is_name = names > 0 and not isinstance(one.value, Quantity)
    may_say_more = (
        (both_answer and _says(one if mine else other, asked))
        or is_name
        or (len(shared) >= ALIKE and not (one.is_row or other.is_row))
    )
    more = {*mine, *theirs}
    return bool(may_say_more and not (mine and theirs) and (is_name or len(more) <= MOST_MORE))


def _needed(one: Claim, other: Claim) -> frozenset[str]:
    """Return the words of a claim that another one has to say: not those of a column that its table does not have."""
    return one.words - one.between if one.is_row and other.is_row and "|" not in other.beside else one.words


def _topic(claim: Claim) -> frozenset[str]:
    return claim.words | claim.heading | claim.about.title


def _shared_names(one: Claim, other: Claim) -> int:
    mine = {name for name in one.names if _is_said(name, other.also)}
    return len(mine | {name for name in other.names if _is_said(name, one.also)})


def _unsaid(words: Collection[str], other: Claim, asked: Collection[str] = frozenset()) -> list[str]:
    """Return the words that another claim does not say; what was asked is said by a document without a subject."""
    said = other.also if other.about.names else other.also.union(asked)
    return [word for word in words if not _is_said(word, said)]


def _says(claim: Claim, asked: Collection[str]) -> bool:
    """Return whether a claim itself says all that was asked, in its statement, its headings or its title."""
    return all(_is_said(word, claim.also) for word in frozenset(asked) - GENERIC)


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


def _listed_together(one: Claim, other: Claim) -> bool:
    """Return whether two items of one list, or two rows of one table, speak of two things."""
    together = one.about.document == other.about.document and one.group == other.group != ""
    return together and (one.beside != other.beside or not one.is_row)


def _about_others(one: Claim, other: Claim) -> bool:
    """Return whether the documents are about two countries, two carriers, two products."""
    mine, theirs = _unsaid(one.about.names, other), _unsaid(other.about.names, one)
    places = {one.about.place, other.about.place} - {""}
    if len(places) > 1 and (mine or theirs or not one.about.names | other.about.names):
        return True
    is_alike = one.words == other.words and len(one.words) >= SPECIFIC
    are_parallel = bool((one.about.title & other.about.title) - IN_NO_TITLE)
    return bool(mine and theirs) and (are_parallel or not is_alike)


def _under_others(one: Claim, other: Claim, both_answer: bool) -> bool:
    """Return whether the headings name two things, such as "Sea freight" and "Air freight"."""
    if one.words == other.words and len(one.words) >= SPECIFIC:
        return False
    in_one = one.about.document == other.about.document
    if in_one and one.path != other.path and one.path[-1:] == other.path[-1:]:
        return True
    mine, theirs = _unsaid(one.heading, other), _unsaid(other.heading, one)
    needed = [bool(mine) and _needs_heading(one), bool(theirs) and _needs_heading(other)]
    if mine and theirs and (one.heading & other.heading or all(needed)):
        return True
    return any(needed) and not both_answer and not _is_specific(one, other)


def _needs_heading(claim: Claim) -> bool:
    """Return whether a claim is not understood without its heading: it repeats none of its words."""
    return not claim.heading & claim.words


def _is_specific(one: Claim, other: Claim) -> bool:
    """Return whether two claims have enough in common to be understood without the headings above them."""
    shared, names = one.words & other.words, _shared_names(one, other)
    alike = one.words == other.words or one.is_row or other.is_row
    repeated = one.said == other.said and len(one.said) >= REPEATED
    if names and not isinstance(one.value, Quantity):
        return True
    return repeated or len(shared) >= SPECIFIC or names > 1 or (len(shared) >= SPECIFIC - 1 and (alike or names > 0))


LONGEST_TITLE = 80
_HOW = re.compile(r"\bhow \w+", re.IGNORECASE)


def find_disagreement(
    answer: str, citations: Sequence[Citation], shown: Sequence[Passage], question: str = "", *, older: bool = False
) -> tuple[str, str] | None:
    """Return what a cited statement gives that the answer repeats, and what another document's statement gives for it.

    The other document is one in force, or with `older` a version that is no longer. Each is a figure, a date or a name,
    with the title of its document behind it. The question counts as well: of two statements that both speak of all that
    it asks, one may say more than the other.
    """
    reader = ClaimReader(frozenset(chain.from_iterable(_in_small_letters(one["content"]) for one in shown)))
    asked, said = _asked(question), {word.key for word in tokens(answer)}
    for passage, start, end in _cited(citations, shown):
        mine = [one for one in _claims(passage, reader) if start <= one.start < end and _is_repeated(one, said)]
        subjects = frozenset(chain.from_iterable(one.words for one in mine))
        for other in shown if subjects else ():
            is_same = source_key(other)[0] == source_key(passage)[0]
            if (
                is_same
                or is_in_force(str(other["metadata"].get("title") or "")) == older
                or subjects.isdisjoint(evidence_of(other).occurrences)
            ):
                continue
            for rival in _claims(other, reader):
                if one := next((claim for claim in mine if contradict(claim, rival, asked)), None):
                    return _with_title(one, passage), _with_title(rival, other)
    return None


def _asked(question: str) -> frozenset[str]:
    """Return the words of a question, without figures and without what is measured: "how long"."""
    words = tokens(_HOW.sub(" ", question))
    return frozenset(word.key for word in words if word.weight > 0 and word.kind != "number")


def _cited(citations: Sequence[Citation], shown: Sequence[Passage]) -> Iterator[tuple[Passage, int, int]]:
    """Yield the passage that a citation quotes, and where in it the quote begins and ends."""
    for citation in citations:
        for passage in shown if citation["matched"] and citation["quote"] else ():
            start = passage["content"].find(citation["quote"])
            if start >= 0 and passage["metadata"].get("doc_id") == citation["doc_id"]:
                yield passage, start, start + len(citation["quote"])
                break


def _claims(passage: Passage, reader: ClaimReader) -> Iterator[Claim]:
    metadata = passage["metadata"]
    title, place = str(metadata.get("title") or ""), str(metadata.get("jurisdiction") or "")
    about = reader.about(str(source_key(passage)[0]), title, place)
    path = [str(metadata["section"])] if metadata.get("section") else []
    return reader.claims(passage["content"], about, path, str(metadata.get("table_head") or ""))


@lru_cache(maxsize=1024)
def _in_small_letters(text: str) -> frozenset[str]:
    return frozenset(word.key for word in tokens(text) if word.text[0].islower())


def _is_repeated(claim: Claim, said: set[str]) -> bool:
    """Return whether the answer repeats what the claim gives."""
    if not isinstance(claim.value, Quantity):
        return bool(claim.value & said)
    return any(word.kind == "number" and word.key in said for word in tokens(claim.written))


def _with_title(claim: Claim, passage: Passage) -> str:
    title = MARK.sub("", one_line(passage["metadata"].get("title") or "")).strip()
    return f"{claim.written} ({title[:LONGEST_TITLE]})" if title else claim.written
