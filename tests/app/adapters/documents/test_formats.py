"""Files as people have them: what each kind keeps, how it is called, and which files are refused."""

from contextlib import suppress
from pathlib import Path

import pytest
from fpdf import FPDF
from hypothesis import given, settings
from hypothesis import strategies as st

from app.adapters.documents.html import load_html
from app.adapters.documents.pdf import load_pdf
from app.adapters.documents.worker import LOADERS
from app.wings.office.docx import load_docx
from benchmarks.documents import docx, heading, paragraph, pdf
from chains.documents.library import KINDS
from chains.errors import IngestionError
from chains.ingestion.chunks import Chunker
from chains.ingestion.parsing import parse_file
from tests.cases import cases
from tests.office_documents import chunks_of, eml, epub, pptx, xlsx

HIDDEN_STYLE = (
    '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" '
    'w:styleId="Note"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>'
)
IN_STYLE = '<w:p><w:pPr><w:pStyle w:val="Note"/></w:pPr><w:r><w:t>It costs 900.</w:t></w:r></w:p>'
GERMAN = "Die Gebühr für Übergröße beträgt 45 €. Zahlen Sie an der Kasse, später wird es teurer."
ABOUT = [["By:", "Sam"], ["For:", "Ann"], ["Drug", "Dose", "Way"], ["A", "1 mg", "oral"], ["B", "2 mg", "oral"]]
OPENED = "<h1>Loans</h1><button aria-controls=a>How long?</button><div id=a hidden><p>28 days</p></div>"


def covered(*, behind: bool) -> bytes:
    """Return a page with a black box over a line of text, or behind a white one."""
    page = FPDF()
    page.add_page()
    page.set_font("Helvetica", "", 11)
    page.text(20, 20, "The fee is 50 euro.")
    page.set_fill_color(0, 0, 0)
    if behind:
        page.set_text_color(255, 255, 255)
    for draw in (lambda: page.rect(15, 34, 90, 10, "F"), lambda: page.text(20, 40, "It costs 900."))[
        :: 1 if behind else -1
    ]:
        draw()
    return bytes(page.output())


def lines(*texts: str, step: float = 7) -> bytes:
    page = FPDF()
    page.add_page()
    page.set_font("Helvetica", "", 9)
    for number, text in enumerate(texts):
        page.text(20, 20 + step * number, text)
    return bytes(page.output())


@pytest.mark.parametrize(
    ("name", "content", "kept", "gone"),
    [
        ("a.html", "<h1>T</h1><form><div>The pool opens at nine.</div></form>", "opens at nine", ""),
        ("a.html", "<h1>T</h1><p>Words.<form><label>Search <input></label></form>", "Words", "Search"),
        ("a.html", OPENED, "How long?\n\n28 days", ""),
        ("a.html", "<h1>T</h1><button class=faq-question>Who pays?</button><div>Ann.</div>", "Who pays?\n\nAnn.", ""),
        ("a.html", "<h1>T</h1><p>Words.<p hidden>It costs 900 euro a year.", "Words", "900"),
        ("a.html", "<h1>T</h1><p>Words.<p style='color:#fff; background:#fff'>It costs 900.", "Words", "900"),
        ("a.html", "<a href='MAILTO:Desk@bank.example?subject=x'>Desk</a>", "Desk (Desk@bank.example)", ""),
        ("a.html", "<h1>T</h1><p><a href='sms:+4977'>Write</a>", "Write (+4977)", ""),
        ("a.md", "# T\n\n> [!note] Wind limit\n> Stop at 54.\n", "> Wind limit:\n> Stop at 54.", "[!note]"),
        ("a.md", '# T\n\n!!! warning "Wind"\n    Stop at 54.\n', "Wind:\n    Stop at 54.", "!!!"),
        ("a.md", "# T\n\n:::tip\nStop at 54.\n:::\n", "\nStop at 54.", ":::"),
        ("a.txt", GERMAN.encode("utf-16-le"), GERMAN, ""),
        ("a.txt", GERMAN.encode("utf-16-be"), GERMAN, ""),
        ("a.csv", "Report;\nYear;2025\nTeam;Wins;Losses\nReds;10;2\nBlues;7;5\n", "| Team | Wins | Losses |", ""),
        ("a.csv", "Founded,1921\nStaff,40\nSite,https://bank.example\n", "- Founded: 1921\n- Staff: 40", ""),
        ("a.xlsx", xlsx({"S": ABOUT}), "By: Sam\nFor: Ann\n\n| Drug | Dose | Way |", ""),
        ("a.docx", docx(paragraph("Words.") + IN_STYLE, more={"word/styles.xml": HIDDEN_STYLE}), "Words.", "900"),
        ("a.eml", b"Content-Type: text/plain; charset=x-none\n\nwords \xff", "words \ufffd\n", ""),
        ("a.pdf", covered(behind=False), "50 euro", "900"),
        ("a.pdf", covered(behind=True), "It costs 900.", ""),
        ("a.pdf", pdf("Words.", password=""), "Words.", ""),  # It is encrypted only to forbid changes.
        ("a.pdf", lines("A late film costs one euro a", "day, and is noted."), "one euro a\nday, and is noted.", ""),
        ("a.pdf", lines("A state-of-the-", "art lab for twenty-", "five pupils.", step=5), "A state-of-the-art", ""),
    ],
)  # fmt: skip
def test_what_a_reader_sees_is_kept_and_nothing_else(load, name, content, kept, gone):
    text = "\n".join(line.rstrip() for line in load(name, content).text.split("\n"))
    assert kept in text
    assert not gone or gone not in text


