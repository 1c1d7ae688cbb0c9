"""The context of a prompt -> its entries, each with the statements that may be quoted from it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from app.wings.offline.plain import plain, sentences, whole
from chains.text.words import word_set

Kind = Literal["prose", "list", "table"]

_HEADER = re.compile(r"\[.*\]$|(\[\d+\]) (?:Source: .+ - Page \S+|(.+))$")
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_ITEM = re.compile(r"(\s*)(?:[-*+\u2022]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_RULE = re.compile(r"[\s|:=*_-]+$")
_LABEL = re.compile(r"\*\*[^*]+\*\*[:?]?$|__[^_]+__[:?]?$")
_WORDS = re.compile(r"[^\W\d_]{2,}")
SHORTEST = 2
_FENCE = ("```", "~~~")
_CONTEXT_FENCE = re.compile(r"===== [0-9a-f]{16}: documents .* =====")
_LOOSE_ENDS = word_set("a an and as at by for from if in into of on or per than that the to with")
_LINKED = re.compile(r"\[[^\[\]\n]{0,300}\]\([^()\s]{0,600}\)|<?(?:https?://|www\.)\S+")
_EXAMPLE = re.compile(r"\b(?:examples?|illustrations?|sample calculations?)\b", re.IGNORECASE)
_SUPPOSES = re.compile(
    r"\W*(?:(?:worked |another )?example\b|for (?:example|instance)\b|suppose\b|assum(?:e|ing)\b|imagine\b)", re.I
)
_FIGURE = re.compile(r"\d")
_ARITHMETIC = re.compile(
    r"\d[^=\n]{0,60}?[-+x*/\u00d7\u00f7\u2212][^=\n]{0,60}=\s?\W{0,4}(?:[A-Z]{1,3}\W?)?\d", re.IGNORECASE
)
_ENDS = (".", "!", "?", "\u3002")
LONGEST_LABEL = 5
_PROVENANCE = re.compile(r"(?:\w+ ){0,2}(?:source|retrieved|last updated|last verified)\b[^.]{0,40}:", re.IGNORECASE)


@dataclass(slots=True)
class Block:
    """A paragraph, a list or a table, under the words that announce it."""

    kind: Kind
    heading: str
    label: str
    statements: list[str] = field(default_factory=list)
    columns: Sequence[str] = ()

    @property
    def lead(self) -> str:
        """Return the words that announce the block: its own label, else the heading."""
        return self.label or self.heading

    @property
    def announced(self) -> str:
        """Return all that announces the block's statements, the names of a table's columns as well."""
        return " ".join((self.heading, self.label, *self.columns))


@dataclass(frozen=True, slots=True)
class Entry:
    """One retrieved chunk: its header line as it stands, and the markdown below it."""

    header: str
    text: str

    @property
    def marker(self) -> str:
        """Return what cites the entry: its number where the header has one, else the header itself."""
        numbered = _HEADER.match(self.header)
        return (numbered and numbered[1]) or self.header

    @property
    def section(self) -> str:
        """Return the last part of the header: the section, or the title where there is none."""
        numbered = _HEADER.match(self.header)
        return ((numbered and numbered[2]) or self.header.strip("[]")).rsplit(" > ", 1)[-1]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks that hold at least one whole statement."""
        return read_blocks(self.text)


def context_of(prompt: str) -> str | None:
    """Return the text between the context tags, or None if the prompt has no context."""
    lines = prompt.splitlines()
    if "<context>" not in lines:
        return None
    start = lines.index("<context>") + 1
    end = lines.index("</context>", start) if "</context>" in lines[start:] else len(lines)
    return "\n".join(lines[start:end])


