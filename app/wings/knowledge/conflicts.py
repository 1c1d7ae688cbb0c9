"""Find statements of documents that contradict each other."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from app.wings.knowledge.linted import Document, Finding, not_in_force, place
from chains.citations.claims import Claim, ClaimReader
from chains.citations.contradiction import contradict
from chains.text.letters import one_line
from chains.text.quantities import Quantity
from chains.text.tokens import tokens

LONGEST_QUOTE: Final = 160
MOST_SHARED: Final = 400  # Claims that a claim is compared with for each of its words.
# Addresses, file names and codes say nothing about which words are names.
_NO_WORDS: Final = re.compile(r"\S*(?:://|www\.|@|\w\.\w{2,}|_)\S*")


class Stated(NamedTuple):
    """A claim, and where it stands."""

    document: Document
    line: int
    claim: Claim
    quote: str


def find_conflicts(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield a finding for each two statements that cannot both be true; what is not in force does not count."""
    old = not_in_force(documents)
    current = [document for place, document in enumerate(documents) if place not in old]
    by_measure: dict[str, list[Stated]] = defaultdict(list)
    for stated in _statements(current):
        value = stated.claim.value
        by_measure[value.measure if isinstance(value, Quantity) else "name"].append(stated)
    seen: set[tuple[tuple[str, int], tuple[str, int]]] = set()
    for some in by_measure.values():
        for one, other in _contradicting(some):
            first, second = sorted((one, other), key=lambda stated: (stated.document.name, stated.line))
            places = (first.document.name, first.line), (second.document.name, second.line)
            if places not in seen:
                seen.add(places)
                there = place(second.document.name, second.line)
                figures = f"{first.claim.written} here, {second.claim.written} in {there}"
                message = f"{figures}: {first.quote!r} and {second.quote!r}"
                yield Finding(*places[0], "conflict", message, *places[1])


def _statements(documents: Sequence[Document]) -> Iterator[Stated]:
    texts = (_NO_WORDS.sub(" ", chunk.text) for document in documents for chunk in document.chunks)
    # Words that are also written in small letters are no names.
    reader = ClaimReader({word.key for text in texts for word in tokens(text) if word.text[0].islower()})
    for document in documents:
        metadata = document.parsed.metadata
        about = reader.about(document.name, metadata["title"], metadata.get("jurisdiction", ""))
        read: set[tuple[int, str]] = set()  # Chunks overlap.
        for chunk in document.chunks:
            for claim in reader.claims(chunk.text, about, chunk.section_path, chunk.context):
                begin = chunk.start_char + claim.start
                if (begin, claim.written) not in read:
                    read.add((begin, claim.written))
                    quote = one_line(chunk.text[claim.start : claim.end])[:LONGEST_QUOTE]
                    yield Stated(document, document.line(begin) or chunk.page or 0, claim, quote)


def _contradicting(some: Sequence[Stated]) -> Iterator[tuple[Stated, Stated]]:
    """Yield the claims that contradict each other; two that may have the conditions and a word in common."""
    index: dict[tuple[object, ...], list[Stated]] = defaultdict(list)
    for stated in some:
        claim = stated.claim
        candidates = {id(one): one for word in claim.words for one in index[word, claim.conditions][-MOST_SHARED:]}
        for one in candidates.values():
            is_same = one.document is stated.document and (one.line, one.quote) == (stated.line, stated.quote)
            if not is_same and contradict(one.claim, claim):
                yield one, stated
        for word in claim.words:
            index[word, claim.conditions].append(stated)
