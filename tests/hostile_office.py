"""Hostile presentations, workbooks, e-mails, books and JSON lines; a function of no arguments makes each."""

from tests.hostile_formats import OUTSIDE, Files, changed, entity_bomb, zipped
from tests.office_documents import eml, epub, pptx, xlsx


def office_documents() -> Files:
    return {**_slides(), **_workbooks(), **_values(), **_emails(), **_books()}


def _slides() -> Files:
    slide = "ppt/slides/slide1.xml"
    return {
        "slides_no_parts.pptx": lambda: zipped({}),
        "slides_entity_bomb.pptx": lambda: changed(
            _show(), slide, lambda old: entity_bomb(b"p:sld").decode() + _body(old).replace("words", "&e9;")
        ),
        "slides_entity_file.pptx": lambda: changed(
            _show(), slide, lambda old: OUTSIDE.replace("x [", "p:sld [") + _body(old).replace("words", "words &f;")
        ),
        "slides_deep_groups.pptx": lambda: changed(
            _show(), slide, lambda old: old.replace("</p:spTree>", _nested("p:grpSp", 20_000) + "</p:spTree>")
        ),
    }


def _workbooks() -> Files:
    sheet = "xl/worksheets/sheet1.xml"
    return {
        "sheet_bomb_of_blanks.xlsx": lambda: changed(_book(), sheet, lambda old: old + " " * 100_000_000),
        "sheet_far_cell.xlsx": lambda: changed(
            _book(), sheet, lambda old: old.replace('r="1"', 'r="1048576"').replace('r="A1"', 'r="XFD1048576"')
        ),
        "sheet_false_size.xlsx": lambda: changed(
            _book(), sheet, lambda old: old.replace('ref="A1"', 'ref="A1:XFD1048576"')
        ),
        "sheet_entity_bomb.xlsx": lambda: changed(
            _book(), sheet, lambda old: entity_bomb(b"worksheet").decode() + _body(old).replace("<v>", "<v>&e9;")
        ),
        "sheet_strings_bomb.xlsx": lambda: changed(
            _book(),
            "xl/sharedStrings.xml",
            lambda old: old.replace("</sst>", "<si><t>x</t></si>" * 1_500_000 + "</sst>"),
        ),
        "sheet_formula.xlsx": lambda: xlsx({"Words": [["words", '=HYPERLINK("file:///etc/passwd")']]}),
    }


def _values() -> Files:
    return {
        "values_long_field.csv": lambda: b'a,b\n"' + b"words " * 500_000 + b'",1\n',
        "values_null_bytes.csv": lambda: b"a,b\n\0,words\n",
        "lines_deep.jsonl": lambda: b'{"text": ' + b"[" * 500_000,
        "lines_same_name.jsonl": lambda: b"{" + b'"text": "words", ' * 100_000 + b'"text": "words"}',
        "lines_half_characters.jsonl": lambda: b'{"text": "words \\ud800 \\u0000", "\\ud800": "x"}',
    }


def _emails() -> Files:
    return {
        "mail_unknown_charset.eml": lambda: b"Content-Type: text/plain; charset=x-none\n\nwords \xff",
        "mail_false_base64.eml": lambda: b"Content-Transfer-Encoding: base64\n\n!!!words",
        "mail_false_date.eml": lambda: eml("words", Subject="x").replace(b"Subject: x", b"Date: 99 Foo 9999 99:99"),
    }


def _books() -> Files:
    package = "OEBPS/book.opf"
    return {
        "book_no_parts.epub": lambda: zipped({"mimetype": b"application/epub+zip"}),
        "book_path_out.epub": lambda: changed(
            _epub(), package, lambda old: old.replace("text/c%200.xhtml", "../../../../etc/passwd")
        ),
        "book_entity_bomb.epub": lambda: changed(
            _epub(), package, lambda old: entity_bomb(b"package").decode() + old.replace("Guide", "&e9;")
        ),
        "book_entity_file.epub": lambda: changed(
            _epub(), package, lambda old: OUTSIDE.replace("x [", "package [") + old.replace("Guide", "&f;")
        ),
    }


def _show() -> bytes:
    return pptx(("Rate", "words"))


def _book() -> bytes:
    return xlsx({"Words": [["words"]]})


def _epub() -> bytes:
    return epub("<h1>Words</h1><p>words", title="Guide")


def _body(document: str) -> str:
    """Return an XML document without its declaration, so that a document type may stand before it."""
    return document.partition("?>")[2] if document.startswith("<?xml") else document


def _nested(tag: str, depth: int) -> str:
    return f"<{tag}>" * depth + f"</{tag}>" * depth
