"""Which parts of an HTML page are its text, and what they become."""

import sys
from contextlib import suppress

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from chains.errors import IngestionError
from chains.ingestion.chunks import Chunker
from chains.ingestion.markup import markdown_of
from chains.ingestion.source import SourceText
from tests.office_documents import chunks_of

PAGE = """<!doctype html>
<html><head><title>GST  Guide</title><link rel="canonical" href="https://example.org/a,b">
<meta property="og:site_name" content="Customs"><meta property="article:modified_time" content="2026-01-31T08:00:00Z">
<style>p { color: red }</style></head>
<body><header><a href="/">Home</a></header><nav><ul><li>Menu</nav>
<main><h1>GST Guide</h1><p>Words <b>before</b> the
first <a href="https://example.org">section</a>.
<h2>Rate</h2><p># The rate is nine percent.<br>---<br>No more.
<table><tr><td>Goods<td>Rate<tr><td>Gold | silver<td>nil</table>
<script>track()</script></main><footer>Imprint</footer></body></html>"""
LINKS = (
    "<p>Ask <a href='mailto:ann@example.org?subject=x'>Ann</a>, call <a href='tel:0800555'>us</a> or "
    "<a href='https://example.org/f'>write</a>, see <a href='/help'>help</a> and "
    "<a href='https://example.org/g'>https://example.org/g</a>.</p><img alt='Berth 4 is closed' src=x>"
)
INNER = "<table><tr><th>Day<th>Hour<tr><td>Monday<td>7</table>"


@pytest.fixture
def read(load):
    return lambda body: load("page.html", f"<html><body>{body}</body></html>")


def test_headings_of_a_page_become_sections_and_what_surrounds_its_text_goes(load):
    source = load("gst.html", PAGE)

    assert source.metadata == {
        "title": "GST Guide",
        "source_org": "Customs",
        "source_urls": '["https://example.org/a,b"]',
        "file_date": "2026-01-31",
    }
    assert [(chunk.section, chunk.section_path, chunk.text) for chunk in chunks_of(source)] == [
        ("GST Guide", (), "# GST Guide\n\nWords before the\nfirst section (https://example.org)."),
        (
            "Rate",
            ("Rate",),
            "## Rate\n\n\\# The rate is nine percent.\n\\---\nNo more.\n\n"
            "| Goods | Rate |\n| --- | --- |\n| Gold \\| silver | nil |",
        ),
    ]


TEXTS = {
    "a page without a main part loses its menus and keeps its first heading": (
        "<header><h1>Rates</h1></header><nav>Menu</nav><div>Nine percent.</div><aside>Advertisement</aside>",
        "# Rates\n\nNine percent.\n",
    ),
    "a page within one form is read and a form that only asks is not": (
        "<form><input name=q><h1>Quay</h1><p>It opens at 7.</p></form><form><label>Search</label><input></form>",
        "# Quay\n\nIt opens at 7.\n",
    ),
    "addresses and alternative texts are read": (
        LINKS,
        "Ask Ann (ann@example.org), call us (0800555) or write (https://example.org/f), see help and "
        "https://example.org/g.\n\nBerth 4 is closed\n",
    ),
    "a table that only arranges the page is none": (
        f"<table><tr><td><a href=/>Home</a></td><td><h1>Fees</h1><p>All of them.</p>{INNER}</td></tr></table>",
        "Home\n\n# Fees\n\nAll of them.\n\n| Day | Hour |\n| --- | --- |\n| Monday | 7 |\n",
    ),
    "a table within a cell stands behind the outer one": (
        f"<table><tr><th>Port<th>Fee<th>When<tr><td>Tema<td>3<td>{INNER}<tr><td>Lagos<td>5<td>-</table>",
        "| Port | Fee | When |\n| --- | --- | --- |\n| Tema | 3 |  |\n| Lagos | 5 | - |\n\n"
        "| Day | Hour |\n| --- | --- |\n| Monday | 7 |\n",
    ),
}


@pytest.mark.parametrize(("body", "text"), TEXTS.values(), ids=TEXTS)
def test_the_text_of_a_page(read, body, text):
    assert read(body).text == text


def test_a_page_says_in_which_encoding_it_is_written(load):
    assert load("x.html", '<meta charset="iso-8859-1"><p>Zollgeb\u00fchr'.encode("iso-8859-1")).text == "Zollgebühr\n"


def test_a_page_nested_beyond_reason_is_refused_or_read_and_never_crashes(load):
    with suppress(IngestionError):
        load("x.html", "<div>" * 10 * sys.getrecursionlimit() + "words")


@given(st.text(min_size=1).map(lambda text: f"a {text} b"))
def test_no_words_of_a_paragraph_become_a_heading(text):
    page = BeautifulSoup("<h2>Rate</h2>", "html.parser")
    words = page.new_tag("p")
    words.string = text.replace(" ", "\n")
    page.append(words)
    chunks = Chunker().split(SourceText(markdown_of(page), 0, {"title": "T"}))
    assert {chunk.section for chunk in chunks} == {"Rate"}


@pytest.mark.parametrize(
    "question",
    [
        "<h2><button>Who pays?</button></h2>",
        "<h2><span><button aria-expanded=false>Who pays?</button></span></h2>",
        "<details><summary><button>Who pays?</button></summary></details>",
        "<button class='accordion-button'>Who pays?</button>",
        "<button aria-controls=p1>Who pays?</button>",
    ],
)
def test_a_button_that_opens_text_is_read(read, question):
    text = read(f"<main>{question}<div id=p1><p>The sender.</p></div><button>Print</button></main>").text
    assert "Who pays?\n\nThe sender." in text
    assert "Print" not in text


@pytest.mark.parametrize("hidden", ["hidden=until-found", "style='display:none'", "aria-hidden=true"])
def test_text_that_a_click_opens_is_read(read, hidden):
    assert "It takes nine days." in read(f"<h1>Quay</h1><div {hidden}><p>It takes nine days.</p></div>").text


@pytest.mark.parametrize(
    ("aside", "stays"),
    [
        ("<aside class=warning><p>Never leave the gate open; it costs 90 euro.</p></aside>", True),
        ("<aside><p>The gate is never left open by anybody.</p></aside>", True),
        ("<aside>Advertisement</aside>", False),
        ("<aside class=sidebar><p>These are the pages that others have read.</p></aside>", False),
        ("<aside><a href=/a>Here are the fees of last year.</a> <a href=/b>And of this one.</a></aside>", False),
    ],
)
def test_a_remark_beside_the_text_is_read_and_a_list_of_links_is_not(read, aside, stays):
    assert (len(read(f"<p>Text of the page.</p>{aside}").text.split("\n\n")) == 2) is stays


@pytest.mark.parametrize(
    "unseen",
    [
        *("<s>{}</s>", "<del>{}</del>", "<p style='visibility: hidden'>{}</p>"),
        "<p style='position:absolute;left:-9999px'>{}</p>",
    ],
)
def test_what_is_struck_out_or_never_shown_is_left_out_and_named(read, unseen):
    source = read(f"<p>It costs 5.</p>{unseen.format('It cost 4.')}")
    assert source.text == "It costs 5.\n"
    assert "'It cost 4.'" in source.warnings[0]
