"""What a reader of a Word document sees: merged cells, formulas and page heads, without what Word hides."""

import pytest

from benchmarks.documents import docx, heading, paragraph, table
from chains.ingestion.source import SourceText
from tests.office_documents import chunks_of

MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


@pytest.fixture
def read(load):
    def read(body: str, **parts: str) -> SourceText:
        return load("depot.docx", docx(body, more={f"word/{name}.xml": text for name, text in parts.items()}))

    return read


def run(words: str, properties: str) -> str:
    return f"<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>{words}</w:t></w:r></w:p>"


def part(kind: str, *paragraphs: str) -> str:
    words = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    return f"<w:{kind} {words}>{''.join(map(paragraph, paragraphs))}</w:{kind}>"


@pytest.mark.parametrize(
    "properties", ["<w:vanish/>", "<w:strike/>", "<w:dstrike/>", '<w:rStyle w:val="Secret"/>', "<w:b/><w:vanish/>"]
)
def test_what_word_hides_or_strikes_out_is_left_out_and_named(read, properties):
    style = '<w:style w:type="character" w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>'
    styles = f"{part('styles').removesuffix('</w:styles>')}{style}</w:styles>"
    source = read(paragraph("The crew is four.") + run("The crew was nine.", properties), styles=styles)
    assert source.text == "The crew is four.\n"
    assert ["'The crew was nine.'" in warning for warning in source.warnings] == [True]


def test_what_is_said_not_to_be_hidden_is_read(read):
    assert read(run("The crew is four.", '<w:vanish w:val="0"/>')).text == "The crew is four.\n"


def test_heads_and_feet_of_pages_are_read_once_without_page_numbers(read):
    edges = {"header1": part("hdr", "Valid from 3 May"), "header2": part("hdr", "Valid from 3 May")}
    source = read(heading("Gate", 1) + paragraph("Text."), **edges, footer1=part("ftr", "Page 3 of 9", "Owner: Ann"))
    assert source.text == "# Gate\n\nValid from 3 May\n\nText.\n\nOwner: Ann\n"


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("<m:r><m:t>F = m</m:t></m:r>", "F = m"),
        ("<m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>", "(a+b)/2"),
        ("<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>", "x^2"),
        ("<m:rad><m:deg/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad>", "sqrt(x)"),
        ("<m:d><m:e><m:r><m:t>x</m:t></m:r></m:e></m:d>", "(x)"),
    ],
)
@pytest.mark.parametrize("block", ["{}", "<m:oMathPara>{}</m:oMathPara>"])
def test_a_formula_is_text(read, formula, expected, block):
    body = f"<w:p {MATH}><w:r><w:t>Load: </w:t></w:r>{block.format(f'<m:oMath>{formula}</m:oMath>')}</w:p>"
    assert read(body).text == f"Load: {expected}\n"


def test_a_word_document_keeps_its_headings_and_tables(load):
    body = heading("Rate", 1) + paragraph("Nine percent.") + heading("Exceptions", 2)
    content = docx(body + table(["Goods", "Rate"], ["Gold", "nil"]), title="GST Guide", modified="2026-01-31T08:00:00Z")
    source = load("gst.docx", content)

    assert source.metadata == {"title": "GST Guide", "file_date": "2026-01-31"}
    assert [(chunk.section, chunk.section_path, chunk.text) for chunk in chunks_of(source)] == [
        ("Rate", ("Rate",), "# Rate\n\nNine percent."),
        ("Exceptions", ("Rate", "Exceptions"), "## Exceptions\n\n| Goods | Rate |\n| --- | --- |\n| Gold | nil |"),
    ]
