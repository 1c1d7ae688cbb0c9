"""Read a passage once into statements: sentences, list items, table rows, each with its place and what stands over it.

Everything that compares, quotes or marks the words of a passage works on these. A statement is `text[start:end]`; every
character of a passage belongs to one statement or is markup. markdown-it gives no offsets inside a line, and a passage
may begin in the middle of a table, so lines are read here.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from chains.text.letters import letters, plain
from chains.text.quantities import Quantity, quantities
from chains.text.tokens import Token, tokens
from chains.text.words import word_set

Kind = Literal["sentence", "item", "row", "head", "heading", "label", "code"]
"""`head` is a row that names columns, `label` a line that announces what follows: in bold, a lead, a group's name."""

LONGEST_LABEL: Final = 5  # Words.
LONGEST_TITLE, LOWEST = 8, 6  # Words of a heading without a mark, and its level.
LOOKED_AT: Final = 6  # Rows below one that may name columns.
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")
TICKS: Final = frozenset("✓✔☑✅")
DOTS: Final = frozenset("xX●•yY")
CROSSES: Final = frozenset("✗✘✕✖❌☐☒")
DASHES: Final = frozenset("-–—")
_FENCE: Final = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_QUOTED: Final = re.compile(r"\s*(?:>\s?)*")
_HEADING: Final = re.compile(r"#{1,6}\s+")
_ITEM: Final = re.compile(r"(?:[-*+\u2022]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_NUMBERED: Final = re.compile(r"\d{1,3}[.)](?=\s+$)")
_RULE: Final = re.compile(r"[\s|:=*_-]*$")
_BOLD: Final = re.compile(r"(?:\*\*[^*]+\*\*|__[^_]+__)[:?]?$")
_VALUE: Final = re.compile(
    r"[^\s.!?:|][^.!?:|]{0,38}:[*_]{0,2}\s+\S"
)  # A name with its value: "Opening hours: 9 to 5".
_CELL: Final = re.compile(r"(?:\\.|[^|\\])*")
_FIGURE: Final = re.compile(r"\d")
_AMOUNT: Final = re.compile(r"\W*(?:[A-Z]{3} ?)?\d[\d., ]*[%)]*$")  # And no range or condition: "24 and over".
_PERIOD: Final = re.compile(
    r"(?:(?:fy|q[1-4]|h[12])\W*)?(?:19|20)\d\d(?:\W+(?:19|20)?\d\d)?$|(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*"
    r"\.?\s+\d{0,2}\W*)(?:(?:19|20)\d\d)?$|(?:q[1-4]|h[12])$",
    re.IGNORECASE,
)
_TITLE: Final = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*\.? )?[A-Z][^\d.!?:;,|]*$")  # Perhaps numbered: "3 Fire".
_LOOSE_ENDS: Final = word_set("a an and as at by for from if in into of on or per than that the to with")
REFERS: Final = re.compile(
    r"(?:It|Otherwise|They|(?:After|Before|Besides|From|Of|Until|With|Without) (?:it|that|them|these|this|those)"
    r"|(?:This|These|That|Those)(?= \w+))\b(?! is (?:\w+ ){0,2}(?:that|to)\b)"
)
_CLOSED: Final = (".", "!", "?", "\u3002")
_PAIRS: Final = {"(": ")", "\u201c": "\u201d"}

MARKER: Final = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)\s+)*")
"""What marks a list item, a heading or a quotation at the beginning of a line."""

_END: Final = re.compile(r"[.!?][\"”’')\]*_]{0,4}\s{1,8}(?=[^\sa-z])|[\u3002\uff01\uff1f]")
_END_IN_LOWER_CASE: Final = re.compile(r"[.!?][\"”’')\]*_]{0,4}\s{1,8}(?=\S)|[\u3002\uff01\uff1f]")
_LAST_WORD: Final = re.compile(r"\S{1,20}\Z")
_ABBREVIATIONS: Final = word_set(
    "approx art ca cf co corp dept dr e.g eg etc fig gov i.e ie inc jr ltd max min mr mrs ms no nos p para pp pte "
    "sec sgt sr st tel vol vs"
)


