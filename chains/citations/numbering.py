"""Numbered markers as models write them -> single markers `[n]`, counted by first appearance, while text streams.

Two numbers of one page of one document become one, a repeat beside itself collapses, and the number of a source that
was not shown disappears without leaving a hole in the sentence. What is written out is never taken back.
"""

import re
from collections.abc import Iterator, Sequence

from chains.citations.numbers import NumberScanner
from chains.state import Passage

_JOIN = re.compile(r"[ \t]*(?:,|;|&|and)?[ \t]*")
_JOIN_BEGUN = re.compile(r"[ \t]*(?:,|;|&|a|an|and)?[ \t]*")
_TRAILING = re.compile(r"[ \t]*\Z")
_CLOSES = frozenset(" \t\n.,;:!?)…")  # What needs no blank before it.


def source_key(passage: Passage) -> tuple[str, object]:
    """Return what makes two passages one source: their document and page; an untitled one is told by its address."""
    metadata = passage["metadata"]
    title = str(metadata.get("title") or "")
    name = metadata.get("doc_id") or (title if title not in {"", "Unknown"} else metadata.get("url") or title)
    return str(name), metadata.get("page")


class NumberedMarkers:
    """Rewrites the markers of one answer; `cited[n - 1]` is the passage that marker `[n]` stands for."""

    def __init__(self, shown: Sequence[Passage]) -> None:
        self.cited: list[Passage] = []
        self._shown = shown
        self._scanner = NumberScanner(len(shown))
        self._numbers: dict[tuple[str, object], int] = {}
        self._gap = ""  # Blanks, or a comma between markers, that a marker to come may make needless.
        self._hole = False  # A marker was removed after the gap.
        self._run: set[int] = set()  # The markers that have just been written, side by side.
        self._line_empty = True

    def feed(self, piece: str) -> str:
        """Take the next piece of the answer, and return what can be shown."""
        return "".join(self._written(piece, final=False))

    def flush(self) -> str:
        """Return the rest, once the answer has ended."""
        rest = "".join(self._written("", final=True))
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
        if self._hole and self._line_empty and not self._gap:
            text = text.lstrip(" \t")  # Nothing stands before the hole: the blank after it would indent the line.
            if not text:
                return ""
        if self._hole and text[0] in _CLOSES:
            self._gap = ""
        self._hole, self._run = False, set()
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
            before = self._release()
        new = [number for number in self._known(numbers) if number not in self._run]
        if not new:
            if self._run:
                self._gap = ""
            else:
                self._hole = True
            return before
        written = before + self._gap + "".join(f"[{number}]" for number in new)
        self._gap, self._hole = "", False
        self._run.update(new)
        return written

    def _release(self) -> str:
        gap, self._gap = self._gap, ""
        return self._take_gap(gap)

    def _known(self, numbers: Sequence[int]) -> list[int]:
        """Return the final numbers of the sources among `numbers` that were shown, each once."""
        found: dict[int, None] = {}
        for number in numbers:
            if 1 <= number <= len(self._shown):
                passage = self._shown[number - 1]
                final = self._numbers.setdefault(source_key(passage), len(self._numbers) + 1)
                if final > len(self.cited):
                    self.cited.append(passage)
                found[final] = None
        return list(found)


def number_markers(answer: str, shown: Sequence[Passage]) -> tuple[str, list[Passage]]:
    """Return the answer with single, consecutive markers, and the passage of each."""
    markers = NumberedMarkers(shown)
    return markers.feed(answer) + markers.flush(), markers.cited
