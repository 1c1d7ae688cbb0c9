"""Split an answer into sentences, find those that each marker cites, and release a stream by checked sentences."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

from langchain_core.runnables.utils import AddableDict

from chains.citations.markers import Range, find_markers
from chains.state import SO_FAR, Citation
from chains.text.negation import negates
from chains.text.statements import MARKER, sentence_bounds
from chains.text.tokens import tokens

_LABEL = re.compile(r"\W*(?:sources?|references?|citations?|cited from|see|and|note)\b\W*", re.IGNORECASE)
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_]+\1")
_TABLE_RULE = re.compile(r"[ \t]*\n?[ \t]*\|?[ \t]*:?-{2,}")
FEWEST_WORDS, SPELT_OUT = 2, 6  # Words that carry something; all words of a sentence that has one of them.
ADJACENCY = 6  # Most characters between two adjacent markers: a blank, a comma, "and".
_DANGLING = re.compile(r"\s+(?=[.,;:!?)])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, list item or table row: `answer[start:end]`, and its words without the markers in it."""

    start: int
    end: int
    words: str

    @property
    def is_claim(self) -> bool:
        """Return whether there is something to support: no heading, no question, no lead-in of a list."""
        return self.words[-1] not in "?:" and not self.words.startswith("#") and not _BOLD_LINE.fullmatch(self.words)


def sentences_of(answer: str, markers: Sequence[tuple[int, int]]) -> list[Sentence]:
    """Return the sentences that say something; one that holds only markers belongs to the one before.

    Markers behind the full stop ("It is so. [1] And more. [2]") belong to the sentence before them, unless its line
    begins with a marker ("[1] It is so. [2] And more.").
    """
    found: list[Sentence] = []
    for begin, end in sentence_bounds(answer):
        if found and any(first < begin < last for first, last in markers):  # In a title: "12. Service Hours".
            found[-1] = Sentence(found[-1].start, end, without(answer, found[-1].start, end, markers))
            continue
        start = begin
        if found and "\n" not in answer[found[-1].end : begin]:
            for first, last in markers:
                if first == start:  # The blanks behind a marker belong to it.
                    start = last + len(answer[last:]) - len(answer[last:].lstrip(" \t,;"))
            line = answer.rfind("\n", 0, begin) + 1
            sign = MARKER.match(answer, line)
            if start > begin and not any(first == (sign.end() if sign else line) for first, _ in markers):
                found[-1] = replace(found[-1], end=start)
            else:
                start = begin
        words = without(answer, start, end, markers)
        label = _LABEL.match(words)
        said = tokens(words[label.end() :] if label else words)
        content = [token for token in said if token.weight > 0]
        is_worded = bool(content) and len(said) >= SPELT_OUT and VERB.search(words)  # "You may not let it to others."
        is_denial = bool(content) and negates(words)  # "Lunch is not."
        is_figure = any(token.kind == "number" for token in content)
        says_something = len(content) >= FEWEST_WORDS or is_figure or is_worded or is_denial
        if says_something and not _TABLE_RULE.match(answer, end):
            found.append(Sentence(min(start, end), end, words))
    return found


def without(answer: str, start: int, end: int, markers: Sequence[tuple[int, int]]) -> str:
    """Return `answer[start:end]` without the markers in it and the blanks around them."""
    pieces, at = [], start
    for begin, stop in markers:
        if start <= begin < end:
            pieces.append(answer[at:begin])
            at = max(at, min(stop, end))
    text = " ".join("".join([*pieces, answer[at:end]]).split())
    return _DANGLING.sub("", text).strip()


def cited_sentences(sentences: Sequence[Sentence], places: Sequence[tuple[int, int]]) -> Iterator[range]:
    """Yield the sentences that each marker cites, as their places; adjacent markers cite the same ones.

    That is the sentence around it; for a marker outside any sentence, every sentence since the marker before, and at
    least the last one.
    """
    starts = [sentence.start for sentence in sentences]
    after, previous = 0, range(0)
    for number, (start, end) in enumerate(places):
        index = bisect_right(starts, start) - 1
        if previous and start - places[number - 1][1] <= ADJACENCY:
            indices = previous
        elif index < 0:
            indices = range(min(1, len(sentences)))
        else:
            within = start <= sentences[index].end
            indices = range(index if within else min(bisect_right(starts, after), index), index + 1)
        yield indices
        after, previous = end, indices


# What follows a marker that ends a clause, and what makes words more than its subject: a figure, a colon, a verb.
_CLAUSE_END: Final = re.compile(r"\s*(?:[,;:–—]|(?:and|but|or|while|whereas|although|though|yet)\b)")
VERB: Final = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|does?|must|may|might|can|cannot|could|will|would|shall|should|costs?|needs?"
    r"|takes?|gets?|pays?|requires?|appl(?:y|ies)|allows?|covers?|lasts?|begins?|starts?|ends?|opens?|closes?)\b"
)
_STATEMENT: Final = re.compile(rf"[\d:]|{VERB.pattern}")