class Cell(NamedTuple):
    """A cell of a table's row: its plain words, and where it stands in the passage."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Statement:
    """One thing that a passage says: `passage[start:end]`.

    Attributes:
        source: the passage.
        headings: of the passage, above the statement, the nearest last.
        lead: the line that announces it: a list's lead, a label in bold, a question.
        group: the row without values above it that names a group of rows.
        block: which paragraph, list or table of the passage it belongs to, counted from 0.
        cells: of a row.
        columns: their names, "" where the table names none.
    """

    source: str = field(repr=False)
    kind: Kind
    start: int
    end: int
    headings: tuple[str, ...] = ()
    lead: str = ""
    group: str = ""
    block: int = 0
    cells: tuple[Cell, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return self.source[self.start : self.end]

    @property
    def compared(self) -> str:
        """Return the text whose words are compared: a row with the names of its columns, all else as it stands."""
        return self.said if self.kind == "row" else self.words

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """All words of `compared`, with their places in it."""
        return tokens(self.compared)

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(word.key for word in self.tokens)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Figures, dates and times of `compared`, with their places in it."""
        return quantities(self.compared)

    @cached_property
    def letters(self) -> str:
        """What is equal in two forms of the statement: the letters and digits of `said`."""
        return letters(self.said)

    @cached_property
    def said(self) -> str:
        """The statement in plain words; a row as a sentence: what it is about, then each cell under its column."""
        return self.say()

    def say(self, first: Sequence[int] = ()) -> str:
        """Return the statement in plain words; of a row the cells of the columns `first` before the others."""
        if not self.cells:
            return plain(re.sub(r"\n:\s+", ": ", self.words))  # A definition stands below its term.
        subject, *others = (cell.text.strip(":") for cell in self.cells)
        names = [*self.columns[1:], *[""] * len(others)]
        is_named = len(self.columns) == len(self.cells) and any(self.columns[1:])
        told = [f"{name}: {text}" if name else text for name, text in zip(names, others, strict=False)]
        order = sorted(range(len(told)), key=lambda place: place + 1 not in first)
        values = "; ".join(told[place] for place in order if others[place])
        subject = ", ".join(filter(None, (self.group, subject)))
        if not (subject and values and is_named):
            return ": ".join(part for part in (subject, values) if part)
        return f"{subject} – {values}" + ("" if values.endswith(_CLOSED) else ".")

    @property
    def mark(self) -> str:
        """Return what marks the item of a list: its number as it stands, `3.`, else a dash."""
        number = _NUMBERED.search(self.source[max(0, self.start - 6) : self.start])
        return number[0] if number else "-"

    @property
    def announced(self) -> str:
        """Return all that stands over the statement inside the passage: headings, lead, the names of its columns."""
        return " ".join([*self.headings[-1:], self.lead, *self.columns])

    @property
    def above(self) -> str:
        """Return the words that announce the statement: its lead, else the nearest heading."""
        return self.lead or "".join(self.headings[-1:])

    @property
    def refers(self) -> bool:
        """Return whether it is a sentence on what the one before it says: "It is not given on cabins"."""
        return self.kind == "sentence" and REFERS.match(self.words) is not None

    @cached_property
    def is_label(self) -> bool:
        """Whether the statement only names something: a few words without a figure, a value or a closing mark."""
        if self.kind == "row":
            return not any(cell.text for cell in self.cells[1:])
        few = len(self.said.split()) <= LONGEST_LABEL and not self.said.endswith(_CLOSED)
        return few and ": " not in self.said and not _FIGURE.search(self.said)

    @cached_property
    def is_whole(self) -> bool:
        """Whether it is no half that a passage's border leaves: it begins and ends as a statement does."""
        text = self.said
        is_small = text[:1].islower() and not (
            self.source.islower() or self.source[: self.start].rstrip().endswith(",")
        )
        is_cut = self.kind == "sentence" and (is_small or text[:1] in ",;.)")
        if not text or is_cut or (self.kind == "row" and self.words[0] == "|" != self.words[-1]):
            return False
        closes = all(text.count(opening) == text.count(closing) for opening, closing in _PAIRS.items())
        return closes and text.split()[-1].lower() not in _LOOSE_ENDS and not text.endswith((",", ":", "-", "…"))


class _Line(NamedTuple):
    start: int
    end: int
    text: str


