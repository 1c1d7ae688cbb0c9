"""Hostile documents of every format: a function of no arguments makes each, by its name."""

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from functools import partial

from benchmarks.documents import docx, paragraph, pdf
from tests.office_documents import eml, epub, pptx, xlsx

Files = dict[str, Callable[[], bytes]]


def pages() -> Files:
    return {
        "page_colspan.html": lambda: b"<table><tr><td colspan=2000000000>words</td></tr><tr><td>a</table>",
        "page_entities.html": lambda: (
            b"<!DOCTYPE html [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><p>words &a; &#xD800; &#0;"
        ),
        "page_entity_bomb.xhtml": lambda: entity_bomb(b"html") + b"<html><p>words &e9;</p></html>",
        "page_null_bytes.html": lambda: b"<p>wo\0rds</p>" * 1000,
        "page_utf16.html": lambda: "<p>words".encode("utf-16"),
        "page_unknown_encoding.html": lambda: b'<meta charset="x-none"><p>words \xff',
        "page_utf7.html": lambda: b'<meta charset="utf-7"><p>words +ADw-script+AD4-',
        "page_blank_lines.html": lambda: b"<pre>a" + b"\n" * 500_000 + b"b</pre>",
        "page_dashes.html": lambda: b"<p>" + b"-= " * 300_000 + b"words",
        "page_scripts.html": lambda: b"<script>" * 50_000 + b"words",
    }


def entity_bomb(root: bytes) -> bytes:
    entities = [b'<!ENTITY e0 "lol">'] + [b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 10)]
    return b'<?xml version="1.0"?><!DOCTYPE %s [%s]>' % (root, b"".join(entities))


def word_documents() -> Files:
    words, whole = paragraph("words"), _word()
    return {
        "word_no_parts.docx": lambda: zipped({}),
        "word_bomb_of_blanks.docx": lambda: changed(whole, "word/document.xml", lambda old: old + " " * 100_000_000),
        "word_deep_tables.docx": lambda: docx("<w:tbl><w:tr><w:tc>" * 5_000 + words + "</w:tc></w:tr></w:tbl>" * 5_000),
        "word_not_well_formed.docx": lambda: docx("<w:p><w:r>"),
        "word_same_entry_twice.docx": lambda: _overlapping(whole),
        "word_path_out.docx": lambda: zipped({"../../../tmp/waypoint_hostile": b"x"}),
    }


def office_documents() -> Files:
    sheet = "xl/worksheets/sheet1.xml"
    groups = "<p:grpSp>" * 20_000 + "</p:grpSp>" * 20_000
    return {
        "slides_no_parts.pptx": lambda: zipped({}),
        "slides_deep_groups.pptx": lambda: changed(
            _show(), "ppt/slides/slide1.xml", lambda old: old.replace("</p:spTree>", f"{groups}</p:spTree>")
        ),
        "sheet_bomb_of_blanks.xlsx": lambda: changed(_book(), sheet, lambda old: old + " " * 100_000_000),
        "sheet_far_cell.xlsx": lambda: changed(
            _book(), sheet, lambda old: old.replace('r="1"', 'r="1048576"').replace('r="A1"', 'r="XFD1048576"')
        ),
        "sheet_false_size.xlsx": lambda: changed(
            _book(), sheet, lambda old: old.replace('ref="A1:A1"', 'ref="A1:XFD1048576"')
        ),
        "sheet_strings_bomb.xlsx": lambda: changed(
            _book(),
            sheet,
            lambda old: old.replace("</row>", '<c t="inlineStr"><is><t>x</t></is></c>' * 100_000 + "</row>"),
        ),
        "sheet_formula.xlsx": lambda: xlsx({"Words": [["words", '=HYPERLINK("file:///etc/passwd")']]}),
        "values_long_field.csv": lambda: b'a,b\n"' + b"words " * 500_000 + b'",1\n',
        "values_null_bytes.csv": lambda: b"a,b\n\0,words\n",
        "lines_deep.jsonl": lambda: b'{"text": ' + b"[" * 500_000,
        "lines_same_name.jsonl": lambda: b"{" + b'"text": "words", ' * 100_000 + b'"text": "words"}',
        "lines_half_characters.jsonl": lambda: b'{"text": "words \\ud800 \\u0000", "\\ud800": "x"}',
        "mail_unknown_charset.eml": lambda: b"Content-Type: text/plain; charset=x-none\n\nwords \xff",
        "mail_false_base64.eml": lambda: b"Content-Transfer-Encoding: base64\n\n!!!words",
        "mail_false_date.eml": lambda: eml("words", Subject="x").replace(b"Subject: x", b"Date: 99 Foo 9999 99:99"),
        "book_no_parts.epub": lambda: zipped({"mimetype": b"application/epub+zip"}),
        "book_path_out.epub": lambda: changed(
            _epub(), "OEBPS/book.opf", lambda old: old.replace("text/c%200.xhtml", "../../../../etc/passwd")
        ),
    }


