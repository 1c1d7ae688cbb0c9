"""Find the bracketed spans of an answer that may be citations, in a whole text and in a stream.

`[...]`, full-width and escaped brackets, outside code, links, images, footnotes, checkboxes and indexes. What a title
means is for `chains.citations.titles` to say. `NumberScanner` separates source numbers (`[1]`, `[1, 3]`, `[1-3]`,
`[Source 2]`, `【1】`) from the text of a streamed answer: a piece is held only as long as the next characters may still
change what it is, so that any way of cutting the answer gives the same parts.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

LONGEST_GROUP = 80
LONGEST_CODE_SPAN = 2000
LONGEST_RANGE = 20
LONGEST_LINK = 2000
SHORTEST_FENCE = 3
RECENT = 40

_NUMBER = r"(?:(?:sources?|references?|refs?|documents?|docs?)\s*)?#?\d{1,3}"
_GROUP = re.compile(rf"\s*{_NUMBER}(?:\s*(?:,|;|&|and|-|–|to)\s*{_NUMBER})*\s*", re.IGNORECASE)
_GROUP_BEFORE = re.compile(rf"[\[【［〔]{_GROUP.pattern}[\]】］〕]\Z", re.IGNORECASE)
_ITEM = re.compile(r"(\d+)(?:\s*(?:-|–|to)\s*\D{0,12}?(\d+))?", re.IGNORECASE)
_INNER = re.compile(r"[\w\s,;&#–-]*")
_SPECIAL = re.compile(r"[\[【［〔`~\\\n]")
_RUN = re.compile(r"`+|~+")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_DESTINATION = r"[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*"
_LINK = re.compile(rf"\((?:<[^<>\n]*>|{_DESTINATION})(?:[ \t]+\"[^\"\n]*\")?\)")
_LINK_BEGUN = re.compile(rf"\((?:<[^<>\n]*>?|{_DESTINATION}(?:\([^\s()<>]*)?)(?:[ \t]+(?:\"[^\"\n]*\"?)?)?")
_ADDRESS = re.compile(r":[ \t]*(?:https?://|<)")
_ADDRESS_BEGUN = re.compile(r":[ \t]*(?:<|h(?:t(?:t(?:p(?:s?(?::/{0,2})?)?)?)?)?)?")
_CODE_NAME = re.compile(
    r"(?:^|\W)(?:\w*_\w*|\w*\d|\w*[a-z][A-Z]\w*|arr(?:ay)?|list|items?|data|args|argv|matrix|rows?|xs?|i)$"
)

OPENING = {"]": "[", "】": "【", "］": "［", "〕": "〔", r"\]": r"\["}
"""The brackets that may hold a citation: the opening one of each closing one."""

OPENING_BRACKETS = frozenset(OPENING.values())

Range = tuple[int, int]
Part = str | tuple[int, ...]  # Plain text, or the numbers of one group.


@dataclass
class NumberScanner:
    """Separate the groups of source numbers in an answer from its text.

    `sources` is the number of sources; `links` are the labels of the answer's links, where it is known whole.
    """

    sources: int
    links: Collection[str] = ()
    _held: str = ""  # What has come and is not settled yet; `_at` is how far it has been read.
    _at: int = 0
    _recent: str = "\n"  # The end of what has been passed on, for what stands before a bracket.
    _fence: str = ""
    _parts: list[Part] = field(default_factory=list)
    code: list[Range] = field(default_factory=list)  # Of an answer that is fed whole: its code spans and blocks.

    def feed(self, piece: str, *, final: bool = False) -> list[Part]:
        """Take the next piece, and return the parts that are settled; with `final`, all that is left."""
        self._held, self._at = self._held[self._at :] + piece, 0
        while self._at < len(self._held) and self._step(final):
            pass
        parts, self._parts = self._parts, []
        return parts

    def _step(self, final: bool) -> bool:
        """Settle the next part; False where more of the answer is needed."""
        if self._fence:
            return self._in_fence(final)
        special = _SPECIAL.search(self._held, self._at)
        if special is None or special.start() > self._at:
            return self._text(special.start() if special else len(self._held))
        head, following = special.group(), self._held[self._at + 1 : self._at + 2]
        if head in "`~":
            return self._ticks(final)
        if head in OPENING_BRACKETS or (head == "\\" and following == "["):
            return self._bracket(final)
        if head == "\n" or following == "\n" or (final and not following):
            return self._text(self._at + 1)
        return bool(following) and self._text(self._at + 2)  # A backslash goes with what it escapes.

    def _text(self, end: int) -> bool:
        self._parts.append(self._held[self._at : end])
        return self._advance(end)

    def _code(self, end: int) -> bool:
        self.code.append((self._at, end))
        return self._text(end)

    def _advance(self, end: int) -> bool:
        self._recent = (self._recent + self._held[max(self._at, end - RECENT) : end])[-RECENT:]
        self._at = end
        return True

    def _at_line_start(self) -> bool:
        return not self._recent.rpartition("\n")[2].strip()

    def _ticks(self, final: bool) -> bool:
        """Pass a code span on whole (CommonMark 6.1), or the line that opens a block; other ticks are text."""
        run = _RUN.match(self._held, self._at)
        end = run.end() if run else self._at + 1
        if end == len(self._held) and not final:
            return False
        ticks = self._held[self._at : end]
        if len(ticks) >= SHORTEST_FENCE and self._at_line_start():
            line_end = self._held.find("\n", end) + 1
            if not line_end and not final:
                return False
            line_end = line_end or len(self._held)
            if "`" not in self._held[end:line_end]:
                self._fence = ticks
                return self._code(line_end)
        if ticks[0] == "~":
            return self._text(end)
        window = self._at + LONGEST_CODE_SPAN
        paragraph = _PARAGRAPH_END.search(self._held, end, window)
        limit = paragraph.start() if paragraph else min(len(self._held), window)
        for closing in _RUN.finditer(self._held, end, limit):
            if closing.group() == ticks and (final or closing.end() < len(self._held)):
                return self._code(closing.end())
        return (paragraph is not None or len(self._held) >= window or final) and self._text(end)

    def _in_fence(self, final: bool) -> bool:
        """Pass a line of a code block on, and see whether it closes the block."""
        line_end = self._held.find("\n", self._at) + 1 or len(self._held)
        bare = self._held[self._at : line_end].strip()
        may_close = not bare.strip(self._fence[0])
        if may_close and not self._held.endswith("\n", self._at, line_end) and not final:
            return False
        if may_close and len(bare) >= len(self._fence) and self._at_line_start():
            self._fence = ""
        return self._code(line_end)

    def _bracket(self, final: bool) -> bool:
        r"""Read a group of numbers; `\[1\]` is one where such a source exists, any other escaped bracket is text."""
        opening = r"\[" if self._held[self._at] == "\\" else self._held[self._at]
        closing = next(closing for closing, opened in OPENING.items() if opened == opening)
        start = self._at + len(opening)
        inner = _INNER.match(self._held, start, start + LONGEST_GROUP)
        end = inner.end() if inner else start
        following = self._held[end : end + len(closing)]
        if following != closing and closing.startswith(following) and not final:
            return False
        numbers = numbers_in(self._held[start:end])
        is_known = all(1 <= number <= self.sources for number in numbers)
        if following != closing or not numbers or (len(opening) > 1 and not is_known):
            return self._text(start)
        end += len(closing)
        if len(opening) == 1:
            plain = self._plain_until(end, self._held[start : end - 1].strip(), is_known, final)
            if plain != 0:
                return plain is not None and self._text(plain)
        self._parts.append(numbers)
        return self._advance(end)

    def _plain_until(self, end: int, label: str, is_known: bool, final: bool) -> int | None:
        """Return the end of a link, a definition or an index, 0 for a citation, None where that is still open."""
        following = self._held[end : end + 1]
        if not following and not final:
            return None
        limit = end + LONGEST_LINK
        if following == "(" and (link := _LINK.match(self._held, end, limit)):
            return link.end()
        defines = following == ":" and self._at_line_start()
        if defines and (label in self.links or _ADDRESS.match(self._held, end)):
            return end
        if label in self.links and self._recent.endswith("]") and not _GROUP_BEFORE.search(self._recent):
            return end  # [Customs][1]
        if not final and (defines or following == "("):
            begun = _ADDRESS_BEGUN if defines else _LINK_BEGUN
            if len(self._held) < limit and begun.fullmatch(self._held, end):
                return None
        is_behind_word = self._recent[-1].isalnum() or self._recent[-1] == "_"
        is_index = is_behind_word and (not is_known or _CODE_NAME.search(self._recent))  # `arr[0]`, not `customs[1]`.
        return end if is_index else 0


_AUTOLINK = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>")


def code_ranges(text: str) -> list[Range]:
    """Return the ranges of code blocks, code spans and autolinks in `text`, in order. Linear in its length."""
    links = [link.span() for link in _AUTOLINK.finditer(text)] if "<" in text else []
    if "`" not in text and "~~~" not in text:
        return links
    scanner = NumberScanner(0)
    scanner.feed(text, final=True)
    code = [link for link in links if not any(start <= link[0] < end for start, end in scanner.code)]
    return sorted([*scanner.code, *code])


def numbers_in(group: str) -> tuple[int, ...]:
    """Return the numbers between two brackets, ranges written out; none where it is no group of numbers."""
    numbers: list[int] = []
    for item in _ITEM.finditer(group) if _GROUP.fullmatch(group) else ():
        first, last = int(item[1]), int(item[2] or item[1])
        numbers.extend(range(first, last + 1) if 0 <= last - first <= LONGEST_RANGE else (first, last))
    return tuple(dict.fromkeys(numbers))


LONGEST_MARKER = 400

BRACKETS = re.compile(r"\\[\s\S]|[\[\]【】［］〔〕]|\n[ \t]*\n")
_BLANK = re.compile(r"\s")
_DEFINITION = re.compile(
    r"^[ ]{0,3}\[(?!\^)([^\[\]\n]{1,300})\]:[ \t]*(?:<[^<>\n]*>|[^\s<:/#.]*+[:/#.]\S*+)"
    r"(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*$",
    re.MULTILINE,
)
_CHECKBOX = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+")


@dataclass(frozen=True, slots=True)
class Marker:
    """A bracketed span of the answer: `answer[start:end] == raw`, brackets included; `inner` is between them."""

    start: int
    end: int
    raw: str

    @property
    def escaped(self) -> bool:
        return self.raw.startswith("\\")

    @property
    def inner(self) -> str:
        return self.raw[2:-2] if self.escaped else self.raw[1:-1]


def find_markers(answer: str) -> list[Marker]:
    """Return the spans that may be citations, outer before inner. Linear in the length of the answer."""
    markers: list[Marker] = []
    barred_until, links = 0, link_labels(answer)
    for start, end in sorted(_pairs(answer, code_ranges(answer))):
        if start < barred_until:
            continue
        marker = Marker(start, end, answer[start:end])
        if link_end := _link_end(answer, start, end, links):
            barred_until = link_end
        elif end - start <= LONGEST_MARKER and not _is_other(answer, marker):
            markers.append(marker)
    return markers


def link_labels(answer: str) -> frozenset[str]:
    """Return the labels of the link reference definitions in an answer: `[1]: https://example.org` (CommonMark 4.7)."""
    return frozenset(link_label(found[1]) for found in _DEFINITION.finditer(answer)) if "]:" in answer else frozenset()


def link_label(label: str) -> str:
    """Return a label as labels are compared: without regard to case and blanks."""
    return " ".join(label.casefold().split())


def inside(place: int, ranges: Iterable[tuple[int, int]]) -> bool:
    """Return whether a place in a text lies in one of the ranges."""
    return any(start <= place < end for start, end in ranges)


def _pairs(answer: str, code: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    open_at: list[tuple[str, int]] = []
    barred = iter([*code, (len(answer), len(answer))])
    low, high = next(barred)
    for found in BRACKETS.finditer(answer):
        while found.start() >= high and high < len(answer):
            low, high = next(barred)
        if low <= found.start() < high:
            continue
        bracket = found.group()
        if bracket in OPENING_BRACKETS:
            open_at.append((bracket, found.start()))
        elif bracket in OPENING:
            while open_at and open_at[-1][0] == r"\[" and bracket != r"\]":
                open_at.pop()  # An escaped bracket that nothing closes is text.
            if open_at and open_at[-1][0] == OPENING[bracket]:
                yield open_at.pop()[1], found.end()
        elif not bracket.startswith("\\"):
            open_at.clear()  # A blank line ends the paragraph, and every bracket left open in it.


_LABEL = re.compile(r"\[([^\[\]\n]{0,300})\]")


def _link_end(answer: str, start: int, end: int, links: Collection[str]) -> int:
    """Return the end of the link or definition that the span is, 0 if it is none."""
    inner, following = answer[start + 1 : end - 1], answer[end : end + 1]
    if (label := _LABEL.match(answer, end)) and not numbers_in(inner) and link_label(label[1] or inner) in links:
        return label.end()
    is_link = link_label(inner) in links and (not numbers_in(inner) or following == ":")
    is_link |= following in {"(", "["} and answer[start - 1 : start] == "!"
    if following == ":" and answer[end + 1 : end + 2].isspace():
        is_link |= "://" in answer[end : end + 12]
    elif following == "(":
        is_link |= _LINK.match(answer, end, end + LONGEST_LINK) is not None
    return end if is_link else 0


def _is_other(answer: str, marker: Marker) -> bool:
    inner, start = marker.inner.strip(), marker.start
    if not inner or (inner.startswith("^") and not _BLANK.search(inner)):  # A footnote's label has no blanks.
        return True
    if inner in {"x", "X"}:
        line = answer.rfind("\n", 0, start) + 1
        return bool(_CHECKBOX.fullmatch(answer, line, start))
    before = answer[start - 1 : start]
    is_index = inner.lstrip("-").isalnum() and " " not in inner
    return answer[start] == "[" and (before.isalnum() or before in {"_", ")"}) and is_index


_BACKTICKS = re.compile("`+")


class MarkerBuffer:
    """Hold text back from an opening bracket until it closes; change nothing."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        self._held += piece
        cut = self._opened_at()
        shown, self._held = self._held[:cut], self._held[cut:]
        return shown

    def flush(self) -> str:
        rest, self._held = self._held, ""
        return rest

    def _opened_at(self) -> int:
        open_at: list[tuple[str, int]] = []
        for found in BRACKETS.finditer(self._held):
            bracket = found.group()
            if bracket.startswith("\\"):
                continue
            if bracket in OPENING_BRACKETS:
                open_at.append((bracket, found.start()))
            elif bracket not in OPENING:
                open_at.clear()
            elif open_at and open_at[-1][0] == OPENING[bracket]:
                opened = ""
                for run in _BACKTICKS.findall(self._held[open_at[-1][1] : found.start()]):
                    opened = "" if run == opened else opened or run
                if not opened:  # A bracket in a code span that is open closes nothing.
                    open_at.pop()
        waiting = [start for _, start in open_at if len(self._held) - start <= LONGEST_MARKER]
        ends_in_escape = self._held.endswith("\\")
        return waiting[0] if waiting else len(self._held) - ends_in_escape