class _Reader:
    """Reads the lines of one passage."""

    def __init__(self, text: str, head: str) -> None:
        self.text = text
        self.lines = [_Line(match.start(), match.start() + len(match[0].rstrip()), match[0].rstrip())
                      for match in _LINE.finditer(text)]  # fmt: skip
        self.statements: list[Statement] = []
        self.headings: list[tuple[int, str]] = []
        self.label = self.lead = self.group = ""  # In bold over all that follows; with a colon over one block; of rows.
        self.led = -1  # The block that the lead announces.
        self.block = -1
        self.kind: Literal["", "text", "list", "table"] = ""  # Of the block that the last line belongs to.
        self.paragraph: list[_Line] = []
        self.columns: tuple[str, ...] = ()
        self.rows: list[Sequence[Cell]] = []
        self.head = _names(_cells(head.splitlines()[0], 0)) if head.strip(" |:-\n") else ()

    def read(self) -> list[Statement]:
        fence = ""
        for place, line in enumerate(self.lines):
            mark = _FENCE.match(line.text)
            if not fence and not mark:
                self._take(place, line)
                continue
            self._close()
            if not fence and mark:
                fence = mark[1]
            elif mark and mark[1].startswith(fence):
                fence = ""
            elif bare := line.text.lstrip():
                self._add("code", line.end - len(bare), line.end)
        self._close()
        return self.statements

    def _take(self, place: int, line: _Line) -> None:
        """Read a line outside of fences."""
        quoted = _QUOTED.match(line.text)
        start = line.start + (quoted.end() if quoted else 0)
        bare = self.text[start : line.end]
        if _RULE.match(bare):
            if self.kind != "table" or "|" not in bare:
                self._close()
        elif heading := _HEADING.match(bare):
            self._heading(start + heading.end(), line.end, level=len(heading[0].rstrip()))
        elif self._is_row(place, bare):
            self._row(place, start, line.end)
        elif item := _ITEM.match(bare):
            self._item(start + item.end(), line.end)
        elif _BOLD.match(bare) and not bare.rstrip("*_ ").endswith((".", "!")):
            self._close()
            self._announce(start, line.end)
        else:
            self._text(line, start)

    def _text(self, line: _Line, start: int) -> None:
        """Read a line of prose; an indented one below a list item belongs to the item."""
        if self.kind == "list" and line.text[:1].isspace() and self.statements[-1].kind == "item":
            self.statements[-1] = replace(self.statements[-1], end=line.end)
            return
        if self.kind != "text":
            self._close()
        self.kind = "text"
        self.paragraph.append(_Line(start, line.end, self.text[start : line.end]))
        if start > line.start and self.text[start : line.end].endswith(":"):  # The name of a callout.
            self._close()

    def _add(self, kind: Kind, start: int, end: int, cells: Sequence[Cell] = ()) -> None:
        headings, columns = tuple(name for _, name in self.headings), self.columns if cells else ()
        if self.lead and self.led < 0 and kind != "label":
            self.led = self.block
        lead = self.lead if self.led == self.block and kind != "label" else self.label
        group = self.group if kind == "row" else ""
        made = Statement(self.text, kind, start, end, headings, lead, group, self.block, tuple(cells), columns)
        self.statements.append(made)

    def _heading(self, start: int, end: int, level: int) -> None:
        self._close()
        self.headings = [(other, name) for other, name in self.headings if other < level]
        self.label = self.lead = ""
        self.block += 1
        if words := self.text[start:end].rstrip("# "):
            self._add("heading", start, start + len(words))
            self.headings.append((level, plain(words).rstrip(": ")))

    def _announce(self, start: int, end: int) -> None:
        """Take a line in bold, or a question, for the label of what follows."""
        self.block += 1
        self.label = self.lead = ""
        self._add("label", start, end)
        self.label = self.statements[-1].said.rstrip(": ")

    def _is_row(self, place: int, bare: str) -> bool:
        """Return whether bars make a line a table's row; bars between words need a neighbour that has as many."""
        bars, near = bare.count("|"), self.lines[max(0, place - 1) : place + 2]
        is_between = " | " in bare and sum(line.text.count("|") == bars for line in near) > 1
        return bare.startswith("|") or (bars > 1 and bare.endswith("|")) or is_between

    def _row(self, place: int, start: int, end: int) -> None:
        if self.kind != "table":
            self._begin("table")
            self.rows, self.group = [], ""
            self.columns = self.head if not self.statements else ()
        following = self.lines[place + 1].text if place + 1 < len(self.lines) else ""
        is_ruled = "-" in following and "|" in following and bool(_RULE.match(following))
        bare = self.text[start:end]
        cells = _cells(bare, start)
        if is_ruled or not (bare.startswith("|") or self.rows or self.columns):
            self.columns = _names(cells)
            self._add("head", start, end, cells)
        elif _spans(cells):
            is_note = cells[0].text.endswith(_CLOSED)  # "Children under 3 travel free."
            self.group = self.group if is_note else cells[0].text.rstrip(": ")
            place_of = (cells[0].start, cells[0].end) if is_note else (start, end)
            self._add("sentence" if is_note else "label", *place_of, () if is_note else cells[:1])
        elif not self.rows and self._names_columns(place, cells):
            self.columns = _joined(self.columns, cells)
            self._add("head", start, end, cells)
        else:
            if self.rows and not cells[0].text and not any(_AMOUNT.match(cell.text) for cell in cells[1:2]):
                cells[0] = cells[0]._replace(text=self.rows[-1][0].text)
            self.rows.append(cells)
            self._add("row", start, end, cells)

    def _begin(self, kind: Literal["list", "table"]) -> None:
        """Begin a list or a table; a line without a closing mark above it announces it as one with a colon does."""
        self._close()
        said = [
            one.said for one in self.statements[-2:] if one.block == self.block and one.kind in {"sentence", "item"}
        ]
        if len(said) == 1 and not said[0].endswith(_CLOSED) and self.led != self.block:
            self.lead, self.led = said[0], -1
        self.kind, self.block = kind, self.block + 1

    def _names_columns(self, place: int, cells: Sequence[Cell]) -> bool:
        """Return whether a row below the head names columns as well: periods, or names and units over figures."""
        others = [cell.text for cell in cells[1:] if cell.text]
        is_named = not cells[0].text and any(map(str.isalpha, "".join(others)))  # "Model 606", below a blank.
        if not others or any(_FIGURE.search(text) and not _PERIOD.match(text) for text in others if not is_named):
            return False
        if all(_PERIOD.match(text) for text in others) and not _FIGURE.search(" ".join(self.columns[1:])):
            return True
        if cells[0].text and len(set(self.columns[1:])) == len(self.columns[1:]):
            return False
        below = (_cells(line.text, 0) for line in self.lines[place + 1 : place + LOOKED_AT] if "|" in line.text)
        values = [cell.text for row in below for cell in row[1:] if cell.text and cell.text[0] != "("]
        return bool(values) and sum(bool(_FIGURE.search(text)) for text in values) > len(values) / 2

    def _item(self, start: int, end: int) -> None:
        if self.kind != "list":
            self._begin("list")
        if start < end and not _RULE.match(self.text[start:end]):
            self._add("item", start, end)

    def _close(self) -> None:
        """End the block; a paragraph is cut into sentences, the last of which may announce what follows."""
        lines, self.paragraph, self.kind = self.paragraph, [], ""
        if not lines:
            return
        if _is_titled(lines):  # In plain text, and in what was a PDF.
            self._heading(lines[0].start, lines[0].end, LOWEST)
            lines = lines[1:]
        runs = [(lines[0].start, lines[-1].end)]
        if len(lines) > 1 and all(line.text.startswith("**") or _VALUE.match(line.text) for line in lines):
            # Each of them begins a sentence.
            runs = [(line.start, line.end) for line in lines]
        cuts = [cut for run in runs for cut in pairwise([run[0], *sentence_ends(self.text, *run), run[1]])]
        worded = [(left, right, self.text[left:right]) for left, right in cuts if self.text[left:right].strip()]
        places = [(right - len(words.lstrip()), left + len(words.rstrip())) for left, right, words in worded]
        is_alone = places[0][1] in {lines[0].end, places[-1][1]}
        if is_alone and self.text[slice(*places[0])].rstrip("*_ ").endswith("?"):
            self._announce(*places.pop(0))
        self.block += 1
        for start, end in places:
            is_last, closing = end == places[-1][1], self.text[start:end].rstrip("*_ ")[-1:]
            is_lead = closing == (":" if is_last else "?")  # A question announces its answer behind it.
            self._add("label" if is_lead else "sentence", start, end)
            if is_lead:
                self.lead, self.led = self.statements[-1].said.rstrip(": "), -1 if is_last else self.block


