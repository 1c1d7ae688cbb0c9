"""Lay out a report in markup as a PDF with running heads and page numbers, in one of three styles."""

import re
from datetime import UTC, datetime
from pathlib import Path

from fpdf import FPDF, XPos, YPos

from benchmarks.filings.company import Company

BOTTOM = 18.0
AMOUNT_WIDTH, WORDS_WIDTH = 26.0, 55.0
LONGEST_AMOUNT = 14
HEADING = re.compile(r"(#{1,3}) (.+)")
# By level: the size in points and whether it is bold. Filings have headings of one size, as most 10-K reports.
HEADINGS = {
    "filing": ((10.0, "B"), (10.0, "B"), (10.0, "BI")),
    "typeset": ((18.0, "B"), (13.0, "B"), (10.0, "B")),
    "plain": ((10.0, ""), (10.0, ""), (10.0, "U")),
}
FONTS = {"filing": ("Times", 10.0), "typeset": ("Helvetica", 9.0), "plain": ("Times", 10.0)}


class Report(FPDF):
    """A PDF that repeats what each style repeats on every page but the first."""

    def __init__(self, company: Company) -> None:
        super().__init__(format="letter")
        self.company = company
        self.family, self.points = FONTS[company.style]
        self.set_creation_date(datetime(company.year + 1, 2, 20, tzinfo=UTC))
        self.set_auto_page_break(auto=True, margin=BOTTOM)
        self.set_margins(20, 18)
        self.body()

    def body(self) -> None:
        """Go back to the font of the text."""
        self.set_font(self.family, "", self.points)

    def header(self) -> None:
        """Write what stands on top of each page."""
        if self.page_no() == 1:
            return
        company = self.company
        heads = {
            "filing": "Table of Contents",
            "typeset": f"{company.name}   |   {company.year} Annual Report",
            "plain": f"{company.short.upper()} - FORM 10-K - {company.year}",
        }
        self.set_font(self.family, "B" if company.style == "typeset" else "", 8)
        self.cell(0, 5, heads[company.style], new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.ln(3)
        self.body()

    def footer(self) -> None:
        """Write the number of the page."""
        self.set_y(-14)
        self.set_font(self.family, "", 8)
        number = {"filing": "{}", "typeset": "{} " + self.company.short, "plain": "- {} -"}[self.company.style]
        self.cell(0, 5, number.format(self.page_no()), align="C")
        self.body()

    def write_line(self, line: str) -> None:
        """Write one element of the markup."""
        if line == "- - -":
            self.add_page()
        elif found := HEADING.fullmatch(line):
            self.write_heading(len(found[1]), found[2])
        elif line.startswith("^ "):
            self.multi_cell(0, 6, line[2:], align="C", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        elif line.startswith("|"):
            self.write_row(line.strip("| ").split(" | "), head=line.startswith("||"))
        else:
            self.multi_cell(0, self.points / 2, line, new_x=XPos.LMARGIN, new_y=YPos.NEXT)
            self.ln(2)

    def write_heading(self, level: int, text: str) -> None:
        """Write a heading, on the next page where nothing would stand below it."""
        points, style = HEADINGS[self.company.style][level - 1]
        if self.will_page_break(points + 10):
            self.add_page()
        self.ln(2)
        self.set_font(self.family, style, points)
        shown = text.upper() if self.company.style == "plain" and level < 3 else text
        self.multi_cell(0, points * 0.6, shown, new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.ln(1)
        self.body()

    def write_row(self, cells: list[str], *, head: bool) -> None:
        """Write a row of a table: its label, and its amounts to the right."""
        if self.will_page_break(5):
            self.add_page()
        self.set_font(self.family, "B" if head and self.company.style != "plain" else "", self.points)
        column = AMOUNT_WIDTH if max(map(len, cells[1:])) <= LONGEST_AMOUNT else WORDS_WIDTH
        label = self.epw - column * (len(cells) - 1)
        for place, cell in enumerate(cells):
            self.cell(column if place else label, 5, cell.strip(), align="R" if place else "L")
        self.ln(5)
        self.body()


def write_report(company: Company, markup: str, file: Path) -> None:
    """Write the PDF of a report."""
    report = Report(company)
    report.add_page()
    for line in filter(None, map(str.strip, markup.splitlines())):
        report.write_line(line)
    report.output(str(file))
