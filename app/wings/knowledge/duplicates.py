"""Find documents that say the same: copies of a file, passages that stand in several, and lines on every page."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from app.wings.knowledge.linted import Document, Finding, place
from chains.text.words import plain_words

if TYPE_CHECKING:
    from chains.ingestion.chunks import Chunk

WORDS: Final = 6  # Of a shingle: so many words in a row.
ALIKE: Final = 0.8  # The share of shingles that makes two passages the same.
FEWEST_SHINGLES: Final = 20
MOST_FILES: Final = 50  # A shingle in more files is boilerplate, and leads to none of them.
FEWEST_PAGES: Final = 4
PAGES_SHARE: Final = 0.6
SHORTEST_LINE: Final = 12


def find_duplicates(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield each document that is a copy of another one, or shares a passage with it word for word or nearly."""
    copies = _copies(documents)
    yield from (
        Finding(document.name, 1, "duplicate", f"the same text as {first.name}", first.name, 1)
        for document, first in copies.items()
    )
    kept = [document for document in documents if document not in copies]
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for (one, mine), (other, theirs) in _near_passages(kept):
        pairs[other.name, one.name].append((other.line(theirs.start_char), one.line(mine.start_char)))
    for (name, other_name), lines in pairs.items():
        line, other_line = lines[0]
        subject = "a passage that is" if len(lines) == 1 else f"{len(lines)} passages that are"
        message = f"{subject} nearly word for word in {place(other_name, other_line)}"
        yield Finding(name, line, "duplicate", message, other_name, other_line)


def _copies(documents: Sequence[Document]) -> dict[Document, Document]:
    """Return each document whose words are those of an earlier one, with that one."""
    first: dict[tuple[str, ...], Document] = {}
    copies: dict[Document, Document] = {}
    for document in documents:
        words = tuple(word for chunk in document.chunks for word in plain_words(chunk.text))
        if first.setdefault(words, document) is not document:
            copies[document] = first[words]
    return copies


Passage = tuple[Document, "Chunk"]


def _near_passages(documents: Sequence[Document]) -> Iterator[tuple[Passage, Passage]]:
    """Yield passages of two documents that have most of their shingles in common (w-shingling, Broder 1997)."""
    index: dict[int, list[int]] = defaultdict(list)
    passages: list[tuple[Passage, set[int]]] = []
    for document in documents:
        for chunk in document.chunks:
            words = plain_words(chunk.text)
            shingles = {hash(tuple(words[at : at + WORDS])) for at in range(len(words) - WORDS + 1)}
            if len(shingles) < FEWEST_SHINGLES:
                continue
            shared = Counter(place for one in shingles for place in index[one] if len(index[one]) <= MOST_FILES)
            for at, number in shared.items():
                passage, theirs = passages[at]
                if passage[0] is not document and number >= ALIKE * min(len(shingles), len(theirs)):
                    yield passage, (document, chunk)
            for one in shingles:
                index[one].append(len(passages))
            passages.append(((document, chunk), shingles))


def find_boilerplate(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield the documents whose pages repeat lines, such as a footer, which make their passages alike."""
    for document in documents:
        pages = {chunk.page for chunk in document.chunks if chunk.page}
        on: dict[str, set[int]] = defaultdict(set)
        for chunk in document.chunks if len(pages) >= FEWEST_PAGES else ():
            for line in chunk.text.splitlines():
                on[line.strip()].add(chunk.page or 0)
        repeated = [line for line, where in on.items() if len(where) >= PAGES_SHARE * len(pages)]
        if worth := [line for line in repeated if sum(map(str.isalpha, line)) >= SHORTEST_LINE]:
            message = f"{worth[0][:80]!r} stands on {len(on[worth[0]])} of {len(pages)} pages"
            more = f", and so do {len(worth) - 1} other lines" if len(worth) > 1 else ""
            yield Finding(document.name, min(on[worth[0]]), "passage", f"{message}{more}: it makes passages alike")
