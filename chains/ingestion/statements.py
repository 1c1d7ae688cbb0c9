"""Read from a document who may see it: from its metadata, first lines and name."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any

from chains.documents.audience import INTERNAL, category_of, is_internal_source, is_public
from chains.text.letters import folded, visible
from chains.text.pattern_file import read_patterns

# How much of a document its first lines are.
HEAD_CHARACTERS, HEAD_LINES = 4000, 40
MARKED_LINES = 12
SHORT_WORDS = 8

_SAYS_INTERNAL, _MARKS, _SHORT_MARKS, _CLASS, _NAME_MARKS = (
    re.compile(pattern) for _, pattern in read_patterns(__package__, "audience.txt")[1]
)
# Around a line that states something: a comment, a list, emphasis, a quotation, a row of JSON.
_DECORATION = " \t>#*_-+|<!/;%~\"'`{}[]()=.,•·"
_COMMENT = re.compile(r"\s(?:#|//|--+>|<!--).*")
_AUDIENCE = re.compile(r"audience[\"'*_`\s]*(?::=?|=>?)\s*(.*)")
_NAMED = re.compile(r"\w[\w .-]{0,40}[\"'*_`]*\s*[:=]")
_BARS, _RULE = re.compile(r"(?<!\\)\|"), re.compile(r":?-+:?")
_ROW = re.compile(r"(?:^- |; )audience: ([^;\n]+)", re.MULTILINE)

_BETWEEN_WORDS, _HUMP = re.compile(r"[\W_\d]+"), re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass
class Stated:
    """The values that a document's metadata gives to the names that decide who sees it, as often as it gives them."""

    values: dict[str, list[str]] = field(default_factory=dict)

    def note(self, name: str, value: object) -> None:
        if name in {"audience", "category", "source_type"}:
            self.values.setdefault(name, []).extend(_leaves(value))

    def note_all(self, value: object) -> None:
        """Remember what stands anywhere below."""
        if isinstance(value, Mapping):
            for name, one in value.items():
                self.note(plain_name(name), one)
                self.note_all(one)
        elif isinstance(value, list):
            for one in value:
                self.note_all(one)

    def strictest(self) -> dict[str, str]:
        """Return of each name the strictest value; one without a value is left out."""
        kinds = {"category": lambda one: category_of([one]) == INTERNAL, "source_type": is_internal_source}
        found = {name: next(filter(is_strict, self.values.get(name, [])), "") for name, is_strict in kinds.items()} | {
            "audience": strictest(self.values.get("audience", []))
        }
        return {name: value for name, value in found.items() if value}


def strictest(audiences: Iterable[str]) -> str:
    """Return the first stated audience that is not `public`, else `public`; empty where none is stated."""
    stated = [audience for audience in audiences if audience.strip()]
    return next((audience for audience in stated if not is_public(audience)), "public" if stated else "")


def plain_name(name: object) -> str:
    """Return the name of a value as it is looked up: in lower case and plain letters, with underscores."""
    return "_".join(folded(str(name)).replace("-", " ").replace("_", " ").split())


def audiences_in(text: str, *, rows: bool = False) -> list[str]:
    """Return the audiences other than `public` that the first lines of a text state, like `Audience: directors`.

    Among the lines `name: value` that a text begins with, every word counts, as it does in a front matter. Below them
    only one that says internal does: a guide may name its readers. With `rows` each row of a table is asked as well.
    """
    lines = [line.strip(_DECORATION) for line in _first_lines(text, HEAD_LINES)]
    head = sum(1 for _ in takewhile(_NAMED.match, filter(None, lines)))
    found = []
    for number, line in enumerate(filter(None, lines)):
        stated = _AUDIENCE.match(line)
        value = _COMMENT.sub("", stated[1]).strip(_DECORATION) if stated else ""
        if value and not is_public(value) and (number < head or _SAYS_INTERNAL.search(value)):
            found.append(value)
    values = (value.strip(_DECORATION) for value in _row_values(folded(text))) if rows else ()
    return [*found, *(value for value in values if value and not is_public(value))]


def _row_values(text: str) -> Iterator[str]:
    """Yield what the rows of a text in lower case say of their audience: `- audience: staff`, or a table's column."""
    yield from (row[1] for row in _ROW.finditer(text))
    if "audience" not in text:
        return
    column, is_first = None, True
    for line in text.splitlines():
        if not line.startswith("|"):
            column, is_first = None, True
            continue
        cells = [cell.strip() for cell in _BARS.split(line)[1:-1]]
        names = [cell.rpartition(": ")[2] for cell in cells] if is_first else []
        column = names.index("audience") if "audience" in names else column
        if not is_first and column is not None and column < len(cells) and not _RULE.fullmatch(cells[column]):
            yield cells[column]
        is_first = False


def mark_in(text: str) -> str:
    """Return the first of a text's first lines that says it is not for everybody; empty where none does."""
    for line in _first_lines(text, MARKED_LINES):
        is_short = len(line.split()) <= SHORT_WORDS
        if _MARKS.search(line) or _CLASS.search(line) or (is_short and _SHORT_MARKS.search(line)):
            return line.strip(_DECORATION)
    return ""


def mark_in_name(path: str) -> str:
    """Return the part of a path that says it is not for everybody; empty where none does."""
    for part in path.split("/"):
        words = _BETWEEN_WORDS.sub(" ", folded(_HUMP.sub(" ", part)))
        if _NAME_MARKS.search(" ".join(words.split())):
            return part
    return ""


def _first_lines(text: str, most: int) -> Iterator[str]:
    lines = (line.strip() for line in folded(visible(text[:HEAD_CHARACTERS])).splitlines())
    return islice(filter(None, lines), most)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    elif value is not None:
        yield str(value)


def strings(value: Any) -> Any:
    """Return a value of TOML or JSON with every name plain and every other value as text."""
    if isinstance(value, Mapping):
        return {plain_name(name): strings(one) for name, one in value.items()}
    if isinstance(value, list):
        return [strings(one) for one in value]
    return None if value is None else str(value)
