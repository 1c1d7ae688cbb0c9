import pytest

from app.adapters.documents.pdf import load_pdf
from app.adapters.documents.pdf_headings import headings, report_title, without_running
from app.adapters.documents.pdf_lines import Line, Piece
from benchmarks.documents import laid_out_pdf
from chains.ingestion.chunks import Chunker

WORDS = "These are the words of a paragraph, which is set in the size that most of the text has."


def line(text: str, *, size: float = 10, bold: bool = False, top: float = 500) -> Line:
    return Line(text, size, bold, left=60, bottom=top - size, right=400, top=top)


def page(*lines: Line) -> list[Line]:
    """Return the lines, one below the other."""
    return [one._replace(top=700 - 20 * place, bottom=690 - 20 * place) for place, one in enumerate(lines)]


@pytest.mark.parametrize(
    "found",
    [
        line("Results of Operations", bold=True),
        line("Results of operations in 2022", size=14),
        line("CONSOLIDATED BALANCE SHEETS"),
        line("Item 7A. Market Risk.", bold=True),
    ],
)
def test_a_line_that_stands_out_is_a_heading(found):
    assert [one.text for one in headings([page(line(WORDS), found, line(WORDS))])] == [found.text]


@pytest.mark.parametrize(
    "other",
    [
        line("Total assets 4,321 4,123", bold=True),
        line("2022 2021 2020", bold=True),
        line("This sentence is bold and ends with a full stop.", bold=True),
        line("Item 7. Management's Discussion 24", bold=True),
        line("Region Owned Leased", bold=True)._replace(pieces=(Piece("Region", 60, 0, 90, 10),)),
        line("USA"),
        line("and the rest of a sentence", bold=True),
        line("☒ Annual report under section 13", bold=True),
        line("• Revenue rose in all regions", size=14),
    ],
)
def test_what_stands_out_and_does_not_read_like_a_heading_is_none(other):
    assert headings([page(line(WORDS), other, line(WORDS))]) == []


def test_a_bold_label_below_a_row_of_amounts_belongs_to_the_table():
    rows = [line("Cash 1,234 1,200", top=500), line("Liabilities", bold=True, top=489), line(WORDS, top=470)]

    assert headings([rows]) == []


def test_of_headings_of_one_size_the_numbered_ones_stand_above_the_others():
    shown = ["PART I", "Item 1. Business", "OUR PRODUCTS", "Note 2. Revenue", "Seasons"]
    lines = [one for text in shown for one in (line(text, bold=True), line(WORDS))]

    assert [(one.text, one.level) for one in headings([page(*lines)])] == [(text, n) for n, text in enumerate(shown, 1)]


def test_an_italic_heading_stands_below_the_upright_ones_of_its_size():
    shown = [line("Results", bold=True), line("OVERVIEW", bold=True)._replace(italic=True), line("Seasons", bold=True)]
    lines = [one for heading in shown for one in (heading, line(WORDS))]

    assert [one.level for one in headings([page(*lines)])] == [1, 2, 1]


def test_two_lines_of_a_heading_are_one():
    lines = [line("Management's Discussion", bold=True, top=500), line("and Analysis", bold=True, top=489), line(WORDS)]

    assert [one.text for one in headings([lines])] == ["Management's Discussion and Analysis"]


def test_running_heads_and_page_numbers_are_left_out_and_rows_of_amounts_stay():
    pages = [
        page(line("ACME | 2022 Annual Report"), line(f"Amounts {n}5 {n}7"), line(WORDS + "abcde"[n]), line(f"- {n} -"))
        for n in (1, 2, 3, 4)
    ]

    kept = [[one.text for one in lines] for lines in without_running(pages)]
    assert kept[0][:2] == ["ACME | 2022 Annual Report", "Amounts 15 17"]  # What others repeat may be the title here.
    assert kept[1:] == [[f"Amounts {n}5 {n}7", WORDS + "abcde"[n]] for n in (2, 3, 4)]


def test_a_page_of_nothing_but_running_heads_stays():
    pages = [page(line("Appendix"), line(str(number))) for number in (1, 2, 3)]

    assert without_running(pages)[1:] == pages[1:]


def test_sections_of_a_pdf_go_on_over_its_pages(tmp_path):
    file = tmp_path / "report.pdf"
    file.write_bytes(
        laid_out_pdf(["# Revenue", WORDS, "# Costs", WORDS], ["The second page goes on.", "# Outlook", WORDS])
    )
    chunks = Chunker(size=800).split(load_pdf(file))

    assert [(chunk.page, chunk.section) for chunk in chunks] == [
        (1, "Revenue"),
        (1, "Costs"),
        (2, "Costs"),
        (2, "Outlook"),
    ]
    assert chunks[0].text.startswith("Revenue\n")


def test_what_the_title_says_is_no_section(tmp_path):
    file = tmp_path / "acme.pdf"
    file.write_bytes(laid_out_pdf(["# ACME", WORDS, "# Costs", WORDS]))

    assert [chunk.section for chunk in Chunker(size=800).split(load_pdf(file))] == ["", "Costs"]


def test_what_the_cover_of_a_report_shows_large_is_no_section(tmp_path):
    file = tmp_path / "acme.pdf"
    cover = ["# SECURITIES AND EXCHANGE COMMISSION", "Form 10-K", "For the year ended June 30, 2022", "ACME CORP"]
    file.write_bytes(laid_out_pdf([*cover, "(Exact name of registrant)"], [WORDS, "# Costs", WORDS]))
    source = load_pdf(file)

    assert source.metadata["title"] == "ACME CORP 2022 10-K"
    assert [heading.text for heading in source.headings] == ["Costs"]


COVER = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
FORM {form}
For the {period} ended September 30, 2023
ACME HOLDINGS, INC.
(Exact name of registrant as specified in its charter)
Delaware"""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (COVER.format(form="10-K", period="fiscal year"), "ACME HOLDINGS, INC. 2023 10-K"),
        (COVER.format(form="10-Q", period="quarterly period"), "ACME HOLDINGS, INC. 2023 10-Q"),
        (
            COVER.replace("ACME", "File 001 ______ ACME").format(form="10-K", period="year"),
            "ACME HOLDINGS, INC. 2023 10-K",
        ),
        ("Form 12\nThe year ended March 31, 2023", ""),
        ("", ""),
    ],
)
def test_the_cover_of_a_report_names_company_year_and_form(text, title):
    assert report_title(text) == title