def _show() -> bytes:
    return pptx(("Rate", "words"))


def _book() -> bytes:
    return xlsx({"Words": [["words"]]})


def _epub() -> bytes:
    return epub("<h1>Words</h1><p>words", title="Guide")


def _word() -> bytes:
    return docx(paragraph("words"))


# A document that is an archive, one of its parts, the root of that, and words in it which an entity is added to.
ENTITIES: dict[str, tuple[Callable[[], bytes], str, str, str]] = {
    "word_{}.docx": (_word, "word/document.xml", "w:document", "words"),
    "word_title_{}.docx": (_word, "docProps/core.xml", "cp:coreProperties", "<dc:title>"),
    "slides_{}.pptx": (_show, "ppt/slides/slide1.xml", "p:sld", "words"),
    "sheet_{}.xlsx": (_book, "xl/worksheets/sheet1.xml", "worksheet", "words"),
    "book_{}.epub": (_epub, "OEBPS/book.opf", "package", "Guide"),
}


def entities() -> Files:
    """Return the documents with an entity that grows without end, and with one that stands for another file."""
    bombs: Files = {name.format("entity_bomb"): partial(_with_entity, *of, "&e9;") for name, of in ENTITIES.items()}
    return bombs | {name.format("entity_file"): partial(_with_entity, *of, "&f;") for name, of in ENTITIES.items()}


def _with_entity(document: Callable[[], bytes], part: str, root: str, words: str, entity: str) -> bytes:
    outside = f'<!DOCTYPE {root} [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    head = outside if entity == "&f;" else entity_bomb(root.encode()).decode()

    def change(old: str) -> str:
        body = old.partition("?>")[2] if old.startswith("<?xml") else old  # Its declaration would stand second.
        return head + body.replace(words, words + entity)

    return changed(document(), part, change)


