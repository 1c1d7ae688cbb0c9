"""The lines of a PDF page with their size, weight and place, by pdfium; a row of a table is one line."""

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
import pypdfium2
from pypdfium2 import raw

from chains.ingestion.source import storable

# Letters of these are looked at on the drawn page: lighter than this, fainter than this, or lower in points.
_WORD = re.compile(r"\S+")
WHITE, FAINT, LOWEST = 235, 20, 1.5
INVISIBLE = 3  # The mode in which text is not drawn, as that of a scan under its picture.
# The pixels of a place where nothing is drawn differ by no more than this.
BLANK = 8
PART_OF_PAGE = 0.5  # A picture of this part of a page is a scan.
MOST_AREAS = 500  # Of a page, that may cover words.


@dataclass
class Unseen:
    """Finds the words of one page that nobody sees, and collects them in `texts`."""

    page: pypdfium2.PdfPage
    text: pypdfium2.PdfTextPage
    texts: list[str] = field(default_factory=list)

    def without(self, start: int, letters: str) -> str:
        """Return the letters of a line, which begins at `start`, with blanks in the place of words nobody sees."""
        words = list(_WORD.finditer(letters))
        ends = (words[0].start(), words[-1].end() - 1) if words else ()
        if not any(self._is_suspicious(start + place) for place in ends):
            return letters
        visible = list(letters)
        for word in words:
            if self._is_suspicious(start + word.start()) and self._is_blank(start + word.start(), start + word.end()):
                visible[word.start() : word.end()] = " " * len(word[0])
        hidden = " ".join(word[0] for word in words if visible[word.start()] == " ")
        self.texts += [hidden] * bool(hidden)
        return "".join(visible)

    def _is_suspicious(self, number: int) -> bool:
        values = [ctypes.c_uint() for _ in range(4)]
        if not raw.FPDFText_GetFillColor(self.text, number, *values):
            return False
        *colours, opacity = (value.value for value in values)
        left, bottom, right, top = self.text.get_charbox(number)
        crop = self.page.get_cropbox()
        off = right < crop[0] or left > crop[2] or top < crop[1] or bottom > crop[3]
        tiny = 0 < top - bottom < LOWEST and raw.FPDFText_GetFontSize(self.text, number) < LOWEST * 2
        if off or tiny or min(colours) >= WHITE or opacity < FAINT:
            return True
        x, y = (left + right) / 2, (bottom + top) / 2
        if any(area[0] <= x <= area[2] and area[1] <= y <= area[3] for area in self._areas):
            return True
        part = raw.FPDFText_GetTextObject(self.text, number)
        return bool(part) and raw.FPDFTextObj_GetTextRenderMode(part) == INVISIBLE and not self._is_scan

    @cached_property
    def _is_scan(self) -> bool:
        return picture_part(self.page) >= PART_OF_PAGE

    @cached_property
    def _areas(self) -> list[tuple[float, float, float, float]]:
        """Return the filled areas, which may be drawn over words to hide them."""
        areas = []
        for part in islice(self.page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=3), MOST_AREAS):
            fill, stroke = ctypes.c_int(), ctypes.c_int()
            if raw.FPDFPath_GetDrawMode(part, fill, stroke) and fill.value:
                areas.append(part.get_bounds())
        return areas

    @cached_property
    def _pixels(self) -> np.ndarray:
        pixels: np.ndarray = self.page.render(scale=1, grayscale=True, may_draw_forms=False).to_numpy()
        return pixels

    def _is_blank(self, first: int, end: int) -> bool:
        """Say whether the page shows nothing where these letters stand."""
        height, width = self._pixels.shape[:2]
        boxes = [self.text.get_charbox(number) for number in (first, end - 1)]
        place = pypdfium2.PdfPosConv(self.page, (0, 0, width, height, 0))
        corners = [place.to_bitmap(box[side], box[side + 1]) for box in boxes for side in (0, 2)]
        (left, right), (top, bottom) = ((min(values), max(values)) for values in zip(*corners, strict=True))
        region = self._pixels[max(top, 0) : max(bottom + 1, 0), max(left, 0) : max(right + 1, 0)]
        return region.size == 0 or int(region.max()) - int(region.min()) <= BLANK


def picture_part(page: pypdfium2.PdfPage) -> float:
    width, height = page.get_size()
    boxes = (part.get_bounds() for part in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3))
    areas = (max(0.0, right - left) * max(0.0, top - bottom) for left, bottom, right, top in boxes)
    return float(max(areas, default=0.0) / max(1.0, width * height))


