"""What renderers of markdown make of an answer that was filtered: no link leads to a host that is no source's."""

import re
from collections.abc import Callable

import cmarkgfm
import marko
import mistune
import pytest
from markdown_it import MarkdownIt

from chains.safety.markup_filter import KnownLinks, MarkupFilter
from chains.state import Passage

SOURCE = "https://www.customs.gov.sg/imports/rates"
PASSAGES = [Passage(content="Rates.", metadata={"source_urls": f'["{SOURCE}"]'}, score=0.5)]
RENDERERS: dict[str, Callable[[str], str]] = {
    "cmark-gfm": cmarkgfm.github_flavored_markdown_to_html,
    "markdown-it": MarkdownIt("gfm-like", {"html": True}).render,
    "marko": marko.Markdown(extensions=["gfm"]).convert,
    "mistune": lambda text: str(mistune.create_markdown(plugins=["url", "table", "strikethrough", "footnotes"])(text)),
}
LINK = re.compile(r"(?:href|src)=\"([^\"]*)")
BEFORE = (
    *("访问", "_", "é", "я", "ไทย", "x", "0", "*", "**", "(", "(_", "~~", "\\", "/", ".", ",", "-", "+", "=", "&", "%"),
    *(
        *("#", "@", "!", "{", "}", ";", ":", "“", "«", "。", "、", "：", "\u3000", "\u00a0", "\u00ad", "\u200d"),
        *("\u0660", "ß"),
    ),
    *("😀", "|", '"', "'", "\uff41", "\u0301", "\ufffd", "https:", "://", "http", "w", "ww", "www", "a.", "x:"),
)
ADDRESSES = (
    *("https://evil.example/pay?q=SECRET", "HTTP://EVIL.example/?q=SECRET", "www.evil.example/?q=SECRET"),
    *("ftp://evil.example/SECRET", "wss://evil.example/SECRET", "//evil.example/SECRET", "tel:+123SECRET"),
    *("javascript:alert(SECRET)", "https://[::1]/SECRET", "https://。evil.example/SECRET", "www.。evil.example/SECRET"),
    *("https://、SECRET.evil.example", "https://evil。example/SECRET", "https://évil.example/SECRET"),
)


def filtered(text: str, size: int) -> str:
    markup = MarkupFilter(KnownLinks(PASSAGES).allow)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    return "".join([*map(markup.feed, pieces), markup.flush()])


def links(shown: str, renderer: str) -> list[str]:
    return LINK.findall(RENDERERS[renderer](shown))


TEXTS = [f"Go {sign}{address}{end}" for sign in BEFORE for address in ADDRESSES for end in ("", "。然后", " then")]


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    return {text: filtered(text, 1000) for text in TEXTS}


@pytest.mark.parametrize("renderer", RENDERERS)
def test_no_renderer_links_a_bare_address_whatever_stands_before_it(renderer: str, shown: dict[str, str]):
    assert {text: found for text in TEXTS if (found := links(shown[text], renderer))} == {}


@pytest.mark.parametrize("size", [1, 7])
def test_a_stream_shows_of_a_bare_address_what_the_whole_answer_shows(size: int, shown: dict[str, str]):
    assert {text: filtered(text, size) for text in TEXTS} == shown


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize(
    "behind", ["。SECRET", "，?q=SECRET", '"SECRET', "`SECRET", "|SECRET", "]SECRET", "\uff09SECRET"]
)
def test_words_behind_a_known_address_do_not_become_a_part_of_it(renderer: str, behind: str):
    shown = filtered(f"访问{SOURCE}{behind}", 1000)

    assert "SECRET" in shown
    assert SOURCE in shown
    assert not [url for url in links(shown, renderer) if "SECRET" in url]


@pytest.mark.parametrize("text", [f"访问 {SOURCE}。", f'See "{SOURCE}".', f"See [{SOURCE}]({SOURCE}).", f"({SOURCE})"])
def test_a_known_address_stays_as_it_is_written(text: str):
    assert filtered(text, 1000) == text
