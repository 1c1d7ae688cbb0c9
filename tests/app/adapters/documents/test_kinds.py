"""Files as people have them: what each kind keeps, and what of it nobody sees and is left out."""

import pytest
from fpdf import FPDF

from app.adapters.documents.worker import LOADERS
from benchmarks.documents import docx, heading, paragraph
from tests.office_documents import xlsx

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
        ("a.html", b"<h1>T</h1><form><div>The pool opens at nine.</div></form>", "opens at nine", ""),
        ("a.html", b"<h1>T</h1><p>Words.<form><label>Search <input></label></form>", "Words", "Search"),
        ("a.html", OPENED.encode(), "How long?\n\n28 days", ""),
        ("a.html", b"<h1>T</h1><button class=faq-question>Who pays?</button><div>Ann.</div>", "Who pays?\n\nAnn.", ""),
        ("a.html", b"<h1>T</h1><p>Words.<p hidden>It costs 900 euro a year.", "Words", "900"),
        ("a.html", b"<h1>T</h1><p>Words.<p style='color:#fff; background:#fff'>It costs 900.", "Words", "900"),
        ("a.html", b"<a href='MAILTO:Desk@bank.example?subject=x'>Desk</a>", "Desk (Desk@bank.example)", ""),
        ("a.html", b"<h1>T</h1><p><a href='sms:+4977'>Write</a>", "Write (+4977)", ""),
        ("a.md", b"# T\n\n> [!note] Wind limit\n> Stop at 54.\n", "> Wind limit:\n> Stop at 54.", "[!note]"),
        ("a.md", b'# T\n\n!!! warning "Wind"\n    Stop at 54.\n', "Wind:\n    Stop at 54.", "!!!"),
        ("a.md", b"# T\n\n:::tip\nStop at 54.\n:::\n", "\nStop at 54.", ":::"),
        ("a.txt", GERMAN.encode("utf-16-le"), GERMAN, ""),
        ("a.txt", GERMAN.encode("utf-16-be"), GERMAN, ""),
        ("a.csv", b"Report;\nYear;2025\nTeam;Wins;Losses\nReds;10;2\nBlues;7;5\n", "| Team | Wins | Losses |", ""),
        ("a.csv", b"Founded,1921\nStaff,40\nSite,https://bank.example\n", "- Founded: 1921\n- Staff: 40", ""),
        ("a.xlsx", xlsx({"S": ABOUT}), "By: Sam\nFor: Ann\n\n| Drug | Dose | Way |", ""),
        ("a.docx", docx(paragraph("Words.") + IN_STYLE, more={"word/styles.xml": HIDDEN_STYLE}), "Words.", "900"),
        ("a.pdf", covered(behind=False), "50 euro", "900"),
        ("a.pdf", covered(behind=True), "It costs 900.", ""),
        ("a.pdf", lines("A late film costs one euro a", "day, and is noted."), "one euro a\nday, and is noted.", ""),
        ("a.pdf", lines("A state-of-the-", "art lab for twenty-", "five pupils.", step=5), "A state-of-the-art", ""),
    ],
)  # fmt: skip
def test_what_a_reader_sees_is_kept_and_nothing_else(tmp_path, name, content, kept, gone):
    path = tmp_path / name
    path.write_bytes(content)
    text = "\n".join(line.rstrip() for line in LOADERS[path.suffix](path).text.split("\n"))
    assert kept in text
    assert not gone or gone not in text


@pytest.mark.parametrize("title", ["Microsoft Word - guide.tmp", "[Company name]", "Document1"])
def test_a_title_that_a_program_wrote_gives_way_to_the_first_heading(tmp_path, title):
    (tmp_path / "a.docx").write_bytes(docx(heading("Pool guide", 1) + paragraph("Words."), title=title))
    assert LOADERS[".docx"](tmp_path / "a.docx").metadata["title"] == "Pool guide"