_BOLD = re.compile(r"bold|black|heavy|demi", re.IGNORECASE)
_ITALIC = re.compile(r"italic|oblique", re.IGNORECASE)
_FORCE_BOLD = 1 << 18  # In the flags of a font (PDF 32000, 9.8.2).
_NAME_BYTES = 200
_LINE_ENDS = "\r\n\f\v"
HYPHEN = "\xad"  # At the end of a line; `joined` decides whether it belongs to the word.
BAR = "| "  # A row of a table begins so.
# How pdfium writes a hyphen at the end of a line, whose two halves it joins.
_HYPHENS = str.maketrans({"\x02": HYPHEN, "\ufffe": HYPHEN, "\xa0": " "})
_SPACES = re.compile(r"\s+")
_BLANKS = re.compile(r"(?<=[^ ]) +(?=[^ ])")
_NUMBER = re.compile(r"\d")
# A gap of this part of a line's height is the end of a paragraph.
PARAGRAPH_GAP, SENTENCE_GAP = 0.5, 1.6  # The second one within a sentence.
# Between the cells of a table stands a gap of so many heights of a line, and less before the sign of an amount; where
# the file draws the blanks of the gap, it is wider.
RAISED, SUPERSCRIPTS = 0.85, "⁰¹²³⁴⁵⁶⁷⁸⁹"
PIECE_GAP, SIGN_GAP, CELL_GAP = 1.0, 0.5, 1.5
CURRENCIES, SIGNS = "$€£¥", "$€£¥%()"  # What may stand in a column of its own, beside amounts.
MARK = re.compile(r"\W*|\W*(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]", re.IGNORECASE)  # Of a list.
Parts = Callable[[float, float, float], bool]


class Piece(NamedTuple):
    """A part of a line that stands apart from the next one, and its box, which may be lower or higher than the next."""

    text: str
    left: float
    bottom: float
    right: float
    top: float


class Line(NamedTuple):
    """A line of text; its box is in points, counted from below, and `size` is the height of its letters' boxes."""

    text: str
    size: float
    bold: bool
    left: float
    bottom: float
    right: float
    top: float
    italic: bool = False
    pieces: tuple[Piece, ...] = ()  # Where there are gaps as between columns.
    is_row: bool = False  # It holds the cells of a row of a table.

    @property
    def parts(self) -> tuple[Piece, ...]:
        return self.pieces or (Piece(self.text, self.left, self.bottom, self.right, self.top),)

    @property
    def numbers(self) -> int:
        """Return how many of its words hold a digit."""
        return sum(1 for word in self.text.split() if _NUMBER.search(word))


def read_lines(page: pypdfium2.PdfPage, parts: Parts = lambda *_: False) -> tuple[list[Line], list[str]]:
    """Return the lines in the order in which the file draws them, and the words that nobody sees.

    `parts` returns whether something is drawn between two edges at a height, so that the words there stand apart.
    """
    with closing(page.get_textpage()) as text:
        unseen = Unseen(page, text)
        spans = ((start, unseen.without(start, letters)) for start, letters in _spans(text))
        lines = [line for start, letters in spans if (line := _line(text, start, letters, parts))]
        return lines, unseen.texts


def text_of(lines: Sequence[Line]) -> tuple[str, list[int]]:
    """Return the text of lines, an empty line between paragraphs, and where in it each line begins."""
    parts: list[str] = []
    starts, place = [], 0
    for number, line in enumerate(lines):
        end = "" if number == 0 else "\n" if _follows(lines[number - 1], line) else "\n\n"
        starts.append(place + len(end))
        parts.append(end + line.text)
        place += len(parts[-1])
    return "".join(parts), starts


def _follows(above: Line, line: Line) -> bool:
    if BAR in (above.text[:2], line.text[:2]):
        return above.text[:2] == line.text[:2] and line.is_row
    gap = (above.bottom - line.top) / max(above.size, line.size)
    goes_on = line.size == above.size and line.text[:1].islower() and above.text[-1:].isalpha()
    return -above.size <= above.bottom - line.top and gap < (SENTENCE_GAP if goes_on else PARAGRAPH_GAP)


def _spans(text: pypdfium2.PdfTextPage) -> Iterator[tuple[int, str]]:
    """Yield where each line begins, counted in pdfium's characters, and one character for each of them.

    A small digit that stands higher than the one before it is the sign of a footnote: "12.50¹" is not 12.501.
    """
    start = before = 0
    letters: list[str] = []
    for number in range(text.count_chars()):
        letter = chr(raw.FPDFText_GetUnicode(text, number))
        if letter.isdecimal() and any(map(str.isdigit, letters[-2:])):
            (_, low, _, high), (_, bottom, _, top) = (text.get_charbox(at, loose=True) for at in (before, number))
            if top - bottom < RAISED * (high - low) and bottom > low:
                letters.append(SUPERSCRIPTS[int(letter)])
                continue
        before = before if letter == " " else number
        if letter in _LINE_ENDS:
            yield start, "".join(letters)
            start, letters = number + 1, []
        else:
            letters.append(letter)
    yield start, "".join(letters)


