"""An answer's markdown and citations as HTML that is safe to show."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web import answer

BUTTON = re.compile(r'<button type="button" class="chip"[^>]*>[^<]*</button>')


def citation(text: str, raw: str, **fields: Any) -> dict[str, Any]:
    start = text.index(raw)
    known = {"number": 1, "title": "GST Guide", "section": "Rate", "page": None, "doc_id": "gst", "matched": True}
    return {"start": start, "end": start + len(raw), "attributed": False} | known | fields


def chips(html: str) -> list[str]:
    return BUTTON.findall(html)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("- 9 % [GST]", "<ul>\n<li>9 % {chip}</li>\n</ul>\n"),
        ("**Rate:**[GST] 9 %", "<p><strong>Rate:</strong>{chip} 9 %</p>\n"),
        ("a `9 [GST]` b", "<p>a <code>9 {chip}</code> b</p>\n"),
        ("> 9 % [GST]", "<blockquote>\n<p>9 % {chip}</p>\n</blockquote>\n"),
        ("# Rate [GST]", "<h3>Rate {chip}</h3>\n"),
        ("    code [GST]", '<pre tabindex="0"><code>code {chip}\n</code></pre>\n'),
        ("```\ncode [GST]\n```", '<pre tabindex="0"><code>code {chip}\n</code></pre>\n'),
        ("see [the [GST] guide](https://e.org/)", "<p>see <a {link}>the  guide</a>{chip}</p>\n"),
    ],
)
def test_a_chip_takes_the_place_of_its_marker_wherever_that_stands(text, html):
    shown = answer.render(text, [citation(text, "[GST]")])[0]
    link = 'href="https://e.org/" target="_blank" rel="noopener noreferrer"'
    chip = '<button type="button" class="chip" data-citation="0" aria-label="Source 1: GST Guide, Rate">1</button>'
    assert shown == html.replace("{chip}", chip).replace("{link}", link)


def test_a_chip_survives_in_a_table():
    text = "| Rate | Value |\n|---|---|\n| GST | 9 % [GST] |"
    html = answer.render(text, [citation(text, "[GST]")])[0]
    assert re.search(r"<td>9 % <button [^>]*>1</button></td>", html)
    assert html.startswith('<div class="scroll" tabindex="0"><table>')


def test_several_documents_in_one_pair_of_brackets_are_chips_without_brackets():
    text = "It is 9 % [GST Guide; FAQ]."
    pair = [citation(text, "GST Guide"), citation(text, "FAQ", number=2, title="FAQ", doc_id="faq")]
    html = answer.render(text, pair)[0]
    assert len(chips(html)) == 2
    assert "[" not in html
    assert "]" not in html


def test_a_sentence_that_was_given_a_source_keeps_its_words_and_a_chip_follows():
    text = "The rate is 9 %. It rose in 2024."
    html, numbers = answer.render(text, [citation(text, "The rate is 9 %.", attributed=True, number=None)])
    assert html.startswith("<p>The rate is 9 %.<button")
    assert 'data-kind="attributed"' in html
    assert numbers == [1]


def test_numbers_are_those_of_the_citations_and_new_ones_follow():
    text = "One [A]. Two. Three [B]."
    citations = [
        citation(text, "[A]", number=1, doc_id="a"),
        citation(text, "Two.", number=None, doc_id="c", attributed=True),
        citation(text, "[B]", number=None, doc_id=None, title="B", matched=False),
    ]
    html, numbers = answer.render(text, citations)
    assert numbers == [1, 2, None]
    assert [re.sub("<[^>]*>", "", chip) for chip in chips(html)] == ["1", "2", "?"]
    assert 'aria-label="No document was found for: B, Rate"' in html


def test_labels_are_in_the_visitors_language():
    text = "9 % [GST]"
    assert "Sumber 1: GST Guide" in answer.render(text, [citation(text, "[GST]")], language="id")[0]


@pytest.mark.parametrize(
    "hostile",
    [
        *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "![beacon](https://evil.example/x.png)"),
        *("![beacon][1]\n\n[1]: https://evil.example/x.png", "<svg/onload=alert(1)>", "[a](javascript:alert(1))"),
        *("[a](JaVaScRiPt&colon;alert(1))", "[a](data:text/html,<script>alert(1)</script>)", "[a](vbscript:x)"),
        *("[a](//evil.example)", "[a](/sign-out)", "<javascript:alert(1)>"),
        *('[a](https://e.org "\\" onmouseover=alert(1) x=\\"")', '<button class="chip" data-citation="0">1</button>'),
        *("<iframe src=https://evil.example></iframe>", "<style>body{display:none}</style>"),
        *("<a href=https://e.org onclick=alert(1)>x</a>", "`<script>`\n\n```html\n<script>alert(1)</script>\n```"),
        *("\u2e28\ue0000\ue001\u2e29", "```x onload=alert(1)\n```", '1. a\n2. b <form action=x><input name="token">'),
    ],
)
@pytest.mark.parametrize("render", [answer.render, answer.render_growing])
def test_nothing_in_an_answer_acts(hostile, render):
    assert_harmless(render(hostile)[0])


TAG = re.compile(r"<(/?)([a-z0-9]+)((?:\"[^\"]*\"|[^>\"])*)>")
HARMLESS = {"p", "h3", "h4", "h5", "h6", "em", "strong", "s", "ul", "ol", "li", "code", "pre", "blockquote", "br", "hr"}
HARMLESS |= {"a", "div", "table", "thead", "tbody", "tr", "th", "td", "button"}
ATTRIBUTE = re.compile(
    r' (?:href="(?:https?://|mailto:)[^"]*"|title="[^"]*"|target="_blank"|rel="noopener noreferrer"'
    r'|tabindex="0"|start="\d+"|class="(?:scroll|chip)"|type="button"|data-citation="\d+"|data-kind="[a-z]+"|aria-label="[^"]*")'
)


def assert_harmless(html: str) -> None:
    """Every tag is a known one and has known attributes; what is left is text."""
    for tag in TAG.finditer(html):
        assert tag[2] in HARMLESS, html
        assert ATTRIBUTE.sub("", tag[3]) == "", html
    assert "<" not in TAG.sub("", html), html


@given(
    st.text(st.sampled_from(list("[]()<>!`*_~|#-:;/\\\"'= \n\ue000\ue001\u2e28\u2e29\u202eab1")), max_size=60),
    st.data(),
)
def test_whatever_is_said_and_cited_is_harmless(text, data):
    place = st.integers(0, 70)
    cited = [
        citation("x", "x", start=data.draw(place), end=data.draw(place), title='"><b>', number=data.draw(place))
        for _ in range(data.draw(st.integers(0, 3)))
    ]
    assert_harmless(answer.render(text, cited)[0])
    assert_harmless(answer.render_growing(text)[0])


def test_marks_that_turn_the_direction_of_text_are_taken_out():
    text = "pay \u202eEUR 001\u202c now [GST\u2066]"
    html = answer.render(text, [citation(text, "[GST\u2066]", title="\u202eGuide")])[0]
    assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", html)
    assert "pay EUR 001 now" in html


def test_a_picture_is_its_words():
    assert answer.render("See ![the form](https://evil.example/f.png) below.")[0] == "<p>See the form below.</p>\n"


def test_a_link_opens_elsewhere_and_tells_the_other_page_nothing():
    html = answer.render("[form](https://e.org/a?b=1&c=2)")[0]
    assert 'href="https://e.org/a?b=1&amp;c=2" target="_blank" rel="noopener noreferrer"' in html
