"""Stage 2. Passages -> the text that the model is shown, within a budget, and which passages are in it."""

import re

from chains.state import CitationStyle, Context, Passage, Retrieved

CHARACTERS_PER_TOKEN = 4
UNTITLED = "Unknown Document"
# What is left of a passage has to be worth reading; below this many characters a trimmed one is left out.
SHORTEST_TRIMMED = 80

_LOOKS_LIKE_HEADER = re.compile(r"^(?=\[[^\n]*\][ \t]*$|\[\d+\] Source:)", re.MULTILINE)
_LOOKS_LIKE_TAG = re.compile(r"(?i)<(?=\s*/?\s*context\s*>)")


class FormatContext:
    """The verb of stage 2, holding the budget (`max_tokens` at four characters a token) and the citation style."""

    def __init__(self, *, max_tokens: int = 2000, style: CitationStyle = "title") -> None:
        self.max_characters = max_tokens * CHARACTERS_PER_TOKEN
        self.style = style

    def __call__(self, state: Retrieved) -> Context:
        """Return the context of the retrieved documents."""
        return format_context(state["documents"], max_characters=self.max_characters, style=self.style)


def format_context(passages: list[Passage], *, max_characters: int = 8000, style: CitationStyle = "title") -> Context:
    """Write each passage under its header, in rank order, within `max_characters`.

    A passage that does not fit is trimmed at a word, and the next ones are still considered. Document text can
    neither look like a header nor close the context: such lines are escaped. The header is `[Title > Section]`, or
    `[i] Source: Title - Page N` in the numbered style, where i counts the passages shown.
    """
    entries: list[str] = []
    shown: list[Passage] = []
    left = max_characters
    for passage in passages:
        head = header(passage) if style == "title" else numbered_header(passage, len(shown) + 1)
        body = trim(_escape(passage["content"].strip()), left - len(head) - 1)
        if not body:
            continue
        entries.append(f"{head}\n{body}")
        shown.append(passage)
        left -= len(entries[-1]) + 2
    return Context(text="\n\n".join(entries), passages=shown)


def header(passage: Passage) -> str:
    """Return `[Title > Section]`, or `[Title]` where there is no section; brackets inside are escaped."""
    title = passage["metadata"].get("title") or UNTITLED
    section = passage["metadata"].get("section")
    label = f"{title} > {section}" if section else str(title)
    label = " ".join(label.split()).replace("[", r"\[").replace("]", r"\]")
    return f"[{label}]"


def numbered_header(passage: Passage, number: int) -> str:
    """Return `[i] Source: Title - Page N`, with `Unknown` and `N/A` where the passage does not say."""
    metadata = passage["metadata"]
    title = " ".join(str(metadata.get("title") or "Unknown").split())
    return f"[{number}] Source: {title} - Page {metadata.get('page') or 'N/A'}"


def trim(text: str, max_characters: int) -> str:
    """Cut `text` at the last word that fits, or to nothing where too little would be left."""
    if len(text) <= max_characters:
        return text
    if max_characters < SHORTEST_TRIMMED:
        return ""
    cut = text[: max_characters - 1]
    words = cut.rsplit(maxsplit=1)
    return (words[0] if len(words) > 1 else cut).rstrip() + "…"


def _escape(text: str) -> str:
    return _LOOKS_LIKE_TAG.sub("&lt;", _LOOKS_LIKE_HEADER.sub(r"\\", text))
