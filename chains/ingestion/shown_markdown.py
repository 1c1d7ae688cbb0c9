"""What a reader sees of a Markdown text: without comments and struck-out words, and with its HTML tables as tables."""

import re

from chains.ingestion.source import left_out
from chains.ingestion.statements import audiences_in, mark_in

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
            return _table(words)
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
    return "\n".join(map(_without_hidden, lines)), warnings


def _without_hidden(line: str) -> str:
    """Return a line without what is hidden, as long as it was."""
    if _HIDDEN not in line:
        return line
    shown = line.replace(_HIDDEN, "")
    return (shown.lstrip() if line.startswith(_HIDDEN) else shown).ljust(len(line))


def _table(html: str) -> str:
    from chains.ingestion.markup import table_of  # noqa: PLC0415 - Few texts have one, and the parser takes a while.

    table = table_of(html).strip()
    return f"\n\n{table}\n\n" if table else html