def clauses_of(answer: str, sentences: Sequence[Sentence], places: Sequence[tuple[int, int]]) -> dict[int, str]:
    """Return the words that a marker inside a sentence vouches for, those since the marker before, by its start.

    Only of sentences that their markers cut into clauses which each state something; "GST for exports [1] is 9 % [2]"
    is none.
    """
    starts, clauses = [start for start, _ in places], dict[int, str]()
    for sentence in sentences:
        inner = places[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]
        ends = [end for (_, end), (after, _) in pairwise(inner) if after - end > ADJACENCY]
        words = [without(answer, *cut, inner).strip(" ,;:") for cut in pairwise([sentence.start, *ends, sentence.end])]
        if ends and all(_CLAUSE_END.match(answer, end) for end in ends) and all(map(_STATEMENT.search, words)):
            clauses |= {start: words[bisect_right(ends, start)] for start, _ in inner}
    return clauses


_NUMBER: Final = re.compile(r"^\W{0,4}(\d{1,2})[.):](?=\W)", re.MULTILINE)
_HEADING: Final = re.compile(r"^\*\*\d{1,2}[.):] .*\*\*$", re.MULTILINE)


def headings(answer: str) -> list[tuple[int, int]]:
    """Return the ranges of the lines in bold that begin with a number: they repeat the questions, and claim nothing."""
    return [found.span() for found in _HEADING.finditer(answer)]


def unanswered_parts(answer: str, parts: int, standing: Sequence[Citation]) -> list[int]:
    """Return the places of the questions whose paragraph cites nothing that stands.

    Without numbered paragraphs it is unknown which question each answers: none is unanswered, or
    all where nothing is cited.
    """
    if not standing:
        return list(range(parts))
    starts: list[int] = []
    for number in _NUMBER.finditer(answer):
        if int(number[1]) == len(starts) + 1 <= parts:
            starts.append(number.start())
    bounds = list(pairwise([*starts, len(answer)])) if len(starts) == parts else []
    return [
        part
        for part, (start, end) in enumerate(bounds)
        if not any(start <= citation["start"] < end for citation in standing)
    ]


LONGEST_SENTENCE: Final = 1200  # So many characters without the end of a sentence are taken for a whole one.

# A sentence is complete only once the next one has begun, so it is enough to look every 30 characters.
LOOKED_AT: Final = 30
MAY_END = re.compile(r"[.!?:|\n\u3002\uff01\uff1f]")

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CheckedText:
    """Whether a passage supports some of a text, the ranges of the sentences that none supports, and its citations.

    `leads` says whether the sentence that answers is supported and gives what is asked; None if none of the text
    answers. `unmarked` are the sentences without a marker that a passage supports, each with what supports it.
    """

    supported: bool
    unsupported: list[Range]
    leads: bool | None = True
    citations: list[Citation] = field(default_factory=list)
    unmarked: Sequence[tuple[Sentence, Any]] = ()


class SentenceGate:
    """Let sentences pass once `check` has seen them, and none before the first that a passage supports."""

    def __init__(self, check: Callable[[str], CheckedText]) -> None:
        self._check = check
        self._held = ""  # Sentences that are not whole.
        self._new = 0  # How many characters of that have not been looked at.
        self._waiting = ""  # Sentences that no passage supports, before the first that one does.
        self._passed = 0  # How many characters have been let through or wait.
        self._found: Record = {"unsupported": [], "citations": []}  # In what passes next or waits.
        self._open = False
        self._leads: bool | None = None

    def feed(self, words: str) -> Iterator[Record]:
        """Take the next words; yield the sentences that are whole, with their citations and unsupported ranges."""
        self._held += words
        self._new += len(words)
        while True:
            cut = 0
            if len(self._held) > LONGEST_SENTENCE:
                cut = last_sentence(self._held[:LONGEST_SENTENCE]) or LONGEST_SENTENCE
            elif self._new >= LOOKED_AT and MAY_END.search(self._held):
                self._new = 0
                cut = last_sentence(self._held)
            if not cut:
                return
            whole, self._held = self._held[:cut], self._held[cut:]
            yield from self._release(whole)

    def flush(self) -> Iterator[Record]:
        """Yield the rest, once the answer has ended; nothing where no passage supports any of it."""
        rest, self._held = self._held, ""
        if rest:
            yield from self._release(rest)

    def _release(self, text: str) -> Iterator[Record]:
        found = self._check(text)
        before = self._passed
        self._found["unsupported"] += [(before + start, before + end) for start, end in found.unsupported]
        self._found["citations"] += [
            {**one, "start": before + one["start"], "end": before + one["end"]} for one in found.citations
        ]
        self._passed += len(text)
        self._waiting += text
        self._leads = found.leads if self._leads is None else self._leads
        if self._open or (found.supported and self._leads is not False):
            self._open = True
            text, self._waiting = self._waiting, ""
            new, self._found = AddableDict(self._found), {"unsupported": [], "citations": []}
            yield {"answer": text} | ({SO_FAR: new} if any(new.values()) else {})


def last_sentence(text: str) -> int:
    """Return where the last sentence of a text begins, 0 for its first: all before it is whole, its markers too."""
    markers = [(marker.start, marker.end) for marker in find_markers(text)]
    sentences = sentences_of(text, markers)
    return sentences[-1].start if len(sentences) > 1 else 0
