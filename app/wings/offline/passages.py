"""Split the context of a prompt into its entries, each with the statements that may be quoted from it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.wings.offline.matching import Matrix
from chains.documents.versions import ends_all
from chains.text.statements import Statement, read_statements

_HEADER: Final = re.compile(r"\[.*\]$|(\[\d+\]) (?:Source: .+ - Page \S+|(.+))$")
_CONTEXT_FENCE: Final = re.compile(r"===== [0-9a-f]{16}: documents .* =====")
_LINKED: Final = re.compile(r"\[[^\[\]\n]{0,300}\]\([^()\s]{0,600}\)|<?(?:https?://|www\.)\S+")
_WORDS: Final = re.compile(r"[^\W\d_]{2,}")
_PROVENANCE: Final = re.compile(
    r"(?:\w+ ){0,2}(?:source|retrieved|last updated|last verified)\b[^.]{0,40}:", re.IGNORECASE
)
_OF_MAIL: Final = re.compile(r"(?:From|To|Cc): .*@|Date: .*\d\d:\d\d:\d\d")
_EXAMPLE: Final = re.compile(r"\b(?:examples?|illustrations?|sample calculations?)\b", re.IGNORECASE)
_SUPPOSES: Final = re.compile(
    r"\W*(?:(?:worked |another )?example\b|for (?:example|instance)\b|suppose\b|assum(?:e|ing)\b|imagine\b)", re.I
)
_FIGURE: Final = re.compile(r"\d")
SHORTEST: Final = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """One retrieved chunk: its header line as it stands, and the markdown below it.

    `marker` is what cites it: its number where the header has one, else the header itself. `section` is the last part
    of the header, the title where there is none. `statements` are those that may be quoted.
    """

    header: str
    text: str
    marker: str
    title: str
    section: str
    statements: tuple[Statement, ...]


@dataclass(slots=True, eq=False)
class Candidate:
    """A statement that may be quoted: the place of its entry, and how strongly it holds each term of the question.

    One that `is_left` is of another version than the question is about, or of another day.
    """

    statement: Statement
    entry: int
    strengths: Matrix
    is_left: bool = False

    @property
    def text(self) -> str:
        return self.statement.said

    @property
    def cells(self) -> str:
        """Return the words of a row without the names of its columns; empty for what is no row."""
        return ", ".join(cell.text for cell in self.statement.cells)

    @property
    def block(self) -> tuple[int, int]:
        """Return its entry, and the list, table or paragraph of it that it belongs to."""
        return self.entry, self.statement.block


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
    split: list[Entry] = []
    for header, lines in found:
        text = "\n".join(lines).strip()
        numbered, read = _HEADER.match(header), read_statements(text)
        number, place = numbered.groups() if numbered else (None, None)
        path = (place or header.strip("[]")).split(" > ")
        statements = (_below(one, path[-1]) for one in read if _is_quotable(one, is_last=one is read[-1]))
        split.append(Entry(header, text, number or header, path[0], path[-1], tuple(statements)))
    return split


def _below(statement: Statement, section: str) -> Statement:
    """Return a statement; what only names something says it of the heading: "Where dogs may not go: the pool"."""
    is_bare = statement.kind == "item" and statement.is_label and not statement.lead
    return replace(statement, lead=statement.above or section) if is_bare else statement


def ended_rows(shown: Sequence[Entry]) -> set[int]:
    """Return the ids of the items and rows below "These prices were valid until 31 August", once that has passed."""
    return {
        id(below)
        for entry in shown
        for place, one in enumerate(entry.statements)
        if ends_all(one.said)
        for below in entry.statements[place + 1 :]
        if below.headings == one.headings and below.kind != "sentence"
    }


def is_worked(statement: Statement, section: str) -> bool:
    """Return whether a statement belongs to a worked example, whose figures are those of another case."""
    is_supposed = _EXAMPLE.search(" ".join([section, *statement.headings[-1:], statement.lead])) or _SUPPOSES.match(
        statement.said
    )
    return bool(is_supposed and _FIGURE.search(statement.said))


def _is_quotable(statement: Statement, *, is_last: bool) -> bool:
    """Return whether a statement is whole, and no heading, label, link or note of provenance."""
    said, kind = statement.said, statement.kind
    if kind not in {"sentence", "item", "row"} or not statement.is_whole or _PROVENANCE.match(said):
        return False
    if _OF_MAIL.match(statement.words):
        return False
    if kind == "item" and _LINKED.match(statement.words.strip("*_ ")):
        return False
    if statement.is_label and not statement.lead and kind != "item":
        return False
    is_apart = statement.source[: statement.start].endswith("\n\n")  # A line of its own, not one that a border cuts.
    has_value = ": " in said[:60]  # "Phone: 01632 960 330".
    breaks_off = is_last and not is_apart and said[-1] not in ".!?)\"'\u201d\u3002" and not has_value
    return kind != "sentence" or ((has_value or len(_WORDS.findall(said)) >= SHORTEST) and not breaks_off)
