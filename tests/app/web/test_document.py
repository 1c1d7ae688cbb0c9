"""A document as HTML."""

import re

import pytest

from app.web.document import Quote, count, mark, passage, plain, render
from chains.documents.library import DocumentPart
from tests.app.web.test_answer import TAG

BEACON = "http://198.51.100.7/beacon"
# What marks quoted words and pages, beside what answers have too.
ATTRIBUTES = re.compile(
    r' (?:href="(?:https?://|mailto:)[^"]*"|title="[^"]*"|target="_blank"|rel="noopener noreferrer"|tabindex="0"'
    r'|start="\d+"|class="(?:scroll|quote|page)"|id="quote"|data-page="\d+")'
)
ACTIVE = {
    *("script", "style", "iframe", "img", "svg", "math", "form", "input", "button", "object", "link", "meta", "base")
}


def test_headings_skip_no_level_however_the_document_does():
    html, _ = render([DocumentPart("## A\n\na\n\n#### B\n\nb\n\n###### C\n\nc\n\n## D\n\nd", 0)], "markdown", None)
    assert [line for line in html.splitlines() if line.startswith("<h")] == [
        "<h3>A</h3>",
        "<h4>B</h4>",
        "<h5>C</h5>",
        "<h4>D</h4>",
    ]


def test_plain_text_is_never_markup():
    html, marked = render([DocumentPart("<b>9</b> & *x*\n\nnext", 0)], "text", Quote("next", 16))
    assert html == '<p>&lt;b&gt;9&lt;/b&gt; &amp; *x*</p>\n<p><mark class="quote" id="quote">next</mark></p>\n'
    assert marked


@pytest.mark.parametrize("kind", ["markdown", "html", "pdf", "text", "docx"])
@pytest.mark.parametrize(
    "hostile",
    [
        f"<script>location='{BEACON}'</script> words",
        f"[a link](javascript:alert(1)) ![beacon]({BEACON}) <img src={BEACON} onerror=alert(1)> words",
        f"<iframe src={BEACON}></iframe><style>@import '{BEACON}';</style> words",
        f"<svg onload=alert(1)><use href={BEACON}></svg><math><mi xlink:href={BEACON}></math> words",
        f"<form action={BEACON}><input name=token><button formaction={BEACON}>words</button></form>",
        f"<base href={BEACON}><meta http-equiv=refresh content='0;url={BEACON}'> words",
        "<mark id=quote onclick=alert(1)>words</mark> <a id=ask href=data:text/html,x>words</a>",
    ],
)
def test_nothing_in_a_document_acts(hostile, kind):
    html, marked = render([DocumentPart(hostile, 0, 1 if kind == "pdf" else None)], kind, Quote("words", 0, None))
    for tag in TAG.finditer(html):
        assert tag[2] not in ACTIVE, html
        assert ATTRIBUTES.sub("", tag[3]) == "", html
    assert "<" not in TAG.sub("", html)
    assert marked is (kind != "pdf")


def test_marks_that_turn_the_direction_of_text_are_taken_out():
    for kind in ("markdown", "text"):
        html, _ = render([DocumentPart("The amount is \u202e0001 $\u202c now.", 0)], kind, None)
        assert "The amount is 0001 $ now." in html