def _line(text: pypdfium2.PdfTextPage, start: int, letters: str, parts: Parts) -> Line | None:
    shown = _SPACES.sub(" ", storable(letters.translate(_HYPHENS))).strip()
    if not shown:
        return None
    first, last = start + len(letters) - len(letters.lstrip()), start + len(letters.rstrip()) - 1
    left, bottom, _, top = text.get_charbox(first, loose=True)
    _, low, right, high = text.get_charbox(last, loose=True)
    bold, italic = map(all, zip(_font(text, first), _font(text, last), strict=True))
    size = round(2 * (top - bottom)) / 2
    pieces = tuple(_pieces(text, start, letters, size, parts))
    right, top, bottom = max(left, right), max(top, high), min(bottom, low)
    return Line(shown, size, bold, left, bottom, right, top, italic, pieces)


def _pieces(text: pypdfium2.PdfTextPage, start: int, letters: str, size: float, parts: Parts) -> Iterator[Piece]:
    """Yield the parts of a line between rules, or gaps; nothing where it has neither."""
    edges: list[tuple[int, int]] = [(0, 0)]
    for blank in _BLANKS.finditer(letters):
        before, after = (text.get_charbox(start + near) for near in (blank.start() - 1, blank.end()))
        is_filled = raw.FPDFText_IsGenerated(text, start + blank.start()) != 1
        gap = SIGN_GAP if letters[blank.end()] in CURRENCIES else CELL_GAP if is_filled else PIECE_GAP
        is_gap = not MARK.fullmatch(letters, 0, blank.start()) and not before[0] <= after[0] <= before[2] + gap * size
        if is_gap or parts(before[2], after[0], (before[1] + before[3]) / 2):
            edges.append(blank.span())
    if len(edges) == 1:
        return
    for (_, first), (end, _) in pairwise([*edges, (len(letters), 0)]):
        words = letters[first:end]
        if shown := _SPACES.sub(" ", storable(words.translate(_HYPHENS))).strip():
            begin, last = start + first + len(words) - len(words.lstrip()), start + first + len(words.rstrip()) - 1
            (_, bottom, _, top), (_, low, _, high) = (text.get_charbox(place, loose=True) for place in (begin, last))
            left, right = text.get_charbox(begin)[0], text.get_charbox(last)[2]
            yield Piece(shown, left, min(bottom, low), right, max(top, high))


def _font(text: pypdfium2.PdfTextPage, number: int) -> tuple[bool, bool]:
    """Return whether a letter is bold, and whether it is italic."""
    name, flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()
    raw.FPDFText_GetFontInfo(text, number, name, _NAME_BYTES, flags)
    shown = name.value.decode("latin-1")
    return bool(flags.value & _FORCE_BOLD or _BOLD.search(shown)), bool(_ITALIC.search(shown))


# Words that a hyphen follows, and words that one stands before: three-phase, duty-free.
_FIRST = re.compile(
    r"(?:self|non|ex|cross|high|low|long|short|well|full|half|semi|multi|mid|two|three|four|five|six|ten|one|all|first"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|second|third|on|off|in|up|\w*\d)$",
    re.IGNORECASE,
)
_SECOND = re.compile(r"(?:based|free|phase|term|time|level|related|specific|wide|to|of|by|up|off|in|out|down|the)\b")
_HALVES = re.compile(rf"(\w+){HYPHEN}\s?(\w+)|{HYPHEN}")


def joined(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Return the pages with words that are parted at the end of a line in one piece, as the document has them."""
    parted = [list(_whole_words(lines)) for lines in pages]
    texts = [line.text for lines in parted for line in lines]
    if not any(HYPHEN in text for text in texts):
        return parted
    known = {word.casefold() for text in texts for word in _HYPHENED.findall(text)}

    def word(halves: re.Match[str]) -> str:
        if not halves[1]:
            return ""
        whole, hyphened = (f"{halves[1]}{between}{halves[2]}" for between in ("", "-"))
        if whole.casefold() in known:
            return whole
        is_chain = halves.string[: halves.start()].endswith("-")  # As in state-of-the-art.
        stays = is_chain or hyphened.casefold() in known or _FIRST.match(halves[1]) or _SECOND.match(halves[2])
        return hyphened if stays or not halves[2][0].islower() else whole

    def with_whole_words(line: Line) -> Line:
        pieces = (piece._replace(text=_HALVES.sub(word, piece.text)) for piece in line.pieces)
        return line._replace(text=_HALVES.sub(word, line.text), pieces=tuple(pieces))

    return [[with_whole_words(line) if HYPHEN in line.text else line for line in lines] for lines in parted]


_HYPHENED = re.compile(r"\w+(?:-\w+)*")
_PARTED = re.compile(rf"[^\W\d_]{{2}}[-\u2010{HYPHEN}]$")


def _whole_words(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines; one that ends within a word gets the rest of it from the next line of its paragraph."""
    rest: Line | None = None
    for line in lines:
        if rest is not None and _PARTED.search(rest.text) and line.text[0].islower() and _follows(rest, line):
            word, _, others = line.text.partition(" ")
            yield rest._replace(text=f"{rest.text[:-1]}{HYPHEN}{word}")
            rest = line._replace(text=others) if others else None
        else:
            if rest is not None:
                yield rest
            rest = line
    if rest is not None:
        yield rest