def _is_titled(lines: Sequence[_Line]) -> bool:
    """Return whether the first line of a paragraph names it: a few words above sentences, or names with values."""
    title, *below = (line.text for line in lines)
    if not below or not _TITLE.match(title) or len(title.split()) > LONGEST_TITLE:
        return False
    is_wrapped = len(f"{title} {below[0].split()[0]}") > max(map(len, below))
    tells = (below[-1].endswith(_CLOSED) and not is_wrapped) or all(map(_VALUE.match, below))
    return tells and below[0][0].isupper() and title.split()[-1].lower() not in _LOOSE_ENDS


def _cells(row: str, offset: int) -> list[Cell]:
    """Return the cells of a row's line, which stands at the offset."""
    found: list[Cell] = []
    body = row.rstrip()
    place = 1 if body.startswith("|") else 0
    last = len(body) - 1 if body.endswith("|") and len(body) > 1 and body[-2] != "\\" else len(body)
    while place <= last:
        match = _CELL.match(body, place, last)
        end = match.end() if match else last
        words = body[place:end]
        start = offset + place + len(words) - len(words.lstrip())
        found.append(Cell(plain(words.replace("\\|", "/")), start, max(start, offset + place + len(words.rstrip()))))
        if end >= last:
            break
        place = end + 1
    return found


