"""An answer's markdown and citations as HTML that is safe to show."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web import answer
from app.web.answer import steady
from app.web.markdown import questions_of, under_headings
from chains.text.letters import LONGEST_HEADING

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
    assert numbers == [1]


def test_sources_are_numbered_as_they_stand_in_the_text_one_for_a_document_and_section():
    text = "One. Two [A]. Three [B]. Four [C]."
    citations = [
        citation(text, "[A]", number=1, doc_id="a", section=None),
        citation(text, "[C]", number=2, doc_id="c"),
        citation(text, "One.", number=None, doc_id="c", attributed=True),
        citation(text, "Two", number=None, doc_id="a", section="", attributed=True),
        citation(text, "[B]", number=None, doc_id=None, title="B", matched=False),
    ]
    html, numbers = answer.render(text, citations)
    assert numbers == [2, 1, 1, 2, None]
    assert [re.sub("<[^>]*>", "", chip) for chip in chips(html)] == ["1", "2", "2", "?", "1"]
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


def test_a_link_to_nowhere_is_none():
    text = "[see [1]]()"
    html = answer.render(text, [citation(text, "[1]", title="Guide")])[0]
    assert "href" not in html
    assert "chip" in html


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


ANSWER = """To ship **sea freight** you need [Indonesia Import > Documents; B > C]:

- a *commercial* invoice [1];
- the `PIB` declaration, see [the list](https://example.org/list?a=1) and [GST Guide].
1. one
2. two **bold *and* more**

| Rate | Value |
|------|------:|
| GST | 9 % [GST Guide] |
| Duty | **0 %** |

## Steps

> A quotation with ~~old~~ words.

```
code [not a marker]
- x
```
A line - with a dash * and arr[0] and a_b, and 2*3.
Documents:
- last"""


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html)).strip()


def test_no_word_that_was_shown_is_taken_back_and_the_whole_is_shown_at_the_end():
    shown = ""
    for length in range(1, len(ANSWER) + 1):
        now = words(answer.render_growing(ANSWER[:length])[0])
        assert now.startswith(shown), ANSWER[max(0, length - 30) : length]
        shown = now
    assert shown.endswith("Documents: last")


@pytest.mark.parametrize(
    ("begun", "shown"),
    [
        ("It is 9 % [GST Gui", "It is 9 % "),
        ("It is 9 % 【GST", "It is 9 % "),
        ("It is 9 % [GST Guide]", "It is 9 % "),
        ("It is 9 % [GST Guide].", "It is 9 % [GST Guide]."),
        ("see [the list](https://ex", "see "),
        ("see ![a beacon](https://ex", "see "),
        ("an **importa", "an **importa**"),
        ("an **", "an "),
        ("a `co", "a `co`"),
        ("Documents:\n-", "Documents:"),
        ("Documents:\n1.", "Documents:"),
        ("Documents:\n---", "Documents:"),
        ("| a | b |\n|--", ""),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
        ("```\na [b", "```\na [b"),
        ("An old [bracket\n\nA new paragraph", "An old [bracket\n\nA new paragraph"),
    ],
)
def test_what_may_become_something_else_is_held_back(begun, shown):
    assert steady(begun) == shown


def test_a_bracket_that_never_closes_holds_nothing_back_for_long():
    text = "An interval [0, 1) " + "and more words " * 40
    assert steady(text) == text


def test_a_whole_marker_is_a_chip_at_once_and_a_half_one_is_not_seen():
    assert "GST" not in answer.render_growing("It is 9 % [GST Guide > Ra")[0]
    html, _ = answer.render_growing("It is 9 % [GST Guide > Rate]. And [GST Guide > Rate] again.")
    assert html.count('class="chip" data-kind="pending" aria-label="Source">1<') == 2


@pytest.mark.parametrize(
    ("growing", "shown"),
    [("It is **9 %", "It is **9 %"), ("It is 9 % [GST Gui", "It is 9 % "), ("A 🚢 sails", "A 🚢 sails"), ("", "")],
)
def test_the_length_that_is_shown_counts_nothing_that_was_added(growing, shown):
    assert answer.render_growing(growing)[1] == len(shown)


MESSAGE = "Dear desk,\n\nWhat is the *GST* rate? Which permits does Indonesia want?\n\nRegards\nJo"
QUESTIONS = ["What is the GST rate?", "Which permits does Indonesia want?"]


def test_the_questions_of_a_message_are_headings_without_signs_of_markdown():
    assert questions_of(MESSAGE) == QUESTIONS


@pytest.mark.parametrize("message", ["", "   ", "What is the GST rate?", "Thanks!"])
def test_a_message_with_one_question_has_no_headings(message):
    assert questions_of(message) == []


def test_a_long_question_is_cut_between_words():
    long = questions_of(f"What is the rate of {'goods ' * 60}? Where is the port?")[0]
    assert len(long) <= LONGEST_HEADING + len(" …")
    assert long.endswith("goods …")


@pytest.mark.parametrize(
    "text",
    [
        "1. It is 9 %.\n\n2. A permit.\n\n- Of BPOM",
        "1) It is 9 %.\n\n2) A permit.\n\n- Of BPOM",
        f"**1) {QUESTIONS[0]}**\n\nIt is 9 %.\n\n**2) {QUESTIONS[1]}**\n\nA permit.\n\n- Of BPOM",
    ],
)
def test_each_part_stands_below_its_question(text):
    html, _ = answer.render(text, questions=QUESTIONS)
    assert html.replace("\n", "") == (
        "<h3>1. What is the GST rate?</h3><p>It is 9 %.</p>"
        "<h3>2. Which permits does Indonesia want?</h3><p>A permit.</p><ul><li>Of BPOM</li></ul>"
    )


def test_a_part_that_grows_has_its_heading_already():
    html, length = answer.render_growing("1. It is 9 %.\n\n2. A per", questions=QUESTIONS)
    assert html.count("<h3>") == len(QUESTIONS)
    assert length == len("1. It is 9 %.\n\n2. A per")


def test_chips_stay_where_they_are():
    text = "1. It is 9 % [GST].\n\n2. A permit [BPOM]."
    places = [(13, 18), (33, 39)]
    cited = {"number": None, "section": None, "matched": True, "attributed": False}
    citations = [cited | {"start": start, "end": end, "title": text[start:end], "doc_id": "x"} for start, end in places]
    html, _ = answer.render(text, citations, questions=QUESTIONS)
    assert "It is 9 % <button" in html
    assert "A permit <button" in html


@pytest.mark.parametrize(
    "text", ["Steps:\n1. One\n2. Two", "1. One\n2. Two", "2. It is 9 %.", "It is 1. or 2.", "", "```\n3. code\n```"]
)
def test_what_begins_no_part_stays(text):
    assert under_headings(text, QUESTIONS) == text
