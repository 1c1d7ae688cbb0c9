"""Load text and markdown with its front matter, also of unusual forms."""

import json
import re
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

from chains.documents.audience import INTERNAL
from chains.documents.naming import not_links, source_urls
from chains.documents.versions import REPLACES, VALID_FROM
from chains.errors import IngestionError
from chains.ingestion.chunks import find_headings, parse_markdown
from chains.ingestion.source import SourceText, given, left_out, require_words, title_of, without_controls
from chains.ingestion.statements import Stated, audiences_in, mark_in, plain_name, strings
from chains.regular_files import read_any_text
from chains.safe_yaml import Pairs, YamlError, read_values
from chains.text.letters import visible

# Code stands first, because nothing within it is markup.
_PARTS = re.compile(
    r"^(?P<fence>[ \t]{0,3}(?:(?P<mark>`{3,}|~{3,}).*\n(?:.*\n)*?(?:[ \t]{0,3}(?P=mark)[`~]*[ \t]*(?:\n|\Z)|\Z)))"
    r"|(?P<code>(?<!`)(?P<ticks>`{1,2})(?!`)[^`\n]+(?P=ticks)(?!`))"
    r"|(?P<comment><!--(?s:.{0,5000}?)-->|(?<![\w%])%%(?!%)(?s:.{1,5000}?)%%(?![\w%])|^\[(?://|comment)\]: #.*$)"
    r"|(?P<struck>(?<![~\\])~~(?=[^\s~])(?:[^~\n]|\n(?!\s*\n)){1,2000}~~(?!~)|<(?P<tag>s|del|strike)>(?s:.{0,2000}?)</(?P=tag)>)"
    r"|(?P<table><table\b(?s:.{0,200000}?)</table\s*>)"
    r"|(?P<remark>(?:(?<=^> )\[!\w+\][+-]?|^:{3,}[ \t]*\w*|^!!!\+?[ \t]+\w+)[ \t]*\"?(?P<name>[^\"\n]*)\"?$)",
    re.MULTILINE | re.IGNORECASE,
)
_HIDDEN = "\0"
_MARKS = re.compile(r"\A(?:<!--|%%|~~|<\w+>)\s*|\s*(?:-->|%%|~~|</\w+>)\Z")