def _spans(cells: Sequence[Cell]) -> bool:
    """Return whether a row is a label over all columns: its other cells are blank, or repeat its words."""
    label, others = cells[0].text, {cell.text for cell in cells[1:]}
    return bool(label) and (others == {""} or (others == {label} and any(map(str.isalpha, label))))


def _names(cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return the names of columns: a name spans the blanks to its right."""
    names: list[str] = []
    for place, cell in enumerate(cells):
        names.append(cell.text.strip(": ") or (names[-1] if place > 1 else ""))
    return tuple(names)


def _joined(columns: Sequence[str], cells: Sequence[Cell]) -> tuple[str, ...]:
    """Return the names of columns, each with what a second row says below it, but for notes in brackets."""
    below = ["" if cell.text.startswith("(") else cell.text.strip(": ") for cell in cells]
    width = max(len(columns), len(below))
    wide = ([*names, *[""] * (width - len(names))] for names in (columns, below))
    return tuple(" ".join(filter(None, pair)) for pair in zip(*wide, strict=True))


@lru_cache(maxsize=1024)
def read_statements(text: str, head: str = "") -> tuple[Statement, ...]:
    """Return the statements of a passage; `head` is that of a table that the passage begins in the middle of."""
    statements = _Reader(text, head).read()
    tables: dict[int, list[int]] = {}
    for place, statement in enumerate(statements):
        if statement.kind == "row":
            tables.setdefault(statement.block, []).append(place)
    for rows in tables.values():
        _spell_ticks(statements, rows)
    return tuple(statements)


def sentence_ends(text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield where each sentence of a stretch ends, its blanks included; abbreviations and initials end none.

    A sentence begins with no small letter, but in a text that has no other letters.
    """
    last = len(text) if end is None else end
    ends = _END_IN_LOWER_CASE if text[start:last].islower() else _END
    for mark in ends.finditer(text, start, last):
        before = _LAST_WORD.search(text[max(start, mark.start() - 20) : mark.start()])
        word = before.group().lstrip("(\"'*_").lower() if before else ""
        initials = (len(word) == 1 and word.isalpha()) or (word[1::2] == "." * (len(word) // 2) != "")
        if text[mark.start()] != "." or not (word in _ABBREVIATIONS or initials):
            yield mark.end()


def sentences(text: str) -> list[str]:
    cuts = [0, *sentence_ends(text), len(text)]
    return [sentence for left, right in pairwise(cuts) if (sentence := text[left:right].strip())]


def sentence_bounds(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of every sentence of a text's statements: an item may hold several."""
    for statement in read_statements(text):
        ends = sentence_ends(text, statement.start, statement.end)
        for left, right in pairwise([statement.start, *ends, statement.end]):
            words = text[left:right]
            if words.strip():
                yield right - len(words.lstrip()), left + len(words.rstrip())


def _spell_ticks(statements: list[Statement], rows: Sequence[int]) -> None:
    """Write the ticks and crosses of a table as "yes" and "no"; a blank among them is a "no"."""
    cells = [cell.text for place in rows for cell in statements[place].cells[1:]]
    yes = TICKS if TICKS & {*cells} else DOTS
    no = ({*cells} - yes) & (CROSSES | DOTS | DASHES)
    if not yes & {*cells}:
        return
    is_matrix = sum(text in yes or text in no or not text for text in cells) > len(cells) / 2
    words = dict.fromkeys(yes, "yes") | dict.fromkeys(no, "no") | {"": "no"}
    if not is_matrix:  # A cross of its own kind, or a tick, means nothing else.
        words = {mark: word for mark, word in words.items() if mark in TICKS | CROSSES - {""}}
    for place in rows:
        first, *others = statements[place].cells
        spelled = (cell._replace(text=words.get(cell.text, cell.text)) for cell in others)
        statements[place] = replace(statements[place], cells=(first, *spelled))