@pytest.mark.parametrize(
    ("name", "content", "title"),
    [
        ("import_rules.htm", "<p>Words.", "Import Rules"),
        ("a.html", "<title>Untitled Document</title><h1>Fees</h1><p>Text.", "Fees"),
        ("a.html", "<header><h1>Rates</h1></header><div>Nine percent.</div>", "Rates"),
        ("ftz_circular.pdf", pdf("Words.", metadata={"/Title": " "}), "Ftz Circular"),
        ("x.pptx", pptx(("Rates", "Words"), title="Tariff"), "Tariff"),
        ("x.pptx", pptx(("Rates", "Words"), title="PowerPoint Presentation"), "Rates"),
        ("x.xlsx", xlsx({"Rates": [["Gold", "nil"]]}, title="Tariff"), "Tariff"),
        ("gold_rates.xlsx", xlsx({"Rates": [["Gold", "nil"]]}, title="untitled"), "Gold Rates"),
        *(
            ("a.docx", docx(heading("Pool guide", 1) + paragraph("Words."), title=title), "Pool guide")
            for title in ("Microsoft Word - guide.tmp", "[Company name]", "Document1")
        ),
    ],
)
def test_a_title_that_a_program_wrote_gives_way_to_the_first_heading_or_the_name(load, name, content, title):
    assert load(name, content).metadata["title"] == title


DAMAGED = "damaged, or not of the type that its extension says"
UNREADABLE = {
    "a page without text": [("x.html", text, "empty") for text in (b"", b"<nav>Menu</nav>", b"<script>x</script>")],
    "what is no word document": [
        ("x.docx", content, DAMAGED)
        for content in (b"", b"no zip", b"PK\x03\x04 cut off", docx(paragraph("Words."))[:400])
    ],
    "what is no pdf": [
        ("x.pdf", content, DAMAGED)
        for content in (b"", b"%PDF-1.7 and nothing of the kind", b"<html>Not found</html>", pdf("Words.")[:300])
    ],
    "a pdf with a password": [("x.pdf", pdf("Words.", password="a word"), "protected by a password")],
    "a pdf without text": [("x.pdf", pdf("", ""), "none of its 2 pages has text; .* install tesseract")],
    "a presentation": [("x.pptx", content, DAMAGED) for content in (b"", docx(paragraph("words")))]
    + [("x.pptx", pptx(("", "")), "none of its 1 slides has text")],
    "a workbook": [("x.xlsx", b"no zip", DAMAGED)],
    "values": [("x.csv", b"\xff\x00\x00\x00\x00\x02", "not UTF-8 text")],
    "a book": [("x.epub", epub("<p>words", more={"META-INF/rights.xml": "x"}), "protected against copying")],
    "json": [
        ("x.json", b"{", "no JSON"),
        ("x.jsonl", b'{"text": "a"}\nno json', "line 2 is no JSON; every line has to be one JSON object"),
        ("x.jsonl", b"[1]", "line 1 is no JSON object"),
        ("x.jsonl", b"[" * 100_000, "line 1 is no JSON"),
    ],
    "a file without text": [
        (name, content, "empty")
        for name, content in {
            "x.docx": docx(""),
            "x.xlsx": xlsx({"Empty": []}),
            "x.csv": b",,,\n,,\n",
            "x.eml": eml(""),
            "x.epub": epub("<p> "),
            "x.jsonl": b"{}",
        }.items()
    ],
}


