"""What a reader of a PDF page sees: columns, whole words, values of forms, tables, and nothing that is hidden."""

import io
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, NumberObject, TextStringObject

from app.adapters.documents.page_worker import answer
from app.adapters.documents.pdf import load_pdf
from app.adapters.documents.pdf_lines import HYPHEN, Line, joined
from chains.ingestion.chunks import Chunker

LEFT = """The lower pier takes small boats
that stay for a night or two. All
of them pay at the yellow house, and
leave before noon of the next day.""".splitlines()
RIGHT = """Larger ships are moored outside
where the water is deep enough. A
pilot brings every one of them in,
and stays aboard until it is moored.""".splitlines()


@pytest.fixture
def page():
    document = FPDF(unit="pt")
    document.add_page()
    document.set_font("Helvetica", "", 11)
    return document


def saved(document: FPDF, folder: Path) -> Path:
    path = folder / "pier.pdf"
    document.output(str(path))
    return path


def test_columns_of_prose_that_are_drawn_row_by_row_are_read_one_after_the_other(page, tmp_path):
    for number, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        page.text(60, 100 + 14 * number, left)
        page.text(320, 100 + 14 * number, right)
    assert " ".join(load_pdf(saved(page, tmp_path)).text.split()) == " ".join([*LEFT, *RIGHT])


def rows(document: FPDF, *cells: tuple[str, ...], top: int = 100) -> None:
    for number, row in enumerate(cells):
        for column, text in enumerate(row):
            document.text(60 + 150 * column, top + 20 * number, text)


def test_a_table_is_one_of_markdown_and_goes_on_overleaf_with_its_head(page, tmp_path):
    fees = [(f"Pier {number:02}", str(number + 100), str(number + 900)) for number in range(1, 61)]
    rows(page, ("Pier", "By day", "By year"), *fees[:30])
    page.add_page()
    rows(page, *fees[30:])
    path = saved(page, tmp_path)
    source = load_pdf(path)
    chunks = Chunker(size=300, overlap=0).split(source)

    assert source.text.startswith("| Pier | By day | By year |\n| --- | --- | --- |\n| Pier 01 | 101 | 901 |\n")
    [chunk] = [chunk for chunk in chunks if "Pier 44" in chunk.text]
    assert (chunk.page, chunk.context) == (2, "| Pier | By day | By year |\n| --- | --- | --- |")
    words = answer({"path": str(path), "page": 2, "quote": "| Pier 44 | 144 | 944 |", "chunks": [chunk.text]})
    assert len(words["words"]) >= 1


def test_a_head_that_the_next_page_repeats_is_read_once(page, tmp_path):
    head, *fees = ("Pier", "By day"), *[(f"Pier {number}", str(number)) for number in range(100, 120)]
    rows(page, head, *fees[:10])
    page.add_page()
    rows(page, head, *fees[10:])
    source = load_pdf(saved(page, tmp_path))
    assert (source.text.count("By day"), len(source.tables)) == (1, 1)


def test_a_list_is_no_table(page, tmp_path):
    rows(page, ("1.", "Turn the key"), ("2.", "Press stop"), ("3.", "Hang the tag"), ("4.", "Call the chief"))
    assert "|" not in load_pdf(saved(page, tmp_path)).text


@pytest.mark.parametrize("hide", ["white", "outside", "no ink"])
def test_what_nobody_sees_is_left_out_and_named(page, tmp_path, hide):
    page.text(60, 100, "The fee is 5 euro.")
    if hide == "white":
        page.set_text_color(255)
    with page.local_context(text_mode="INVISIBLE" if hide == "no ink" else "FILL"):
        page.text(-400 if hide == "outside" else 60, 140, "The fee is 9 euro.")
    source = load_pdf(saved(page, tmp_path))
    assert source.text == "The fee is 5 euro."
    assert "'The fee is 9 euro.'" in source.warnings[0]


def test_white_letters_on_dark_ground_and_those_below_a_scan_are_read(page, tmp_path):
    page.set_fill_color(20)
    page.rect(50, 80, 200, 30, "F")
    page.set_text_color(255)
    page.text(60, 100, "The fee is 5 euro.")
    page.add_page()
    page.image(_picture(), 0, 0, page.w, page.h)
    with page.local_context(text_mode="INVISIBLE"):
        page.text(60, 100, "The fee of a ship is 9 euro.")
    source = load_pdf(saved(page, tmp_path))
    assert ("The fee is 5 euro." in source.text, "The fee of a ship is 9 euro." in source.text) == (True, True)


def _picture() -> io.BytesIO:
    file = io.BytesIO()
    Image.effect_noise((300, 400), 60).convert("RGB").save(file, "PNG")
    file.seek(0)
    return file


class Recognition:
    def lines(self, page: Any) -> list[Line]:
        return [Line("The berth costs 70 euro a day.", 1, False, 0, 0, 1, 1)]


def test_a_scan_with_a_stamp_is_recognized_and_a_page_of_text_is_not(page, tmp_path):
    page.image(_picture(), 0, 0, page.w, page.h)
    page.text(60, 40, "Scanned by Ann")
    page.add_page()
    for number in range(40):
        page.text(60, 60 + 14 * number, "These are the words of a page that has enough of them.")
    path = saved(page, tmp_path)
    source = load_pdf(path, recognition=Recognition())
    assert source.text.startswith("The berth costs 70 euro a day.")
    assert source.warnings == ("page 1 is a picture; its words were recognized and may be wrong",)
    assert load_pdf(path).warnings == ("page 1 is mostly a picture; it may be a scanned image",)


def test_values_of_a_form_stand_behind_their_labels(page, tmp_path):
    for number, label in enumerate(["Name of the ship:", "Dangerous goods", "Own pilot"]):
        page.text(60, 100 + 40 * number, label)
    writer = PdfWriter(clone_from=PdfReader(saved(page, tmp_path)))
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


def test_the_lines_of_a_table_of_contents_are_left_out_and_named(page, tmp_path):
    for number, text in enumerate(
        ["Contents", "Fees of piers ........ 2", "Pilots ............... 7", "Tugs ................. 9"]
    ):
        page.text(60, 100 + 20 * number, text)
    page.add_page()
    page.text(60, 100, "A pier costs 70 euro.")
    source = load_pdf(saved(page, tmp_path))
    assert source.text.strip() == "A pier costs 70 euro."
    assert source.warnings == ("the table of contents on page 1 is left out",)


def test_a_list_of_prices_with_leaders_is_read(page, tmp_path):
    for number, text in enumerate(["Tea ....... 9", "Coffee .... 7", "Cake ...... 8"]):
        page.text(60, 100 + 20 * number, text)
    page.add_page()
    page.text(60, 100, "A pier costs 70 euro.")
    assert "Coffee .... 7" in load_pdf(saved(page, tmp_path)).text


@pytest.mark.parametrize(
    ("file", "title"), [("x1.pdf", "Plan of the piers"), ("fees_of_all_piers.pdf", "Fees Of All Piers")]
)
def test_a_title_that_a_program_wrote_gives_way_to_the_heading_or_the_name(page, tmp_path, file, title):
    page.set_title("untitled")
    page.set_font("Helvetica", "B", 18)
    page.text(60, 80, "Plan of the piers")
    page.set_font("Helvetica", "", 11)
    page.text(60, 120, "The piers are open from April to October.")
    page.output(str(tmp_path / file))
    assert load_pdf(tmp_path / file).metadata["title"] == title
