"""An answer's markdown -> HTML that is safe to show, with a button for each citation.

Markers are replaced by placeholders before the markdown is rendered, so that offsets into the raw answer stay true and
a button survives in lists, tables and code. What the page gets has passed nh3: no raw HTML, no pictures, no scripts.
"""

import re
from collections.abc import Sequence
from functools import cache
from html import escape

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from app.web.chips import Chip, place_chips, put_placeholders, without_bidi
from app.web.parts import under_headings

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