@pytest.mark.parametrize(("name", "content", "reason"), cases(UNREADABLE))
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(tmp_path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(IngestionError, match=reason):
        parse_file(tmp_path / name, LOADERS, Chunker())


@pytest.mark.parametrize(
    ("modified", "words", "day"),
    [
        ("2026-06-09", "Kennel rates.", "2026-06-09"),
        ("2026-06-09", "Last updated: 3 May 2026", "2026-05-03"),
        ("2013-12-23", "Effective 2026-04-01", "2026-04-01"),
        ("2013-12-23", "Kennel rates.", None),  # That of the empty file of a library.
    ],
)
def test_a_document_has_the_date_that_it_states_or_else_that_of_its_file(tmp_path, modified, words, day):
    path = tmp_path / "rates.docx"
    path.write_bytes(docx(paragraph("Kennel rates") + paragraph(words), modified=f"{modified}T08:00:00Z"))
    metadata = parse_file(path, LOADERS, Chunker()).metadata
    assert (metadata.get("last_updated"), metadata.get("file_date")) == (day, None)


@settings(max_examples=60)
@given(st.data())
def test_a_damaged_pdf_is_read_or_refused_and_never_crashes(tmp_path_factory, data):
    content = bytearray(pdf("First page.", "Second page."))
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("pdf") / "x.pdf"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with suppress(IngestionError):
        parse_file(path, LOADERS, Chunker())


@pytest.mark.parametrize("load", [load_pdf, load_html, load_docx])
def test_a_file_that_is_gone_is_told(load, tmp_path):
    with pytest.raises(IngestionError, match="No such file"):
        load(tmp_path / "gone")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", 'Goods,Rate\nGold,"nil; or\nless"\n\nSilver,3\n'),
        ("x.csv", '\ufeffGoods;Rate\r\nGold;"nil; or\r\nless"\r\nSilver;3\r\n'),
        ("x.tsv", "Goods\tRate\nGold\tnil; or less\nSilver\t3\n"),
    ],
)
def test_a_file_of_values_is_read_whatever_stands_between_them(load, name, content):
    assert load(name, content).text == "| Goods | Rate |\n| --- | --- |\n| Gold | nil; or less |\n| Silver | 3 |\n"


def test_chapters_of_a_book_are_sections_in_the_order_of_reading(load):
    pages = ["<title>B</title><h1>Rates</h1><p>Nine.", "<title>Exceptions</title><p>Gold.", "<img src='x.png'>"]
    source = load("x.epub", epub(*pages, title="Tariff"))

    assert source.metadata == {"title": "Tariff", "author": "Customs", "file_date": "2026-01-31"}
    assert [(chunk.section_path, chunk.text) for chunk in chunks_of(source)] == [
        (("Rates",), "# Rates\n\nNine."),
        (("Exceptions",), "# Exceptions\n\nGold."),
    ]


def test_a_line_of_json_is_a_section_or_a_row(load):
    gold = '{"title": "Gold", "text": "Free of duty.", "url": "https://example.org"}'
    source = load("duties.jsonl", f'{gold}\n\n{{"goods": "Silver", "rate": 3}}\n')

    assert source.metadata == {"title": "Duties"}
    assert source.text.strip() == "## Gold\n\nFree of duty.\n\n- url: https://example.org\n\n- goods: Silver; rate: 3"
    assert {chunk.section for chunk in chunks_of(source)} == {"Gold"}


def test_every_ending_that_a_loader_reads_has_a_kind_for_the_page():
    assert {Path(f"x{ending}").suffix for ending in LOADERS} - KINDS.keys() == {".txt", ".text"}
