"""An answer's markdown -> HTML that is safe to show, with a button, a `chip`, for each citation.

Markers are replaced by placeholders before the markdown is rendered, so that offsets into the raw answer stay true and
a button survives in lists, tables and code. What the page gets has passed nh3: no raw HTML, no pictures, no scripts.
Each part of an answer to several questions stands below a heading with its question.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from chains.reformulation.splitting import split_questions
from chains.text.letters import heading

# How a part begins: with its question in bold letters, or with its number.
_OPENING = re.compile(r"\*\*(?P<number>\d+)\) (?P<heading>.+)\*\*|(?P<item>\d+)[.)][ \t]+(?P<words>\S.*)")


def questions_of(message: str) -> list[str]:
    headings = [heading(part.asked) for part in split_questions(message)] if message.strip() else []
    return headings if len(headings) > 1 else []


def under_headings(answer: str, questions: Sequence[str]) -> str:
    """Return the markdown of an answer with a heading in the place of each part's number; they are counted from 1."""
    lines = answer.split("\n")
    part = 0
    for at, line in enumerate(lines):
        found = _OPENING.fullmatch(line) if part < len(questions) and not (at and lines[at - 1].strip()) else None
        is_list = "".join(lines[at + 1 : at + 2]).startswith((f"{part + 2}.", f"{part + 2})"))
        if found is None or is_list or int(found["number"] or found["item"]) != part + 1:
            continue
        head = f"# {part + 1}\\. {found['heading'] or questions[part]}"
        lines[at] = f"{head}\n\n{found['words']}" if found["words"] else head
        part += 1
    return "\n".join(lines)


# Brackets are punctuation to markdown, as the marker's own are: `**Fee:**[1]` stays bold. The signs between them are
# for private use, and taken out of the answer before.
_OPEN, _CLOSE = "\u2e28\ue000", "\ue001\u2e29"
_PRIVATE = re.compile("[\ue000\ue001]")
_PLACE = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_BRACKETS = re.compile(
    rf"(?:\\\[|[\[【［〔])\s*((?:{_PLACE.pattern}[\s;,；，、&]*(?:and\s+)?)+?)\s*(?:\\\]|[\]】］〕])"
)
# They turn the direction of the text around them, so that it reads as something else than it is.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TAG_OR_PLACE = re.compile(rf'<(?:"[^"]*"|[^>"])*>|{_PLACE.pattern}')


@dataclass(frozen=True, slots=True)
class Chip:
    """A button in the text: the range of the answer that it takes the place of, and what it says.

    `number` is None where no document was found; `index` is the citation's place in the list, None while it is unknown.
    """

    start: int
    end: int
    number: int | None
    label: str
    index: int | None = None
    kind: str = ""


def put_placeholders(answer: str, chips: Sequence[Chip]) -> tuple[str, Sequence[Chip]]:
    """Return the answer with a placeholder for each chip, and the chips by the placeholders' numbers."""
    pieces: list[str] = []
    placed: list[Chip] = []
    at = 0
    clean = _PRIVATE.sub("\N{REPLACEMENT CHARACTER}", answer)
    for chip in sorted(chips, key=lambda chip: (chip.start, chip.end)):
        if not at <= chip.start <= chip.end <= len(answer):
            continue  # It overlaps the one before, or lies outside: offsets come from a client.
        pieces += [clean[at : chip.start], f"{_OPEN}{len(placed)}{_CLOSE}"]
        placed.append(chip)
        at = chip.end
    return _BRACKETS.sub(r"\1", "".join([*pieces, clean[at:]])), placed


def place_chips(html: str, chips: Sequence[Chip]) -> str:
    """Return sanitised HTML with the buttons in place of their placeholders; none inside a tag, none inside a link."""
    waiting: list[str] = []
    in_link = False

    def place(found: re.Match[str]) -> str:
        nonlocal in_link
        if found[1] is not None:
            button = _button(chips[int(found[1])]) if int(found[1]) < len(chips) else ""
            waiting.extend([button] * in_link)
            return "" if in_link else button
        tag = _PLACE.sub("", found[0])
        in_link = tag.startswith("<a href=") or (in_link and tag != "</a>")
        if in_link:
            return tag
        after, waiting[:] = "".join(waiting), []
        return tag + after

    return _TAG_OR_PLACE.sub(place, html)


def without_bidi(text: str) -> str:
    return _BIDI.sub("", text)


def _button(chip: Chip) -> str:
    attributes: Mapping[str, object | None] = {"data-citation": chip.index, "data-kind": chip.kind or None}
    more = "".join(f' {name}="{value}"' for name, value in attributes.items() if value is not None)
    shown = "?" if chip.number is None else chip.number
    return f'<button type="button" class="chip"{more} aria-label="{escape(without_bidi(chip.label))}">{shown}</button>'


TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "blockquote", "ul", "ol", "li", "code", "pre", "a", "div"),
    *("h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "div": {"class", "tabindex"}, "pre": {"tabindex"}}
SCHEMES = {"http", "https", "mailto"}
_LINK = re.compile(r"(?:https?://|mailto:)[^\s]", re.IGNORECASE)


def render(answer: str, chips: Sequence[Chip] = (), questions: Sequence[str] = ()) -> str:
    """Return the HTML of an answer, with its chips in place; the parts for several questions have headings."""
    marked, placed = put_placeholders(answer, chips)
    clean = nh3.clean(
        _markdown().render(without_bidi(under_headings(marked, questions))),
        tags=TAGS,
        attributes=ATTRIBUTES,
        attribute_filter=lambda _, name, value: value if value or name != "href" else None,  # Of `[]()`.
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return place_chips(clean, placed)


@cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "breaks": False}, renderer_cls=_Renderer)
    # Underlined headings are left out: a list that begins after a line would flash as one while it streams.
    markdown.enable(["table", "strikethrough"]).disable("lheading")
    markdown.validateLink = lambda url: _LINK.match(url) is not None  # type: ignore[method-assign]
    return markdown


class _Renderer(RendererHTML):
    """Headings below the page's own, tables and code that can be scrolled by keyboard, and words for pictures."""

    def heading_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return f"<h{_level(tokens[at])}>"

    def heading_close(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return f"</h{_level(tokens[at])}>\n"

    def table_open(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return '<div class="scroll" tabindex="0"><table>\n'

    def table_close(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return "</table></div>\n"

    def fence(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return f'<pre tabindex="0"><code>{escape(tokens[at].content)}</code></pre>\n'

    def code_block(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return self.fence(tokens, at, options, env)

    def image(self, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
        return self.renderInlineAsText(tokens[at].children, options, env)


def _level(token: Token) -> int:
    return min(6, int(token.tag[1]) + 2)