@pytest.mark.parametrize("sign", ["[", "![", "[](", "<a ", "**a *b ", "> ", "- ", "|a", "`", "&", "\\"])
def test_a_very_long_row_of_signs_is_shown_and_marked_around(sign):
    text = sign * (20_000 // len(sign)) + "\n\nThe rate is 9 %."
    html, marked = render([DocumentPart(text, 0)], "markdown", Quote("The rate is 9 %.", len(text) - 16))
    assert marked
    assert '<mark class="quote" id="quote">The rate is 9 %.</mark>' in html


def test_a_passage_is_drawn_with_the_head_of_its_table_and_the_best_row_marked():
    row = "| Cat | £53 |"
    html = passage(f"| Dog | £52 |\n{row}\n\n#### Note\n\n- **Cash** only", row, "| Animal | Price |\n|---|---|")

    assert "<th>Animal</th>\n<th>Price</th>" in html
    assert '<td><mark class="quote">Cat</mark></td>\n<td><mark class="quote">£53</mark></td>' in html
    assert "<h4>Note</h4>" in html
    assert "<li><strong>Cash</strong> only</li>" in html
    assert " id=" not in html


def test_a_table_without_a_known_head_is_a_table_all_the_same_and_nothing_is_marked():
    html = passage("| Dog | £52 |\n| Cat | £53 |", "", "")

    assert html.count("<tr>") == 3
    assert "|" not in html
    assert "<mark" not in html


def test_a_passage_holds_nothing_active():
    html = passage("<script>x</script> ![b](http://198.51.100.7/b) [a](javascript:x)", "", "<svg onload=x>")

    assert not {tag.lower() for tag in re.findall(r"<([a-z]+)", html)} & ACTIVE


OPEN, MARK, CLOSE = '<mark class="quote" id="quote">', '<mark class="quote">', "</mark>"


@pytest.mark.parametrize(
    ("html", "quote", "marked"),
    [
        ("<p>The rate is 9 %. Next.</p>", "rate is 9 %.", f"<p>The {OPEN}rate is 9 %.{CLOSE} Next.</p>"),
        (
            "<p>The <strong>rate</strong> is 9.</p>",
            "rate is",
            f"<p>The <strong>{OPEN}rate{CLOSE}</strong>{MARK} is{CLOSE} 9.</p>",
        ),
        ("<p>a &amp; b</p>", "A & B", f"<p>{OPEN}a &amp; b{CLOSE}</p>"),
        ("<p>ﬁne Straße</p>", "fine strasse", f"<p>{OPEN}ﬁne Straße{CLOSE}</p>"),
        ('<a href="x>y">rate</a>', "rate", f'<a href="x>y">{OPEN}rate{CLOSE}</a>'),
        ("<p>a &lt; b</p>", "a >", f"<p>{OPEN}a{CLOSE} &lt; b</p>"),  # An entity is never cut.
        ("<p>x &lt;script&gt; y</p>", "<script>", f"<p>x &lt;{OPEN}script&gt;{CLOSE} y</p>"),  # No markup comes in.
        (
            "<tr><td>Fee</td> <td>9</td></tr>",
            "| Fee | 9 |",
            f"<tr><td>{OPEN}Fee{CLOSE}</td> <td>{MARK}9{CLOSE}</td></tr>",
        ),
    ],
)
def test_the_words_are_marked_and_every_element_stays_whole(html, quote, marked):
    assert mark(html, quote) == (marked, True)


def test_of_equal_words_the_meant_ones_are_marked():
    html = "<p>a fee</p><p>a fee</p>"
    assert mark(html, "a fee", skip=1)[0] == f"<p>a fee</p><p>{OPEN}a fee{CLOSE}</p>"
    assert mark(html, "a fee", skip=7)[0] == f"<p>{OPEN}a fee{CLOSE}</p><p>a fee</p>"


def test_where_the_whole_is_not_found_its_lines_are():
    html = "<p>The first line of it</p><p>between</p><p>the second line of it</p>"
    shown, marked = mark(html, "The first line of it\nnowhere to be found\nthe second line of it")
    assert marked
    assert shown == f"<p>{OPEN}The first line of it{CLOSE}</p><p>between</p><p>{MARK}the second line of it{CLOSE}</p>"


@pytest.mark.parametrize("quote", ["", " .,;", "nowhere"])
def test_words_that_are_not_there_change_nothing(quote):
    assert mark("<p>rate</p>", quote) == ("<p>rate</p>", False)


def test_places_are_counted_by_letters():
    assert count("9 %, **9** and 19", "9%") == 3
    assert count("anything", "%") == 0


def test_the_text_of_html_has_no_tags_and_no_entities():
    assert plain("<p>a <b>&amp;</b> b</p>").split() == ["a", "&", "b"]
