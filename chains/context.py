"""Stage 2: format passages as the prompt's context, within a budget of tokens."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from chains.documents.naming import UNTITLED, place_name
from chains.ports import FourCharacters, TokenCounter
from chains.state import CitationStyle, Context, Passage, Retrieved
from chains.text.letters import escape_brackets, escape_line_starts, escape_tag, one_line

# Below this many characters, what is left of a trimmed passage is not worth reading.
SHORTEST_TRIMMED = 80
SEPARATOR_TOKENS = 4
# More characters than a token has on average in any language.
TOKEN_CHARACTERS = 8
_SEPARATORS = {"title": "\n\n", "numbered": "\n\n---\n\n"}  # What stands between two passages.


@dataclass(frozen=True)
class FormatContext:
    """Format the passages of a state as the prompt's context; longer ones are cut to `passage_characters`."""

    max_tokens: int = 2000
    style: CitationStyle = "title"
    tokens: TokenCounter = field(default_factory=FourCharacters)
    passage_characters: int | None = None

    def __call__(self, state: Retrieved) -> Context:
        """Return the context of the retrieved documents, and of as much of their sections as fits beside them."""
        context = self.write(state["documents"])
        if siblings := state.get("siblings"):
            left = self.max_tokens - self.tokens.count(context["text"])
            context = self.write(self._with_sections(context["passages"], siblings, left))
        return context

    def write(self, passages: Sequence[Passage]) -> Context:
        """Write each passage under its header, in rank order, within `max_tokens`.

        A passage that does not fit is trimmed at a word, and the next ones are still considered. The header is
        `[i] Title > Section`, or in the numbered style `[i] Source: Title - Page N`, with `---` between two passages.
        i counts the passages shown: models cite a number far more reliably than a title, and `chains.citations` writes
        the title in its place.

        Only this method writes a context, and a line of it that begins with a bracket is always a header: titles and
        sections are put on one line with their brackets escaped, and a bracket that opens a line of a document gets a
        backslash. Nothing in a document can write the context's own tags.
        """
        separator = _SEPARATORS[self.style]
        entries: list[str] = []
        shown: list[Passage] = []
        left = self.max_tokens
        for passage in passages:
            head = self._header(passage, len(shown) + 1)
            text = "\n".join(filter(None, (passage["metadata"].get("table_head"), passage["content"].strip())))
            if self.passage_characters is not None and len(text) > self.passage_characters:
                text = f"{text[: self.passage_characters]}…"
            escaped = escape_tag(escape_line_starts(text), "context")
            left -= self.tokens.count(f"{head}\n")
            body = trim(escaped, left, self.tokens)
            if not body:
                left += self.tokens.count(f"{head}\n")
                continue
            entries.append(f"{head}\n{body}")
            shown.append(passage)
            # Without the head: a counter knows the passages that it has seen.
            left -= self.tokens.count(f"{body}{separator}")
        return Context(text=separator.join(entries), passages=shown)

    def _header(self, passage: Passage, number: int) -> str:
        """Return `[i] Title > Section`, or in the numbered style `[i] Source: Title - Page N`."""
        metadata = passage["metadata"]
        title, section = metadata.get("title"), metadata.get("section")
        if self.style == "title":
            return f"[{number}] {_label(place_name(title or UNTITLED, section))}"
        return f"[{number}] Source: {_label(title or 'Unknown')} - Page {_label(metadata.get('page') or 'N/A')}"

    def _with_sections(self, shown: Sequence[Passage], siblings: Sequence[Passage], left: int) -> list[Passage]:
        """Return the passages with those siblings that fit into the tokens, each section together and in its order."""
        chosen = {_place(passage): passage for passage in shown}
        for one in siblings:
            texts = (self._header(one, len(chosen)), one["metadata"].get("table_head") or "", one["content"])
            tokens = sum(map(self.tokens.count, texts)) + SEPARATOR_TOKENS
            if _place(one) not in chosen and tokens <= left:
                chosen[_place(one)] = one
                left -= tokens
        sections = list(dict.fromkeys(section for section, _ in chosen))  # The best first.
        return [chosen[place] for place in sorted(chosen, key=lambda place: (sections.index(place[0]), place[1]))]


def _place(passage: Passage) -> tuple[object, tuple[int, str]]:
    """Return the section that a passage is in, and its number in the document, with its words where it has none."""
    metadata = passage["metadata"]
    section = metadata.get("doc_id"), metadata.get("section_path")
    return section, (int(metadata.get("chunk_index") or 0), passage["content"])


def _label(text: object) -> str:
    return escape_tag(escape_brackets(one_line(text)), "context")


def trim(text: str, max_tokens: int, tokens: TokenCounter) -> str:
    """Cut `text` at the last word that fits, or to nothing where too little would be left."""
    start = text[: max(0, max_tokens) * TOKEN_CHARACTERS]
    if len(start) < len(text) and tokens.count(start) > max_tokens:
        text = start  # A whole book would be counted for seconds, and nothing behind this fits.
    if tokens.count(text) <= max_tokens:
        return text
    cut = tokens.cut(text, max_tokens - 1)  # The last one is for the dots.
    if len(cut) < SHORTEST_TRIMMED:
        return ""
    words = cut.rsplit(maxsplit=1)
    return (words[0] if len(words) > 1 else cut).rstrip() + "…"
