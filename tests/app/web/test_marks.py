"""Quoted words are marked in HTML, whatever stands between their letters."""

import pytest

from app.web.document import count, mark, plain

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
