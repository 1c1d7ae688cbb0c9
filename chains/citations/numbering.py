"""Rewrite a model's numbered markers as single ones, counted by first appearance, while the text streams.

Two numbers of one page of one document become one, a repeat beside itself collapses, and the number of a source that
was not shown disappears without leaving a hole in the sentence. What is written out is never taken back.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from chains.citations.cited_sentences import Sentence
from chains.citations.markers import MarkerBuffer, NumberScanner, code_ranges, link_labels
from chains.documents.naming import UNTITLED, place_name
from chains.state import Passage
from chains.text.letters import escape_brackets, one_line

_JOIN = re.compile(r"[ \t]*(?:,|;|&|and)?[ \t]*")
_JOIN_BEGUN = re.compile(r"[ \t]*(?:,|;|&|a|an|and)?[ \t]*")
_TRAILING = re.compile(r"[ \t]*\Z")
_ENDING = re.compile(r"(?:[.!?…]+[\"”')*_]*|\s*\|\s*)\Z")
_CLOSES = frozenset(" \t\n.,;:!?)…")  # What needs no blank before it.


def source_key(passage: Passage) -> tuple[str, object]:
    """Return what identifies a source: document and page; the address where there is no title."""
    metadata = passage["metadata"]
    title = str(metadata.get("title") or "")
    name = metadata.get("doc_id") or (title if title not in {"", "Unknown"} else metadata.get("url") or title)
    return str(name), metadata.get("page")


class NumberedMarkers:
    """Rewrite the markers of one answer; `links` are the labels that it defines as links, where it is known whole."""

    def __init__(self, shown: Sequence[Passage | None], links: Collection[str] = ()) -> None:
        self._shown = shown
        self._scanner = NumberScanner(len(shown), links)
        self._numbers: dict[tuple[object, ...], int] = {}
        self._places: list[int] = []  # For each final number, the rank of the best passage cited for it.
        self._gap = ""  # Blanks, or a comma between markers, that a marker to come may make needless.
        self._hole = False  # A marker was removed after the gap.
        self._after = ""  # A comma or an "and" after the hole, which falls with it if a marker follows.
        self._run: set[int] = set()  # The markers that have just been written, side by side.
        self._line_empty = True

    @property
    def cited(self) -> list[Passage]:
        """Return the passage that each marker stands for: of several cited passages of one source, the best ranked."""
        return [passage for place in self._places if (passage := self._shown[place])]

    def feed(self, piece: str) -> str:
        return "".join(self._written(piece, final=False))

    def flush(self) -> str:
        rest = "".join(self._written("", final=True))
        if self._hole and self._after.strip():
            return rest + self._over_hole(self._after)
        return rest + ("" if self._hole else self._take_gap())

    def _written(self, piece: str, *, final: bool) -> Iterator[str]:
        for part in self._scanner.feed(piece, final=final):
            written = self._text(part) if isinstance(part, str) else self._markers(part)
            if written:
                self._line_empty = not written.rpartition("\n")[2].strip() and ("\n" in written or self._line_empty)
                yield written

    def _text(self, text: str) -> str:
        if self._run and not self._hole:
            joined = self._gap + text
            if _JOIN_BEGUN.fullmatch(joined):
                self._gap = joined
                return ""
        if self._hole:
            self._after += text
            return "" if _JOIN_BEGUN.fullmatch(self._after) else self._over_hole(self._after)
        self._run = set()
        return self._take_gap(text)

    def _over_hole(self, text: str) -> str:
        """Return the text after a hole, with no more than one blank where the hole was."""
        if self._line_empty and not self._gap:
            text = text.lstrip(" \t")  # Nothing stands before the hole: the blank after it would indent the line.
        if text[:1] in _CLOSES:
            self._gap = ""
        self._hole, self._after, self._run = False, "", set()
        return self._take_gap(text)

    def _take_gap(self, text: str = "") -> str:
        """Return the gap and the text, and keep the blanks at their end as the next gap."""
        whole = self._gap + text
        blanks = _TRAILING.search(whole) if text else None
        cut = blanks.start() if blanks else len(whole)
        self._gap = whole[cut:]
        return whole[:cut]

    def _markers(self, numbers: Sequence[int]) -> str:
        before = ""
        if self._run and not _JOIN.fullmatch(self._gap):
            self._run = set()
            gap, self._gap = self._gap, ""
            before = self._take_gap(gap)
        new = [number for number in self._known(numbers) if number not in self._run]
        if not new:
            self._after = ""
            if self._run:
                self._gap = ""
            else:
                self._hole = True
            return before
        if not _JOIN.fullmatch(self._after):
            before += self._over_hole(self._after)
        written = before + self._gap + "".join(map(self._marker, new))
        self._gap, self._hole, self._after = "", False, ""
        self._run.update(new)
        return written

    def _known(self, numbers: Sequence[int]) -> list[int]:
        """Return the final numbers of the sources among `numbers` that were shown, each once."""
        found: dict[int, None] = {}
        for number in numbers:
            passage = self._shown[number - 1] if 1 <= number <= len(self._shown) else None
            if passage is not None:
                key = self._key(passage)
                final = self._numbers.setdefault(key, len(self._numbers) + 1)
                if final > len(self._places):
                    self._places.append(number - 1)
                self._places[final - 1] = min(self._places[final - 1], number - 1)
                found[final] = None
        return list(found)

    def _key(self, passage: Passage) -> tuple[object, ...]:
        """Return what passages have in common that share a marker."""
        return source_key(passage)

    def _marker(self, number: int) -> str:
        return f"[{number}]"


class TitledMarkers(NumberedMarkers):
    """Rewrite the numbers of one answer as `[Title > Section]`; a title that the model wrote itself stays."""

    def __init__(self, shown: Sequence[Passage | None], links: Collection[str] = ()) -> None:
        super().__init__(shown, links)
        self._titles = MarkerBuffer()

    def feed(self, piece: str) -> str:
        return self._titles.feed(super().feed(piece))

    def flush(self) -> str:
        return self._titles.feed(super().flush()) + self._titles.flush()

    def _key(self, passage: Passage) -> tuple[object, ...]:
        return (*source_key(passage), passage["metadata"].get("section"))

    def _marker(self, number: int) -> str:
        metadata = self.cited[number - 1]["metadata"]
        place = place_name(metadata.get("title") or UNTITLED, metadata.get("section"))
        return f"[{escape_brackets(one_line(place))}]"


def number_markers(answer: str, shown: Sequence[Passage | None]) -> tuple[str, list[Passage]]:
    """Return the answer with single, consecutive markers, and the passage of each."""
    markers = NumberedMarkers(shown, link_labels(answer))
    return rewrite(answer, markers), markers.cited


def rewrite(text: str, markers: NumberedMarkers) -> str:
    return markers.feed(text) + markers.flush()


def insert_markers(
    answer: str, found: Sequence[tuple[Sentence, Passage]], sources: Sequence[Passage]
) -> tuple[str, list[Passage]]:
    """Return the answer with a marker in each of the sentences, and the passage of each number.

    `sources` are the passages of the numbers that stand in the answer already. A marker stands before the mark that
    ends the sentence; a sentence in code gets none.
    """
    passages, pieces, at = list(sources), list[str](), 0
    code = code_ranges(answer)
    for sentence, passage in found:
        if any(start < sentence.end and sentence.start < end for start, end in code):
            continue
        keys = [source_key(known) for known in passages]
        if source_key(passage) not in keys:
            passages.append(passage)
            keys.append(source_key(passage))
        ending = _ENDING.search(answer, sentence.start, sentence.end)
        place = ending.start() if ending else sentence.end
        pieces.append(f"{answer[at:place]} [{keys.index(source_key(passage)) + 1}]")
        at = place
    return "".join([*pieces, answer[at:]]), passages
