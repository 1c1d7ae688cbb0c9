"""Stage 2. Passages -> the text that the model is shown, within a budget, and which passages are in it."""

import re

from chains.ports import TokenCounter
from chains.state import CitationStyle, Context, Passage, Retrieved
from chains.tokens import FourCharacters

UNTITLED = "Unknown Document"
# What is left of a passage has to be worth reading; below this many characters a trimmed one is left out.
SHORTEST_TRIMMED = 80

_LOOKS_LIKE_HEADER = re.compile(r"^(?=\[[^\n]*\][ \t]*$|\[\d+\] Source:)", re.MULTILINE)
_LOOKS_LIKE_TAG = re.compile(r"(?i)<(?=\s*/?\s*context\s*>)")


class FormatContext:
    """The verb of stage 2.

    Args:
        max_tokens: the most that the context may take.
        style: how each passage is headed.
        window: what the model reads and writes together, in tokens; None is no limit of its own.
        reserved: what of that is taken already: by the prompt's own text, and by the reply.
        tokens: counts them.
    """

    def __init__(
        self,
        *,
        max_tokens: int = 2000,
        style: CitationStyle = "title",
        window: int | None = None,
        reserved: int = 0,
        tokens: TokenCounter | None = None,
    ) -> None:
        self.max_tokens = max_tokens
        self.style = style
        self.tokens = tokens or FourCharacters()
        self._room = None if window is None else window - reserved

    def __call__(self, state: Retrieved) -> Context:
        """Return the context of the retrieved documents."""
        return format_context(state["documents"], max_tokens=self._budget(state), style=self.style, tokens=self.tokens)

    def _budget(self, state: Retrieved) -> int:
        if self._room is None:
            return self.max_tokens
        asked = [state["question"], *(str(message) for message in state.get("history") or [])]
        return min(self.max_tokens, self._room - sum(self.tokens.count(text) for text in asked))


def format_context(
    passages: list[Passage],
    *,
    max_tokens: int = 2000,
    style: CitationStyle = "title",
    tokens: TokenCounter | None = None,
) -> Context:
    """Write each passage under its header, in rank order, within `max_tokens`.

    A passage that does not fit is trimmed at a word, and the next ones are still considered. Document text can
    neither look like a header nor close the context: such lines are escaped. The header is `[Title > Section]`, or
    `[i] Source: Title - Page N` in the numbered style, where i counts the passages shown.
    """
    counter = tokens or FourCharacters()
    entries: list[str] = []
    shown: list[Passage] = []
    left = max_tokens
    for passage in passages:
        head = header(passage) if style == "title" else numbered_header(passage, len(shown) + 1)
        body = trim(_escape(passage["content"].strip()), left - counter.count(f"{head}\n"), counter)
        if not body:
            continue
        entries.append(f"{head}\n{body}")
        shown.append(passage)
        left -= counter.count(f"{entries[-1]}\n\n")
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


def trim(text: str, max_tokens: int, tokens: TokenCounter) -> str:
    """Cut `text` at the last word that fits, or to nothing where too little would be left."""
    if tokens.count(text) <= max_tokens:
        return text
    cut = tokens.cut(text, max_tokens - 1)  # The last one is for the dots.
    if len(cut) < SHORTEST_TRIMMED:
        return ""
    words = cut.rsplit(maxsplit=1)
    return (words[0] if len(words) > 1 else cut).rstrip() + "…"


def _escape(text: str) -> str:
    return _LOOKS_LIKE_TAG.sub("&lt;", _LOOKS_LIKE_HEADER.sub(r"\\", text))
