import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.adapters.documents.html import load_html
from app.adapters.documents.pdf import day, load_pdf
from app.adapters.documents.worker import LOADERS
from app.wings.office.docx import load_docx
from benchmarks.documents import docx, heading, paragraph, pdf, table
from chains.errors import IngestionError
from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.markup import markdown_of
from chains.ingestion.parsing import Parsed, parse_file
from chains.ingestion.source import SourceText
from tests.cases import cases

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


def chunks_of(source: SourceText, size: int = 800) -> list[Chunk]:
    chunks = Chunker(size=size, overlap=size // 8).split(source)
    assert all(source.text[chunk.start_char : chunk.end_char] == chunk.text for chunk in chunks)
    return chunks


def parse(path: Path) -> Parsed:
    return parse_file(path, LOADERS, Chunker())


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def test_headings_of_a_page_become_sections_and_what_surrounds_its_text_goes(write):
    source = load_html(write("gst.html", PAGE.encode()))

    assert source.metadata == {
        "title": "GST Guide",
        "source_org": "Customs",
        "source_urls": '["https://example.org/a,b"]',
        "last_updated": "2026-01-31",
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


def test_a_page_without_a_main_part_loses_its_menus_and_keeps_its_first_heading(write):
    body = "<header><h1>Rates</h1></header><nav>Menu</nav><div>Nine percent.</div><aside>Advertisement</aside>"
    source = load_html(write("rates.html", body.encode()))

    assert source.text == "# Rates\n\nNine percent.\n"
    assert source.metadata == {"title": "Rates"}


def test_a_page_without_title_and_heading_is_called_like_its_file(write):
    assert load_html(write("import_rules.htm", b"<p>Words.")).metadata == {"title": "Import Rules"}


def test_a_page_says_in_which_encoding_it_is_written(write):
    page = '<meta charset="iso-8859-1"><p>Zollgeb\u00fchr'.encode("iso-8859-1")
    assert load_html(write("x.html", page)).text == "Zollgebühr\n"


def test_a_page_nested_beyond_reason_is_refused_or_read_and_never_crashes(write):
    path = write("x.html", b"<div>" * 10 * sys.getrecursionlimit() + b"words")
    with suppress(IngestionError):
        load_html(path)


@settings(deadline=None, max_examples=100)
@given(st.text(min_size=1).map(lambda text: f"a {text} b"))
def test_no_words_of_a_paragraph_become_a_heading(text):
    from bs4 import BeautifulSoup

    page = BeautifulSoup("<h2>Rate</h2>", "html.parser")
    words = page.new_tag("p")
    words.string = text.replace(" ", "\n")
    page.append(words)
    chunks = Chunker().split(SourceText(markdown_of(page), 0, {"title": "T"}))
    assert {chunk.section for chunk in chunks} == {"Rate"}


def test_a_word_document_keeps_its_headings_and_tables(write):
    body = heading("Rate", 1) + paragraph("Nine percent.") + heading("Exceptions", 2)
    content = docx(body + table(["Goods", "Rate"], ["Gold", "nil"]), title="GST Guide", modified="2026-01-31T08:00:00Z")
    source = load_docx(write("gst.docx", content))

    assert source.metadata == {"title": "GST Guide", "last_updated": "2026-01-31"}
    assert [(chunk.section, chunk.section_path, chunk.text) for chunk in chunks_of(source)] == [
        ("Rate", ("Rate",), "# Rate\n\nNine percent."),
        ("Exceptions", ("Rate", "Exceptions"), "## Exceptions\n\n| Goods | Rate |\n| --- | --- |\n| Gold | nil |"),
    ]


def test_every_chunk_of_a_long_table_knows_the_header_row(write):
    rows = [[f"Item number {number}", "nil"] for number in range(60)]
    source = load_docx(write("long.docx", docx(table(["Goods", "Rate"], *rows))))

    first, *others = chunks_of(source, size=300)
    assert first.text.startswith("| Goods | Rate |")
    assert {chunk.context for chunk in others} == {"| Goods | Rate |\n| --- | --- |"}


def test_no_chunk_of_a_pdf_crosses_a_page_and_each_knows_its_page(write):
    pages = ["\n".join(f"Page {page}, line {line} of it." for line in range(30)) for page in (1, 2, 3)]
    chunks = chunks_of(load_pdf(write("x.pdf", pdf(*pages))), size=300)

    assert {chunk.page for chunk in chunks} == {1, 2, 3}
    assert all(chunk.text.count(f"Page {chunk.page},") == chunk.text.count("Page ") for chunk in chunks)
    for number, text in enumerate(pages, start=1):
        on_page = " ".join(chunk.text for chunk in chunks if chunk.page == number)
        assert all(line in on_page for line in text.splitlines())


def test_a_page_without_text_is_named_and_the_numbers_after_it_stay_right(write):
    source = load_pdf(write("x.pdf", pdf("First page.", "", "Third page.")))

    assert source.warnings == ("page 2 has no text; it may be a scanned image",)
    assert [(chunk.page, chunk.text) for chunk in chunks_of(source)] == [(1, "First page."), (3, "Third page.")]


def test_the_title_of_a_pdf_is_that_of_its_metadata_or_its_file_name(write):
    about = {"/Title": "Microsoft Word - GST Guide.doc", "/Author": "Customs", "/CreationDate": "D:20260131080000Z"}
    named = load_pdf(write("x.pdf", pdf("Words.", metadata=about)))
    unnamed = load_pdf(write("ftz_circular.pdf", pdf("Words.", metadata={"/Title": " "})))

    assert named.metadata == {"title": "GST Guide", "author": "Customs", "last_updated": "2026-01-31"}
    assert unnamed.metadata == {"title": "Ftz Circular"}


DAMAGED = "damaged, or not of the type that its extension says"
UNREADABLE = {
    "a page without text": [("x.html", text, "empty") for text in (b"", b"<nav>Menu</nav>", b"<script>x</script>")],
    "what is no word document": [
        ("x.docx", content, DAMAGED)
        for content in (b"", b"no zip", b"PK\x03\x04 cut off", docx(paragraph("Words."))[:400])
    ],
    "a word document without text": [("x.docx", docx(""), "empty")],
    "what is no pdf": [
        ("x.pdf", content, DAMAGED)
        for content in (b"", b"%PDF-1.7 and nothing of the kind", b"<html>Not found</html>", pdf("Words.")[:300])
    ],
    "a pdf with a password": [("x.pdf", pdf("Words.", password="a word"), "protected by a password")],
    "a pdf without text": [("x.pdf", pdf("", ""), "none of its 2 pages has text")],
}


@pytest.mark.parametrize(("name", "content", "reason"), cases(UNREADABLE))
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(write, name, content, reason):
    with pytest.raises(IngestionError, match=reason):
        parse(write(name, content))


def test_a_pdf_that_is_encrypted_only_to_forbid_changes_is_read(write):
    assert load_pdf(write("x.pdf", pdf("Words.", password=""))).text == "Words."


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_damaged_pdf_is_read_or_refused_and_never_crashes(tmp_path_factory, data):
    content = bytearray(pdf("First page.", "Second page."))
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("pdf") / "x.pdf"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with suppress(IngestionError):
        parse(path)


@pytest.mark.parametrize("load", [load_pdf, load_html, load_docx])
def test_a_file_that_is_gone_is_told(load, tmp_path):
    with pytest.raises(IngestionError, match="No such file"):
        load(tmp_path / "gone")


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [("D:20250122103045Z", "2025-01-22"), ("2019-01-01", "2019-01-01"), ("", ""), ("D:20251399", ""), ("invalid", "")],
)
def test_the_day_of_a_time_stamp_is_never_made_up(stamp, expected):
    assert day(stamp) == expected


@pytest.mark.corpus
def test_the_real_pdfs_are_read_page_by_page(shared):
    sources = {path.stem: load_pdf(path) for path in sorted((shared / "kb" / "pdfs").glob("*.pdf"))}

    pages = [len(source.pages) for source in sources.values()]
    assert pages == [9, 2, 1, 4, 2, 2, 1, 1]
    assert {name for name, source in sources.items() if source.warnings} == {"average_cept_atiga_tariff_rates"}
    assert "text that is white, without ink" in sources["average_cept_atiga_tariff_rates"].warnings[0]
    guidelines = chunks_of(sources["asean_import_licensing_guidelines"])
    assert guidelines[0].text.startswith("Guidelines for the Implementation of\n")
    assert {chunk.page for chunk in guidelines} == set(range(1, 10))