def entries(context: str) -> list[Entry]:
    """Split the context at its header lines; what stands before the first one has no source and is left out."""
    found: list[tuple[str, list[str]]] = []
    after_blank = True
    for line in context.splitlines():
        if after_blank and line.startswith("[") and _HEADER.match(line.rstrip()):
            found.append((line.rstrip(), []))
        elif found and not _CONTEXT_FENCE.fullmatch(line):
            found[-1][1].append(line)
        after_blank = not line.strip()
    return [Entry(header, "\n".join(lines).strip()) for header, lines in found]


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|").replace("\\|", "/")
    return [plain(cell).strip(":") for cell in inner.split("|")]


def _row(cells: Sequence[str], columns: Sequence[str]) -> str:
    """Write a table row as a sentence: what the row is about, then its other cells under their columns' names."""
    subject, *others = cells
    named = len(columns) == len(cells) and all(columns[1:])
    values = "; ".join(f"{columns[i]}: {cell}" if named else cell for i, cell in enumerate(others, 1) if cell)
    if not (subject and values and named):
        return ": ".join(part for part in (subject, values) if part)
    return f"{subject} – {values}" + ("" if values.endswith(_ENDS) else ".")


def is_worked(statement: str, announced: str) -> bool:
    """Return whether a statement belongs to a worked example, whose figures are those of another case."""
    hypothetical = _EXAMPLE.search(announced) or _SUPPOSES.match(statement)
    return bool((hypothetical and _FIGURE.search(statement)) or _ARITHMETIC.search(statement))


def is_label(statement: str, kind: Kind) -> bool:
    """Return whether a statement only names something: a few words without a figure, a value or a closing mark."""
    few = len(statement.split()) <= LONGEST_LABEL and not statement.endswith(_ENDS)
    return kind != "table" and few and ": " not in statement and not _FIGURE.search(statement)


