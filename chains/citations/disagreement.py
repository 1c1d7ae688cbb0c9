"""Find two documents that contradict each other in what an answer says."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

from chains.citations.claims import Claim, ClaimReader
from chains.citations.contradiction import contradict
from chains.citations.evidence import evidence_of
from chains.citations.numbering import source_key
from chains.state import Citation, Passage
from chains.text.letters import one_line
from chains.text.quantities import Quantity
from chains.text.tokens import tokens

LONGEST_TITLE = 80
_HOW = re.compile(r"\bhow \w+", re.IGNORECASE)


def find_disagreement(
    answer: str, citations: Sequence[Citation], shown: Sequence[Passage], question: str = ""
) -> tuple[str, str] | None:
    """Return what a cited statement gives that the answer repeats, and what another document's statement gives for it.

    Each is a figure, a date or a name, with the title of its document behind it. The question counts as well: of two
    statements that both speak of all that it asks, one may say more than the other.
    """
    reader = ClaimReader(frozenset(chain.from_iterable(_in_small_letters(one["content"]) for one in shown)))
    asked, said = _asked(question), {word.key for word in tokens(answer)}
    for passage, start, end in _cited(citations, shown):
        mine = [one for one in _claims(passage, reader) if start <= one.start < end and _is_repeated(one, said)]
        subjects = frozenset(chain.from_iterable(one.words for one in mine))
        for other in shown if subjects else ():
            is_same = source_key(other)[0] == source_key(passage)[0]
            if is_same or subjects.isdisjoint(evidence_of(other).occurrences):
                continue
            for rival in _claims(other, reader):
                if one := next((claim for claim in mine if contradict(claim, rival, asked)), None):
                    return _told(one, passage), _told(rival, other)
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


def _told(claim: Claim, passage: Passage) -> str:
    title = one_line(passage["metadata"].get("title") or "")
    return f"{claim.written} ({title[:LONGEST_TITLE]})" if title else claim.written
