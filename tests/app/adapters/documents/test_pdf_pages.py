"""What a reader of a PDF page sees: columns, whole words, values of forms, tables, and nothing that is hidden."""

import io
from typing import Any

import pytest
from fpdf import FPDF
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, NumberObject, TextStringObject

from app.adapters.documents.page_worker import answer
from app.adapters.documents.pdf import day, load_pdf
from app.adapters.documents.pdf_lines import HYPHEN, Line, joined
from benchmarks.documents import pdf
from chains.ingestion.chunks import Chunker
from tests.office_documents import chunks_of

LEFT = """The lower pier takes small boats
that stay for a night or two. All
of them pay at the yellow house, and
leave before noon of the next day.""".splitlines()
RIGHT = """Larger ships are moored outside
where the water is deep enough. A
pilot brings every one of them in,
and stays aboard until it is moored.""".splitlines()


def test_columns_of_prose_that_are_drawn_row_by_row_are_read_one_after_the_other(page, read):
    for number, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        page.text(60, 100 + 14 * number, left)
        page.text(320, 100 + 14 * number, right)
    assert " ".join(read().text.split()) == " ".join([*LEFT, *RIGHT])


def rows(document: FPDF, *cells: tuple[str, ...], top: int = 100) -> None:
    for number, row in enumerate(cells):
        for column, text in enumerate(row):
            document.text(60 + 150 * column, top + 20 * number, text)


def test_a_table_is_one_of_markdown_and_goes_on_overleaf_with_its_head(page, read, tmp_path):
    fees = [(f"Pier {number:02}", str(number + 100), str(number + 900)) for number in range(1, 61)]
    rows(page, ("Pier", "By day", "By year"), *fees[:30])
    page.add_page()
    rows(page, *fees[30:])
    source = read()
    chunks = Chunker(size=300, overlap=0).split(source)

    assert source.text.startswith("| Pier | By day | By year |\n| --- | --- | --- |\n| Pier 01 | 101 | 901 |\n")
    [chunk] = [chunk for chunk in chunks if "Pier 44" in chunk.text]
    assert (chunk.page, chunk.context) == (2, "| Pier | By day | By year |\n| --- | --- | --- |")
    words = answer(
        {"path": str(tmp_path / "pier.pdf"), "page": 2, "quote": "| Pier 44 | 144 | 944 |", "chunks": [chunk.text]}
    )
    assert len(words["words"]) >= 1


def test_a_head_that_the_next_page_repeats_is_read_once(page, read):
    head, *fees = ("Pier", "By day"), *[(f"Pier {number}", str(number)) for number in range(100, 120)]
    rows(page, head, *fees[:10])
    page.add_page()
    rows(page, head, *fees[10:])
    source = read()
    assert (source.text.count("By day"), len(source.tables)) == (1, 1)


def test_a_list_is_no_table(page, read):
    rows(page, ("1.", "Turn the key"), ("2.", "Press stop"), ("3.", "Hang the tag"), ("4.", "Call the chief"))
    assert "|" not in read().text


@pytest.mark.parametrize("hide", ["white", "outside", "no ink"])
def test_what_nobody_sees_is_left_out_and_named(page, read, hide):
    page.text(60, 100, "The fee is 5 euro.")
    if hide == "white":
        page.set_text_color(255)
    with page.local_context(text_mode="INVISIBLE" if hide == "no ink" else "FILL"):
        page.text(-400 if hide == "outside" else 60, 140, "The fee is 9 euro.")
    source = read()
    assert source.text == "The fee is 5 euro."
    assert "'The fee is 9 euro.'" in source.warnings[0]


def test_white_letters_on_dark_ground_and_those_below_a_scan_are_read(page, read):
    page.set_fill_color(20)
    page.rect(50, 80, 200, 30, "F")
    page.set_text_color(255)
    page.text(60, 100, "The fee is 5 euro.")
    page.add_page()
    page.image(_picture(), 0, 0, page.w, page.h)
    with page.local_context(text_mode="INVISIBLE"):
        page.text(60, 100, "The fee of a ship is 9 euro.")
    source = read()
    assert ("The fee is 5 euro." in source.text, "The fee of a ship is 9 euro." in source.text) == (True, True)


def _picture() -> io.BytesIO:
    file = io.BytesIO()
    Image.effect_noise((300, 400), 60).convert("RGB").save(file, "PNG")
    file.seek(0)
    return file


def recognized(_page: Any) -> list[Line]:
    return [Line("The berth costs 70 euro a day.", 1, False, 0, 0, 1, 1)]


def test_a_scan_with_a_stamp_is_recognized_and_a_page_of_text_is_not(page, read):
    page.image(_picture(), 0, 0, page.w, page.h)
    page.text(60, 40, "Scanned by Ann")
    page.add_page()
    for number in range(40):
        page.text(60, 60 + 14 * number, "These are the words of a page that has enough of them.")
    source = read(recognition=recognized)
    assert source.text.startswith("The berth costs 70 euro a day.")
    assert source.warnings == ("page 1 is a picture; its words were recognized and may be wrong",)
    assert read().warnings == ("page 1 is mostly a picture; it may be a scanned image",)