def zipped(parts: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def changed(document: bytes, part: str, change: Callable[[str], str]) -> bytes:
    """Return an archive with other words in a part of it, which may be new."""
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return zipped(parts | {part: change(parts.get(part, b"").decode()).encode()})


def _overlapping(document: bytes) -> bytes:
    """Return an archive whose directory lists its first entry 5,000 times."""
    end = document.rindex(b"PK\x05\x06")
    start = int.from_bytes(document[end + 16 : end + 20], "little")
    first = document[start : document.index(b"PK\x01\x02", start + 4)]
    directory = first * 5_000
    tail = bytearray(document[end:])
    tail[8:12] = (5_000).to_bytes(2, "little") * 2
    tail[12:16] = len(directory).to_bytes(4, "little")
    return document[:start] + directory + bytes(tail)


def pdfs() -> Files:
    whole = pdf("words")
    return {
        "pdf_empty.pdf": lambda: b"",
        "pdf_no_pdf.pdf": lambda: b"<html>Not found</html>",
        "pdf_cut_off.pdf": lambda: whole[: len(whole) // 2],
        "pdf_header_only.pdf": lambda: b"%PDF-1.7\n",
        "pdf_password.pdf": lambda: pdf("words", password="a word"),
        "pdf_no_text.pdf": lambda: pdf(""),
        "pdf_stream_bomb.pdf": lambda: _pdf(contents=_stream(_blanks())),
        "pdf_stream_bomb_twice.pdf": lambda: _pdf(
            contents=_stream(zlib.compress(_blanks(), 9), filters="[/FlateDecode /FlateDecode]")
        ),
        "pdf_text_bomb.pdf": lambda: _pdf(
            contents=_stream(zlib.compress(b"BT /F1 12 Tf " + b"(words) Tj T* " * 3_000_000 + b"ET"))
        ),
        "pdf_predictor.pdf": lambda: _pdf(
            contents=_stream(zlib.compress(b"x"), more="/DecodeParms <</Predictor 15 /Columns 2000000000>>")
        ),
        "pdf_run_length.pdf": lambda: _pdf(contents=_stream(b"\x81a" * 2_000_000, filters="/RunLengthDecode")),
        "pdf_lzw.pdf": lambda: _pdf(
            contents=_stream(b"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01" * 10_000, filters="/LZWDecode")
        ),
        "pdf_ascii_hex.pdf": lambda: _pdf(contents=_stream(b"41" * 2_000_000, filters="/ASCIIHexDecode")),
        "pdf_many_filters.pdf": lambda: _pdf(contents=_stream(b"x", filters="[" + "/ASCIIHexDecode " * 10_000 + "]")),
        "pdf_deep_array.pdf": lambda: _pdf(contents=_stream(zlib.compress(b"BT " + b"[" * 100_000 + b" TJ ET"))),
        "pdf_deep_dictionary.pdf": lambda: _pdf(page="/X " + "<</X " * 20_000 + "1" + ">>" * 20_000),
        "pdf_long_number.pdf": lambda: _pdf(page="/Rotate " + "9" * 100_000),
        "pdf_pages_loop.pdf": lambda: _pdf(kids="2 0 R"),
        "pdf_pages_many.pdf": lambda: _pdf(kids="3 0 R " * 200_000),
        "pdf_pages_count.pdf": lambda: _pdf(count=2_000_000_000),
        "pdf_pages_deep.pdf": lambda: _deep_pages(3_000),
        "pdf_contents_many.pdf": lambda: _pdf(contents=None, page="/Contents [" + "5 0 R " * 200_000 + "]"),
        "pdf_form_in_itself.pdf": _form_in_itself,
        "pdf_reference_loop.pdf": lambda: _pdf(page="/Contents 3 0 R"),
        "pdf_font_bomb.pdf": _font_bomb,
        "pdf_stream_length.pdf": lambda: _pdf(contents=_stream(b"x", length=2_000_000_000)),
        "pdf_xref_loop.pdf": lambda: whole.replace(b"trailer\n<<", b"trailer\n<<\n/Prev 0") + b"\nstartxref\n0\n%%EOF",
        "pdf_object_stream.pdf": _object_stream,
        "pdf_garbage_after_header.pdf": lambda: b"%PDF-1.7\n" + bytes(range(256)) * 8_000,
    }


def _blanks() -> bytes:
    return zlib.compress(b" " * 200_000_000, 9)


def _pdf(*, contents: bytes | None = b"", page: str = "", kids: str = "3 0 R", count: int = 1) -> bytes:
    """Return a PDF of one page, as its parts are given."""
    objects = {
        1: b"<</Type /Catalog /Pages 2 0 R>>",
        2: f"<</Type /Pages /Kids [{kids}] /Count {count}>>".encode(),
        3: f"<</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources <</Font <</F1 4 0 R>>>> {page}".encode()
        + (b" /Contents 5 0 R>>" if contents is not None else b">>"),
        4: b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>",
        5: contents or _stream(zlib.compress(b"BT /F1 12 Tf (words) Tj ET")),
    }
    return _assembled(objects)


def _assembled(objects: Mapping[int, bytes]) -> bytes:
    file, places = io.BytesIO(), {}
    file.write(b"%PDF-1.7\n")
    for number, content in objects.items():
        places[number] = file.tell()
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    start = file.tell()
    file.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for number in sorted(objects):
        file.write(b"%010d 00000 n \n" % places[number])
    file.write(b"trailer\n<</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start))
    return file.getvalue()


def _stream(content: bytes, *, filters: str = "/FlateDecode", more: str = "", length: int | None = None) -> bytes:
    size = len(content) if length is None else length
    return f"<</Length {size} /Filter {filters} {more}>>\nstream\n".encode() + content + b"\nendstream"


def _deep_pages(depth: int) -> bytes:
    objects = {1: b"<</Type /Catalog /Pages 2 0 R>>"}
    for number in range(2, depth + 2):
        objects[number] = f"<</Type /Pages /Kids [{number + 1} 0 R] /Count 1>>".encode()
    objects[depth + 2] = b"<</Type /Page /MediaBox [0 0 9 9]>>"
    return _assembled(objects)


def _form_in_itself() -> bytes:
    form = zlib.compress(b"/X Do /X Do")
    more = "/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources <</XObject <</X 5 0 R>>>>"
    return _pdf(contents=_stream(form, more=more), page="/Resources <</XObject <</X 5 0 R>>>>")


def _font_bomb() -> bytes:
    cmap = b"1 beginbfrange\n<0000> <FFFF> <0000>\n" * 3_000 + b"endbfrange"
    objects = {
        1: b"<</Type /Catalog /Pages 2 0 R>>",
        2: b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
        3: b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources <</Font <</F1 4 0 R>>>> /Contents 5 0 R>>",
        4: b"<</Type /Font /Subtype /Type0 /BaseFont /X /ToUnicode 6 0 R /Encoding /Identity-H>>",
        5: _stream(zlib.compress(b"BT /F1 12 Tf <0041> Tj ET")),
        6: _stream(zlib.compress(cmap)),
    }
    return _assembled(objects)


def _object_stream() -> bytes:
    header = b" ".join(b"%d 0" % number for number in range(10, 50_010))
    content = zlib.compress(header + b" <</Type /ObjStm>>" + b" " * 100_000_000, 9)
    more = f"/Type /ObjStm /N 50000 /First {len(header) + 1}"
    return _pdf(contents=_stream(content, more=more))
