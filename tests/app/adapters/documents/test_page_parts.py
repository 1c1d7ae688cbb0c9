"""Which parts of an HTML page are its text."""

import pytest

from app.adapters.documents.html import load_html
from chains.ingestion.source import SourceText


@pytest.fixture
def read(tmp_path):
    def read(body: str) -> SourceText:
        path = tmp_path / "page.html"
        path.write_text(f"<html><body>{body}</body></html>")
        return load_html(path)

    return read


def test_a_page_within_one_form_is_read_and_a_form_that_only_asks_is_not(read):
    page = "<form><input name=q><h1>Quay</h1><p>It opens at 7.</p></form><form><label>Search</label><input></form>"
    assert read(page).text == "# Quay\n\nIt opens at 7.\n"


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
    assert (
        "It takes nine working days."
        in read(f"<h1>Quay</h1><div {hidden}><p>It takes nine working days.</p></div>").text
    )


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


def test_addresses_and_alternative_texts_are_read(read):
    page = (
        "<p>Ask <a href='mailto:ann@example.org?subject=x'>Ann</a>, call <a href='tel:0800555'>us</a> or "
        "<a href='https://example.org/f'>write</a>, see <a href='/help'>help</a> and "
        "<a href='https://example.org/g'>https://example.org/g</a>.</p><img alt='Berth 4 is closed' src=x>"
    )
    assert read(page).text == (
        "Ask Ann (ann@example.org), call us (0800555) or write (https://example.org/f), see help and "
        "https://example.org/g.\n\nBerth 4 is closed\n"
    )


def test_a_table_that_only_arranges_the_page_is_none(read):
    inner = "<table><tr><th>Port<th>Fee<tr><td>Tema<td>3</table>"
    page = f"<table><tr><td><a href=/>Home</a></td><td><h1>Fees</h1><p>All of them.</p>{inner}</td></tr></table>"
    assert read(page).text.endswith("# Fees\n\nAll of them.\n\n| Port | Fee |\n| --- | --- |\n| Tema | 3 |\n")


def test_a_table_within_a_cell_stands_behind_the_outer_one(read):
    inner = "<table><tr><th>Day<th>Hour<tr><td>Monday<td>7</table>"
    text = read(f"<table><tr><th>Port<th>Fee<th>When<tr><td>Tema<td>3<td>{inner}<tr><td>Lagos<td>5<td>-</table>").text
    assert text == (
        "| Port | Fee | When |\n| --- | --- | --- |\n| Tema | 3 |  |\n| Lagos | 5 | - |\n\n"
        "| Day | Hour |\n| --- | --- |\n| Monday | 7 |\n"
    )


@pytest.mark.parametrize(
    "unseen",
    [
        "<s>{}</s>",
        "<del>{}</del>",
        "<p style='visibility: hidden'>{}</p>",
        "<p style='position:absolute;left:-9999px'>{}</p>",
    ],
)
def test_what_is_struck_out_or_never_shown_is_left_out_and_named(read, unseen):
    source = read(f"<p>It costs 5.</p>{unseen.format('It cost 4.')}")
    assert source.text == "It costs 5.\n"
    assert "'It cost 4.'" in source.warnings[0]


def test_a_title_that_a_program_wrote_gives_way_to_the_heading(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<title>Untitled Document</title><h1>Fees</h1><p>Text.")
    assert load_html(path).metadata["title"] == "Fees"