def test_values_of_a_form_stand_behind_their_labels(page, read, tmp_path):
    for number, label in enumerate(["Name of the ship:", "Dangerous goods", "Own pilot"]):
        page.text(60, 100 + 40 * number, label)
    read()
    writer = PdfWriter(clone_from=PdfReader(tmp_path / "pier.pdf"))
    fields = ArrayObject()
    for number, (kind, value) in enumerate([("/Tx", "Ida"), ("/Btn", "/Yes"), ("/Btn", "/Off")]):
        top = float(writer.pages[0].mediabox.height) - 90 - 40 * number
        box = ArrayObject(FloatObject(edge) for edge in (260, top - 20, 400, top))
        state = NameObject(value) if kind == "/Btn" else TextStringObject(value)
        field = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Annot"),
                NameObject("/Subtype"): NameObject("/Widget"),
                NameObject("/FT"): NameObject(kind),
                NameObject("/T"): TextStringObject(f"f{number}"),
                NameObject("/V"): state,
                NameObject("/Rect"): box,
                NameObject("/F"): NumberObject(4),
            }
        )
        if kind == "/Btn":
            field[NameObject("/AS")] = state
            looks = DictionaryObject({NameObject(name): DictionaryObject() for name in ("/Yes", "/Off")})
            field[NameObject("/AP")] = DictionaryObject({NameObject("/N"): looks})
        fields.append(writer._add_object(field))
    writer.pages[0][NameObject("/Annots")] = fields
    writer._root_object[NameObject("/AcroForm")] = DictionaryObject({NameObject("/Fields"): fields})
    writer.write(tmp_path / "form.pdf")

    assert load_pdf(tmp_path / "form.pdf").text.split("\n\n") == [
        "Name of the ship: Ida",
        "Dangerous goods: yes",
        "Own pilot: no",
    ]


def line(text: str, place: int = 0) -> Line:
    return Line(text, 10, False, 60, 690 - 12 * place, 400, 700 - 12 * place)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([f"a refrig{HYPHEN}erated ship"], ["a refrigerated ship"]),
        ([f"a three{HYPHEN}phase plug"], ["a three-phase plug"]),
        ([f"a duty{HYPHEN}free shop"], ["a duty-free shop"]),
        (["the sea-going ship", f"a sea{HYPHEN}going one"], ["the sea-going ship", "a sea-going one"]),
        (["one ship of refrig-", "erated goods"], ["one ship of refrigerated", "goods"]),
        (["one ship, pier A-", "Pier B"], ["one ship, pier A-", "Pier B"]),
        ([f"from Rot{HYPHEN}Weiss"], ["from Rot-Weiss"]),
    ],
)
def test_a_word_that_a_line_parts_is_whole_unless_its_hyphen_belongs_to_it(texts, expected):
    lines = [line(text, place) for place, text in enumerate(texts)]
    assert [one.text for one in joined([lines])[0]] == expected


def test_the_lines_of_a_table_of_contents_are_left_out_and_named(page, read):
    for number, text in enumerate(
        ["Contents", "Fees of piers ........ 2", "Pilots ............... 7", "Tugs ................. 9"]
    ):
        page.text(60, 100 + 20 * number, text)
    page.add_page()
    page.text(60, 100, "A pier costs 70 euro.")
    source = read()
    assert source.text.strip() == "A pier costs 70 euro."
    assert source.warnings == ("the table of contents on page 1 is left out",)


def test_a_list_of_prices_with_leaders_is_read(page, read):
    for number, text in enumerate(["Tea ....... 9", "Coffee .... 7", "Cake ...... 8"]):
        page.text(60, 100 + 20 * number, text)
    page.add_page()
    page.text(60, 100, "A pier costs 70 euro.")
    assert "Coffee .... 7" in read().text


@pytest.mark.parametrize(
    ("file", "title"), [("x1.pdf", "Plan of the piers"), ("fees_of_all_piers.pdf", "Fees Of All Piers")]
)
def test_a_title_that_a_program_wrote_gives_way_to_the_heading_or_the_name(page, read, file, title):
    page.set_title("untitled")
    page.set_font("Helvetica", "B", 18)
    page.text(60, 80, "Plan of the piers")
    page.set_font("Helvetica", "", 11)
    page.text(60, 120, "The piers are open from April to October.")
    assert read(file).metadata["title"] == title


def test_no_chunk_of_a_pdf_crosses_a_page_and_each_knows_its_page(load):
    pages = ["\n".join(f"Page {page}, line {line} of it." for line in range(30)) for page in (1, 2, 3)]
    chunks = chunks_of(load("x.pdf", pdf(*pages)), size=300)

    assert {chunk.page for chunk in chunks} == {1, 2, 3}
    assert all(chunk.text.count(f"Page {chunk.page},") == chunk.text.count("Page ") for chunk in chunks)
    for number, text in enumerate(pages, start=1):
        on_page = " ".join(chunk.text for chunk in chunks if chunk.page == number)
        assert all(line in on_page for line in text.splitlines())


def test_a_page_without_text_is_named_and_the_numbers_after_it_stay_right(load):
    source = load("x.pdf", pdf("First page.", "", "Third page."))

    assert source.warnings == ("page 2 has no text; it may be a scanned image",)
    assert [(chunk.page, chunk.text) for chunk in chunks_of(source)] == [(1, "First page."), (3, "Third page.")]


def test_title_author_and_day_of_a_pdf_are_those_of_its_metadata(load):
    about = {"/Title": "Microsoft Word - GST Guide.doc", "/Author": "Customs", "/CreationDate": "D:20260131080000Z"}
    metadata = load("x.pdf", pdf("Words.", metadata=about)).metadata
    assert metadata == {"title": "GST Guide", "author": "Customs", "file_date": "2026-01-31"}


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