def shown_markdown(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text and a warning of what was left out of it; every line begins where it began, up to a table.

    A comment that says who may read the document stays.
    """
    hidden: dict[str, list[str]] = {"a comment": [], "struck out": []}

    def shown(part: re.Match[str]) -> str:
        words = part[0]
        if part["table"]:
            from chains.ingestion.markup import table_of  # noqa: PLC0415 - Few texts have one, and it takes a while.

            return f"\n\n{table}\n\n" if (table := table_of(words).strip()) else words
        if part["remark"]:
            return (f"{part['name'].strip()}:" if part["name"].strip() else "").ljust(len(words), _HIDDEN)
        is_first = not text[: part.start()].strip()
        decides = part["comment"] and (audiences_in(words) or (is_first and mark_in(words)))  # Who may read the text.
        if not (part["comment"] or part["struck"]) or decides:
            return words
        hidden["a comment" if part["comment"] else "struck out"].append(" ".join(_MARKS.sub("", words).split()))
        return re.sub(r"[^\n]", _HIDDEN, words)

    if not any(mark in text for mark in ("<", "%%", "~~", "]: #", "[!", ":::", "!!!")):
        return text, ()
    lines = _PARTS.sub(shown, text).split("\n")
    warnings = tuple(warning for why, texts in hidden.items() for warning in left_out(texts, why))
    for number, line in enumerate(lines):
        if _HIDDEN in line:
            words = line.replace(_HIDDEN, "")
            lines[number] = (words.lstrip() if line.startswith(_HIDDEN) else words).ljust(len(line))
    return "\n".join(lines), warnings


FRONT_MATTER = "the front matter"  # Every fault of one is told in words that begin so.
# A block that has none of these is text between two lines, and no front matter.
NAMES = frozenset(
    {"audience", "category", "jurisdiction", "last_updated", "retrieval_keywords", "source_organization", "source_type"}
    | {"source_urls", "title", "use_cases"}
)
MAX_FRONT_MATTER = 16_000
AS_STATED = ("source_type", "jurisdiction", "last_updated", "review_by", "category")

_BEFORE = re.compile(r"\A(?:[\s\ufeff\u00ad\u200b-\u200f\u2060-\u2064]+|<!--.*?-->)*", re.DOTALL)
_DASHES = re.compile(r"[-\u2010-\u2015\u2212]{3,}|[\u2014\u2015]-?|\.{3}")
_PLUSES = re.compile(r"\+{3,}")


def read_unusual(text: str, stated: Stated) -> tuple[dict[str, Any], int]:
    """Return the values of a front matter of another form, and where the text below it begins; nothing and 0 without.

    `stated` collects what it says of who may read the document.
    """
    begin = _BEFORE.match(text)
    opening, *lines = text[begin.end() if begin else 0 :].splitlines(keepends=True)[:1000] or [""]
    fence = next((form for form in (_DASHES, _PLUSES) if form.fullmatch(visible(opening).strip())), None)
    end = next((number for number, line in enumerate(lines) if fence and fence.fullmatch(visible(line).strip())), None)
    block = "".join(lines[:end])
    if fence is None or end is None or len(block) > MAX_FRONT_MATTER:
        return {}, 0
    found = Stated()
    values: dict[str, Any] = {}
    with suppress(ValueError, RecursionError):
        values = strings(tomllib.loads(block)) if fence is _PLUSES else {}
        found.note_all(values)
    with suppress(IngestionError, ValueError, RecursionError):
        values = values or _parse(block, found)
    if NAMES.isdisjoint(values):
        return {}, 0
    stated.values |= found.values
    return values, (begin.end() if begin else 0) + len(opening) + len(block) + len(lines[end])


MAX_VALUES = 1000
MOST_WARNINGS, MAX_SHOWN = 5, 80

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_OPENED = re.compile(r"\A\ufeff?---[ \t]*\n[ \t]*[\w-]+[ \t]*:")
_LINES = re.compile(r"^([ \t{-]*)[\"']?(\w[\w -]{0,40}?)[\"']?[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)


class FrontMatterError(IngestionError):
    """What stands between the two lines of dashes is no list of names and values."""


def load_markdown(path: Path) -> SourceText:
    """Read a markdown file with optional front matter. Raise IngestionError if it is no text, empty, or too much."""
    text, warnings = read_any_text(path)
    stated = Stated()
    values, start, faults = _front_matter(text, stated)
    shown, unseen = shown_markdown(text[start:])
    require_words(shown)
    metadata = _metadata(values, shown, path) | stated.strictest()
    unlinked = [
        f"source_urls holds {words[:MAX_SHOWN]!r}, which is no link and is left out; write https://host/page"
        for words in not_links(values.get("source_urls"))[:MOST_WARNINGS]
    ]
    return SourceText(text[:start] + shown, start, metadata, warnings=(*warnings, *faults, *unseen, *unlinked))


def _front_matter(text: str, stated: Stated) -> tuple[dict[str, Any], int, tuple[str, ...]]:
    """Return the values of the front matter, where the text below it begins, and what of it could not be read.

    A front matter that is no YAML is read line by line; two rules with text between them are text.
    """
    found, is_opened = _FRONT_MATTER.match(text), _OPENED.match(text)
    if found is None:
        values, start = read_unusual(text, stated)
        if start or not is_opened:
            return values, start, ()
        _values_of_lines(text.partition("\n\n")[0][:MAX_FRONT_MATTER], stated)
        return {}, 0, (f"{FRONT_MATTER} opened by '---' is never closed and is read as text",)
    try:
        return _parse(found[1], stated), found.end(), ()
    except FrontMatterError as error:
        if not is_opened:
            return {}, 0, ()
        return _values_of_lines(found[1], stated), found.end(), (f"{error}; its lines are read one by one",)


def _values_of_lines(block: str, stated: Stated) -> dict[str, str]:
    """Return the values of the lines `name: value`; no value of who may see the document is internal."""
    lines = [(line[1], plain_name(line[2]), line[3].strip("\"'")) for line in _LINES.finditer(block)]
    for _, name, value in lines:
        stated.note(name, value or INTERNAL)
    return {name: value for indent, name, value in reversed(lines) if not indent}


def load_plain(path: Path) -> SourceText:
    """Read a file of plain text; line ends are read as line feeds. Of a front matter only what decides who sees it.

    Raise IngestionError if the file cannot be read, is no text, or is empty.
    """
    text, warnings = read_any_text(path)
    start = len(text) - len(text.removeprefix("\ufeff"))
    require_words(text[start:])
    stated = Stated()
    with suppress(IngestionError):  # What only begins like a front matter is text.
        _front_matter(text, stated)
    return SourceText(text, start, {"title": title_of(path)} | stated.strictest(), plain=True, warnings=warnings)


LOADERS = {**dict.fromkeys((".md", ".markdown"), load_markdown), **dict.fromkeys((".txt", ".text"), load_plain)}


def _parse(front_matter: str, stated: Stated) -> dict[str, Any]:
    """Return the values of a front matter as strings, lists and dictionaries.

    YAML's dates and numbers stay as they are written: all metadata is text, and a date such as 2024-02-30 is no reason
    to refuse a document. Of a name that stands twice the last value is returned; `stated` collects all.
    """
    if len(front_matter) > MAX_FRONT_MATTER:
        raise IngestionError(f"the front matter is longer than {MAX_FRONT_MATTER} characters")

    def mapping(pairs: Pairs) -> dict[str, Any]:
        named = [(plain_name(name), value) for name, value in pairs]
        for name, value in named:
            stated.note(name, value)
        return dict(named)

    try:
        values = read_values(front_matter, most_values=MAX_VALUES, object_pairs_hook=mapping)
    except YamlError as error:
        msg = f"{FRONT_MATTER} {error.problem} at line {error.line + 1}"
        raise (IngestionError if error.is_too_large else FrontMatterError)(msg) from error
    if not isinstance(values or {}, dict):
        raise FrontMatterError(f"{FRONT_MATTER} is a {type(values).__name__}; it must be a list of `name: value` lines")
    return values or {}


def _metadata(values: dict[str, Any], body: str, path: Path) -> dict[str, str]:
    plain = {name: _plain(value) for name, value in values.items()}
    begins = (values.get(name) for name in ("valid_from", "effective_date", "effective_from"))
    own = {
        "title": plain.get("title") or first_heading(body) or title_of(path),
        "source_org": plain.get("source_organization", ""),
        "source_urls": json.dumps(source_urls(values.get("source_urls")), ensure_ascii=False),
        VALID_FROM: _plain(next(filter(None, begins), None)),
        REPLACES: _plain(values.get("replaces") or values.get("supersedes")),
        "keywords": plain.get("retrieval_keywords", ""),
    }
    return given(**{name: plain.get(name, "") for name in AS_STATED}, **own)


def first_heading(body: str) -> str:
    if "#" not in body and "==" not in body:
        return ""
    headings = find_headings(*parse_markdown(body))
    return next((heading.text for heading in headings if heading.level == 1 and heading.text), "")


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_plain, value)))
    return " ".join(without_controls(str(value or "")).split())
