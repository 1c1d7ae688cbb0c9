"""Small PDF and Word files for tests, made of what the formats are made of."""

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from fpdf import FPDF, XPos, YPos
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject, StreamObject

from chains.ingestion.tables import Cell

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"


def pdf(*pages: str, metadata: dict[str, str] | None = None, password: str | None = None) -> bytes:
    """Return a PDF whose pages hold these lines; an empty page holds no text."""
    writer = PdfWriter()
    for text in pages:
        page = writer.add_blank_page(612, 792)
        names = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
        font = DictionaryObject({NameObject(name): NameObject(value) for name, value in names.items()})
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        content = DecodedStreamObject()
        content.set_data(_page_content(text.splitlines()).encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(content)
    if metadata:
        writer.add_metadata(metadata)
    if password is not None:
        writer.encrypt(password, "owner", algorithm="RC4-128")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def heavy_pdf(words: str, *, paths: int = 750_000) -> bytes:
    """Return a PDF of a page whose many paths take far longer to draw than to read: two operators each, 180 kB."""
    writer = PdfWriter()
    writer.append(io.BytesIO(pdf(words)))
    content = StreamObject()
    drawn = b"0.1 w\n" + b"0 0 m 612 792 l S\n" * paths
    content._data = zlib.compress(drawn + _page_content([words]).encode("latin-1"))
    content[NameObject("/Filter")] = NameObject("/FlateDecode")
    writer.pages[0][NameObject("/Contents")] = writer._add_object(content)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def _page_content(lines: Sequence[str]) -> str:
    shown = " ".join(f"({line}) Tj T*" for line in lines)
    return f"BT /F1 12 Tf 14 TL 72 720 Td {shown} ET" if lines else ""


def laid_out_pdf(*pages: Sequence[str], by_column: bool = False) -> bytes:
    """Return a PDF of these lines: `# ` begins a bold heading, `| ` a row of a table; tables may be drawn by column."""
    document = FPDF()
    for lines in pages:
        document.add_page()
        rows = [line.removeprefix("| ").split(" | ") for line in lines if line.startswith("| ")]
        for column in range(max(map(len, rows), default=0)) if by_column else ():
            for place, row in enumerate(rows):
                document.set_font("Times", "", 10)
                document.text(20 + 60 * column, 20 + 6 * place, row[column])
        for line in lines if not by_column else ():
            document.set_font("Times", "B" if line.startswith("# ") else "", 10)
            document.multi_cell(0, 6, line.removeprefix("# "), new_x=XPos.LMARGIN, new_y=YPos.NEXT)
            document.ln(2)
    return bytes(document.output())


def docx(body: str, *, title: str = "", modified: str = "", more: Mapping[str, str] | None = None) -> bytes:
    """Return a Word document of what `heading`, `paragraph` and `table` make; `more` are further parts."""
    core = (
        f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        f"<dc:title>{title}</dc:title><dcterms:modified>{modified}</dcterms:modified></cp:coreProperties>"
    )
    parts = {
        "[Content_Types].xml": (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>'
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships">'
            f'<Relationship Id="r1" Type="{_OFFICE}" Target="word/document.xml"/></Relationships>'
        ),
        "docProps/core.xml": core,
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in {**parts, **(more or {})}.items():
            archive.writestr(name, text)
    return file.getvalue()


def heading(text: str, level: int) -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="Heading{level}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def table(*rows: Sequence[str]) -> str:
    """Return a table; its first row is the header."""
    cells = ["".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows]
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"


def merged_table(cells: Sequence[tuple[int, int, Cell]]) -> str:
    """Return a table of cells at their rows and columns, each over as many rows and columns as it spans."""
    count = max((row + cell.rows for row, _, cell in cells), default=0)
    rows: list[dict[int, str]] = [{} for _ in range(count)]
    for number, column, cell in cells:
        for down in range(cell.rows):
            merge = f'<w:vMerge w:val="{"continue" if down else "restart"}"/>' if cell.rows > 1 else ""
            words = paragraph("" if down else escape(cell.text))
            rows[number + down][column] = (
                f'<w:tc><w:tcPr><w:gridSpan w:val="{cell.columns}"/>{merge}</w:tcPr>{words}</w:tc>'
            )
    lines = ("".join(row[column] for column in sorted(row)) for row in rows)
    return "<w:tbl>" + "".join(f"<w:tr>{line}</w:tr>" for line in lines) + "</w:tbl>"