class _Reader:
    """Read the lines of one entry into blocks."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.heading = self.label = ""
        self.paragraph: list[str] = []
        self.blocks: list[Block] = []
        self.gap = True

    def read(self) -> list[Block]:
        """Return the blocks in the order of the text."""
        fenced = False
        for position, line in enumerate(self.lines):
            if line.lstrip().startswith(_FENCE):
                self._end_paragraph()
                fenced = not fenced
            elif not fenced:
                self._take(position, line)
        self._end_paragraph()
        return [block for block in self.blocks if block.statements]

    def _take(self, position: int, line: str) -> None:
        bare = line.strip().lstrip(">").strip()
        heading, item = _HEADING.match(bare), _ITEM.match(line)
        if not bare or _RULE.match(bare):
            self._blank(bare)
        elif heading:
            self._announce(heading.group(1), is_heading=True)
        elif self._is_row(position, bare):
            self._table_row(position, bare)
        elif item:
            self._item(item.group(2))
        elif _LABEL.match(bare):
            self._announce(bare, is_heading=False)
        else:
            self._text(line, bare)

    def _is_row(self, position: int, bare: str) -> bool:
        """Return whether bars make a line a table's row; bars between words need a neighbour that has as many."""
        bars, near = bare.count("|"), self.lines[max(0, position - 1) : position + 2]
        between = " | " in bare and sum(line.count("|") == bars for line in near) > 1
        return bare.startswith("|") or (bars > 1 and bare.endswith("|")) or between

    def _blank(self, bare: str) -> None:
        if "|" not in bare:
            self._end_paragraph()
            self.gap = True

    def _announce(self, words: str, *, is_heading: bool) -> None:
        """Take a heading, or a line in bold; such a line that is no question may be a statement as well."""
        self._end_paragraph()
        text = plain(words).rstrip("#: ")
        if is_heading:
            self.heading, self.label = text, ""
        elif text.endswith((".", "!")):
            self._block("prose").statements.extend(sentences(text))
        else:
            self.label = text
        self.gap = True

    def _block(self, kind: Kind, columns: Sequence[str] = ()) -> Block:
        """Return the block that this line continues, or a new one."""
        last = self.blocks[-1] if self.blocks else None
        if last and last.kind == kind != "prose" and not self.gap and last.lead == (self.label or self.heading):
            return last
        self.blocks.append(Block(kind, self.heading, self.label, [], columns))
        self.gap = False
        return self.blocks[-1]

    def _table_row(self, position: int, bare: str) -> None:
        """Take a row, unless the chunk's border cut it.

        The row above a rule names the columns; in a table without bars around it the first row does.
        """
        self._end_paragraph()
        following = self.lines[position + 1].strip() if position + 1 < len(self.lines) else ""
        ruled = "-" in following and "|" in following and bool(_RULE.match(following))
        framed, last = "|" in (bare[0], bare[-1]), self.blocks[-1] if self.blocks else None
        if ruled or not (framed or (last and last.kind == "table" and not self.gap)):
            self.gap = True
            self._block("table", _cells(bare))
        elif not framed or (bare[0] == bare[-1] and len(bare) > 1):
            self._add_row(_cells(bare))

    def _add_row(self, cells: Sequence[str]) -> None:
        block = self._block("table")
        phrase = _row(cells, block.columns)
        if phrase:
            block.statements.append(phrase)

    def _item(self, words: str) -> None:
        if self.paragraph:
            self._lead_in()
        text = plain(words)
        if text and not _RULE.match(text) and not _LINKED.match(words.strip("*_ ")):
            self._block("list").statements.append(text)

    def _lead_in(self) -> None:
        """Take the last sentence before a list for its label if it ends in a colon."""
        lines = sentences(plain(" ".join(self.paragraph)))
        if lines and lines[-1].endswith(":"):
            self.label = lines.pop().rstrip(": ")
            self.gap = True
        self.paragraph = []
        self._add_prose(lines)

    def _text(self, line: str, bare: str) -> None:
        """Take a line of prose; an indented one below a list item belongs to the item."""
        last = self.blocks[-1] if self.blocks else None
        if line[:1].isspace() and last and last.kind == "list" and not self.gap and not self.paragraph:
            last.statements[-1] += " " + plain(bare)
        else:
            self.paragraph.append(bare)

    def _end_paragraph(self) -> None:
        if self.paragraph:
            self._paragraph(self.paragraph)
            self.paragraph = []

    def _paragraph(self, lines: Sequence[str]) -> None:
        text = plain(" ".join(lines))
        if len(lines) == 1 and text.endswith((":", "?")):
            self.label = text.rstrip(": ")
            self.gap = True
        elif all(line.startswith("**") for line in lines):
            self._add_prose([part for line in lines for part in sentences(plain(line))])
        else:
            self._add_prose(sentences(text))

    def _add_prose(self, found: Sequence[str]) -> None:
        if found:
            self._block("prose").statements.extend(found)


def _complete(statement: str, kind: Kind, *, lower: bool) -> bool:
    """Tell a statement from the half that a chunk's border leaves, and from a note on where the text comes from.

    A small letter begins a half, but in a text that has no other letters.
    """
    first, last = statement[:1], statement.rsplit(None, 1)[-1]
    if (kind == "prose" and ((first.islower() and not lower) or first in ",;.)")) or _PROVENANCE.match(statement):
        return False
    if kind == "prose" and len(_WORDS.findall(statement)) < SHORTEST:
        return False
    return whole(statement) and last.lower() not in _LOOSE_ENDS and not statement.endswith((",", ":", "-"))


def _drop_cut_end(block: Block) -> None:
    """Drop the last sentence of an entry if it breaks off: no closing mark and no `label: value` form."""
    last = block.statements[-1]
    if block.kind == "prose" and last[-1] not in ".!?)\"'\u201d\u3002" and ": " not in last[:60]:
        block.statements.pop()


@lru_cache(maxsize=1 << 10)
def read_blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of a chunk's markdown that hold a whole statement; they are shared, not to change."""
    found, lower = _Reader(text).read(), text.islower()
    if found:
        _drop_cut_end(found[-1])
    for block in found:
        block.statements = [one for one in block.statements if _complete(one, block.kind, lower=lower)]
    return tuple(block for block in found if block.statements)
