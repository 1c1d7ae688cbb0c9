"""Presentations, spreadsheets, e-mails, books and JSON lines: their text, its sections and pages, and bad files."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.adapters.documents.worker import LOADERS
from benchmarks.documents import docx, paragraph
from chains.errors import IngestionError
from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.parsing import Parsed, parse_file
from chains.ingestion.source import SourceText
from chains.ingestion.tables import sheet_text
from tests.office_documents import eml, epub, pptx, slide_table, xlsx


@pytest.fixture
def load(tmp_path):
    def load(name: str, content: bytes) -> SourceText:
        path = tmp_path / name
        path.write_bytes(content)
        return LOADERS[path.suffix](path)

    return load


@pytest.fixture
def parse(tmp_path):
    def parse(name: str, content: bytes) -> Parsed:
        path = tmp_path / name
        path.write_bytes(content)
        return parse_file(path, LOADERS, Chunker())

    return parse


def chunks_of(source: SourceText, size: int = 800) -> list[Chunk]:
    chunks = Chunker(size=size, overlap=size // 8).split(source)
    assert all(source.text[chunk.start_char : chunk.end_char] == chunk.text for chunk in chunks)
    return chunks


def test_a_slide_is_a_page_and_its_title_the_section(load):
    source = load("rates.pptx", pptx(("GST rates", "Nine percent."), ("", ""), ("Gold", "Free."), notes="Ask first."))

    assert source.metadata["title"] == "GST rates"
    assert source.warnings == ("slide 2 has no text",)
    assert [(chunk.page, chunk.section, chunk.section_path, chunk.text) for chunk in chunks_of(source)] == [
        (1, "GST rates", ("GST rates",), "GST rates\n\nNine percent."),
        (3, "Gold", ("Gold",), "Gold\n\nFree.\n\nNotes: Ask first."),
    ]


def test_tables_and_groups_of_a_slide_are_read(load):
    assert load("x.pptx", slide_table(["Goods", "Rate"], ["Gold", "nil"])).text == (
        "In a group\n\n| Goods | Rate |\n| --- | --- |\n| Gold | nil |"
    )


def test_a_presentation_is_called_by_its_properties_unless_these_say_nothing(load):
    assert load("x.pptx", pptx(("Rates", "Words"), title="Tariff")).metadata["title"] == "Tariff"
    assert load("x.pptx", pptx(("Rates", "Words"), title="PowerPoint Presentation")).metadata["title"] == "Rates"


def test_a_workbook_is_called_by_its_properties_unless_these_say_nothing(load):
    named, unnamed = (xlsx({"Rates": [["Gold", "nil"]]}, title=title) for title in ("Tariff", "untitled"))

    assert load("x.xlsx", named).metadata["title"] == "Tariff"
    assert load("gold_rates.xlsx", unnamed).metadata["title"] == "Gold Rates"


def test_what_a_reader_of_the_file_does_not_see_is_not_indexed(load):
    show = load("x.pptx", pptx(("Rates", "Words"), ("Margin", "3 %"), hidden=[2]))
    book = load("x.xlsx", xlsx({"Rates": [["Goods", "Rate"], ["Gold", 3]], "Margin": [["3 %"]]}, hidden=["Margin"]))

    assert show.warnings == ("slide 2 is hidden, and is not read",)
    assert book.warnings == ("the sheet 'Margin' is hidden, and is not read",)
    assert "3 %" not in show.text + book.text


def test_every_row_of_a_sheet_stands_with_the_names_of_its_columns(load):
    rows: list[list[Any]] = [
        ["Tariff of 2026"],
        [],
        ["Country", "Duty", "", "From"],
        ["Laos", 0.05, "x", date(2026, 1, 31)],
        ["Peru", 3],
    ]
    source = load("duty_rates.xlsx", xlsx({"Duty": rows, "Empty": [], "Ports": [["Vientiane"]]}, percent="B4"))

    assert source.metadata["title"] == "Duty Rates"
    assert source.text == (
        "## Duty\n\n- Tariff of 2026\n\n| Country | Duty |  | From |\n| --- | --- | --- | --- |\n"
        "| Laos | 5% | x | 2026-01-31 |\n| Peru | 3 |  |  |\n\n## Ports\n\n- Vientiane\n"
    )
    assert [chunk.section for chunk in chunks_of(source)] == ["Duty", "Ports"]


def test_the_day_of_a_workbook_is_that_of_its_properties_and_never_today(load, tmp_path):
    import zipfile

    path = tmp_path / "whole.xlsx"
    path.write_bytes(xlsx({"Rates": [["Gold", "nil"]]}))
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "bare.xlsx", "w") as bare:
        for name in whole.namelist():
            if name != "docProps/core.xml":
                bare.writestr(name, whole.read(name))

    assert "last_updated" in load("whole.xlsx", path.read_bytes()).metadata
    assert load("bare.xlsx", (tmp_path / "bare.xlsx").read_bytes()).metadata == {"title": "Bare"}


def test_rows_of_a_long_table_stay_whole(load):
    rows: list[list[Any]] = [["Number", "Goods"], *[[number, f"Item number {number}"] for number in range(200)]]
    source = load("long.xlsx", xlsx({"All": rows}))

    lines = {line for chunk in chunks_of(source, size=300) for line in chunk.text.split("\n")}
    head = {"## All", "", "| Number | Goods |", "| --- | --- |"}
    assert lines == head | {f"| {number} | Item number {number} |" for number in range(200)}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", 'Goods,Rate\nGold,"nil; or\nless"\n\nSilver,3\n'),
        ("x.csv", '\ufeffGoods;Rate\r\nGold;"nil; or\r\nless"\r\nSilver;3\r\n'),
        ("x.tsv", "Goods\tRate\nGold\tnil; or less\nSilver\t3\n"),
    ],
)
def test_a_file_of_values_is_read_whatever_stands_between_them(load, name, content):
    assert load(name, content.encode()).text == (
        "| Goods | Rate |\n| --- | --- |\n| Gold | nil; or less |\n| Silver | 3 |\n"
    )


@given(st.lists(st.lists(st.none() | st.integers() | st.text(max_size=9), max_size=4), max_size=6))
@settings(max_examples=60, deadline=None)
def test_no_value_of_a_table_is_lost(rows):
    text = sheet_text([["A", "B", "C"], *rows]).replace("\\|", "|")
    values = {word for row in rows for value in row for word in str("" if value is None else value).split()}
    printable = {word for word in values if word.isprintable()}
    assert all(word in text for word in printable)


def test_an_email_says_who_wrote_it_and_when(load):
    about: dict[str, Any] = {
        "Subject": "Fees für Gold",
        "From": "Ann <ann@example.org>",
        "Date": "Mon, 02 Feb 2026 10:00:00 +0800",
    }
    source = load("x.eml", eml("# The fee is 12.\n", attachments={"list.pdf": b"x"}, **about))

    assert source.metadata == {
        "title": "Fees für Gold",
        "author": "Ann <ann@example.org>",
        "last_updated": "2026-02-02",
    }
    assert source.text.endswith("Attachments: list.pdf\n\n# The fee is 12.\n")
    assert source.warnings == ("the attachment list.pdf is not read: it is damaged",)
    assert [chunk.section for chunk in chunks_of(source)] == [""]


def test_an_email_of_html_keeps_its_headings(load):
    source = load("x.eml", eml("<h2>Fee</h2><p>It is <b>12</b>.", html=True, Subject="Fees"))
    assert [(chunk.section, chunk.text) for chunk in chunks_of(source)] == [("Fee", "## Fee\n\nIt is 12.")]


def test_an_email_in_an_unknown_encoding_is_read_as_far_as_it_can_be(load):
    assert load("x.eml", b"Content-Type: text/plain; charset=x-none\n\nwords \xff").text == "words \ufffd\n"


def test_chapters_of_a_book_are_sections_in_the_order_of_reading(load):
    pages = ["<title>B</title><h1>Rates</h1><p>Nine.", "<title>Exceptions</title><p>Gold.", "<img src='x.png'>"]
    source = load("x.epub", epub(*pages, title="Tariff"))

    assert source.metadata == {"title": "Tariff", "author": "Customs", "last_updated": "2026-01-31"}
    assert [(chunk.section_path, chunk.text) for chunk in chunks_of(source)] == [
        (("Rates",), "# Rates\n\nNine."),
        (("Exceptions",), "# Exceptions\n\nGold."),
    ]


def test_a_line_of_json_is_a_section_or_a_row(load):
    lines = (
        '{"title": "Gold", "text": "Free of duty.", "url": "https://example.org"}\n\n{"goods": "Silver", "rate": 3}\n'
    )
    source = load("duties.jsonl", lines.encode())

    assert source.metadata == {"title": "Duties"}
    assert source.text.strip() == ("## Gold\n\nFree of duty.\n\n- url: https://example.org\n\n- goods: Silver; rate: 3")
    assert {chunk.section for chunk in chunks_of(source)} == {"Gold"}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.pptx", b"", "damaged, or not of the type that its extension says"),
        ("x.pptx", docx(paragraph("words")), "damaged, or not of the type that its extension says"),
        ("x.pptx", pptx(("", "")), "none of its 1 slides has text"),
        ("x.xlsx", b"no zip", "damaged, or not of the type that its extension says"),
        ("x.xlsx", xlsx({"Empty": []}), "empty"),
        ("x.csv", b"\xff\x00\x00\x00\x00\x02", "not UTF-8 text"),
        ("x.csv", b",,,\n,,\n", "empty"),
        ("x.eml", eml(""), "empty"),
        ("x.epub", epub("<p>words", more={"META-INF/rights.xml": "x"}), "protected against copying"),
        ("x.epub", epub("<p> "), "empty"),
        ("x.jsonl", b'{"text": "a"}\nno json', "line 2 is no JSON; every line has to be one JSON object"),
        ("x.jsonl", b"[1]", "line 1 is no JSON object"),
        ("x.jsonl", b"[" * 100_000, "line 1 is no JSON"),
        ("x.jsonl", b"{}", "empty"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(parse, name, content, reason):
    with pytest.raises(IngestionError, match=reason):
        parse(name, content)


def test_every_ending_that_a_loader_reads_has_a_kind_for_the_page():
    from chains.documents.library import KINDS

    assert {Path(f"x{ending}").suffix for ending in LOADERS} - KINDS.keys() == {".txt", ".text"}
