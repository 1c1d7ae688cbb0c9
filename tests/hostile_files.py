"""Files that an attacker would hand to an ingestion: bombs, damaged formats, false encodings, what is no file at all.

`write_hostile_files(folder)` writes them all; every name says what it is. None of them may end an ingestion, take more
than its limits, or keep `GOOD_FILE` out of the index.
"""

import io
import os
import socket
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.documents import docx, heading, paragraph, pdf, table

GOOD_FILE = "good.md"
_WORDS = b"\n---\n\n# Words\n\nThe rate is nine percent.\n"


def write_hostile_files(folder: Path) -> list[str]:
    """Write every hostile file and one good one; return the names of the hostile ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in _regular_files().items():
        (folder / name).write_bytes(content)
    os.mkfifo(folder / "pipe.md")
    (folder / "link_loop.md").symlink_to("link_loop.md")
    (folder / "link_out.md").symlink_to("/etc/passwd")
    (folder / "link_to_device.md").symlink_to("/dev/zero")
    (folder / "link_to_nothing.md").symlink_to("nowhere.md")
    (folder / "loop_of_folders").mkdir()
    (folder / "loop_of_folders" / "up.md").symlink_to("..")
    (folder / os.fsdecode(b"caf\xe9.md")).write_bytes(b"words")
    (folder / "folder.md").mkdir()
    _bind(folder / "socket.md")
    (folder / GOOD_FILE).write_text("# Good\n\nThe good file is indexed.\n")
    return sorted(path.name for path in folder.iterdir() if path.name != GOOD_FILE)


def _bind(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # A socket's path may not be longer than 107 bytes.
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(before)


def _regular_files() -> Mapping[str, bytes]:
    return {**_front_matters(), **_texts(), **_pages(), **_word_documents(), **_pdfs()}


def _front_matters() -> dict[str, bytes]:
    values = {
        "impossible_date": b"last_updated: 2024-02-30",
        "impossible_time": b"last_updated: 25:00:00",
        "year_zero": b"last_updated: 0000-00-00",
        "empty_hexadecimal": b"title: 0x_",
        "typed_integer": b"title: !!int x",
        "typed_binary": b"title: !!binary x",
        "python_object": b"title: !!python/object/apply:os.system [id]",
        "half_a_character": b'title: "\\ud800"',
        "null_character": b'title: "a\\0b"',
        "terminal_escape": b'title: "\\e]0;x\\a\\e[31mred"',
        "line_separator": b'title: "a\\Lb\\Pc\\N"',
        "recursive_list": b"title: &a [*a]",
        "recursive_map": b"title: &a {x: *a}",
        "recursive_key": b"? &a [*a]\n: x",
        "deep_brackets": b"title: " + b"[" * 15_000,
        "deep_braces": b"title: " + b"{a: " * 4_000,
        "deep_indent": b"\n".join(b" " * level + b"a:" for level in range(170)),
        "many_digits": b"title: " + b"9" * 5_000,
        "many_digits_octal": b"title: 0" + b"7" * 5_000,
        "infinity": b"title: .inf\nlast_updated: .nan",
        "alias_bomb": _alias_bomb(),
        "merge_bomb": b"a: &a {x: 1}\nb: &b {<<: [*a, *a, *a]}\n<<: [*b, *b, *b]",
        "many_keys": b"\n".join(b"k%d: v" % number for number in range(1_500)),
        "same_key": b"title: a\ntitle: b",
        "list_for_a_title": b"title: [a, {b: c}, [d]]",
        "map_for_urls": b"source_urls: {url: {url: x}}",
        "huge": b"title: " + b"x" * 5_000_000,
        "long_title": b"title: " + b"x " * 7_000,
        "long_anchor": b"title: &" + b"a" * 15_000 + b" x",
        "two_documents": b"title: a\n... \n%YAML 9.9\n--- b",
        "tabs": b"title:\n\t- a",
        "wrong_closing": b"title: 'a",
        "comment_only": b"# " + b"x" * 15_000,
        "directive": b"%TAG ! tag:x,2000:\ntitle: !x y",
    }
    files = {f"front_matter_{name}.md": b"---\n" + value + _WORDS for name, value in values.items()}
    return files | {
        "front_matter_never_closed.md": b"---\ntitle: x\n" + b"words\n" * 100_000,
        "front_matter_only.md": b"---\ntitle: x\n---\n",
        "front_matter_no_utf8.md": b"---\ntitle: \xff\xfe" + _WORDS,
    }


def _alias_bomb() -> bytes:
    lines = [b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 9)]
    return b"\n".join([*lines, b"title: *a8"])


def _texts() -> dict[str, bytes]:
    return {
        "empty.md": b"",
        "blanks.md": b" \n\t\r\n" * 1000,
        "null_bytes.md": b"# T\n\nwords\0words",
        "only_null_bytes.txt": b"\0" * 100_000,
        "utf16.md": "# T\n\nWords.".encode("utf-16"),
        "utf32.txt": "Words.".encode("utf-32"),
        "latin1.md": "# T\n\nGebühr".encode("latin-1"),
        "half_a_character.txt": b"Words \xed\xa0\x80 words.",
        "overlong_utf8.txt": b"Words \xc0\xaf words.",
        "byte_order_marks.txt": b"\xef\xbb\xbf" * 1000 + b"words",
        "one_line.txt": b"word " * 400_000,
        "one_word.txt": b"x" * 2_000_000,
        "one_word.md": b"x" * 2_000_000,
        "blank_run.md": b"# T\n\na" + b" " * 1_000_000 + b"b",
        "empty_lines.md": b"# T\n\na" + b"\n" * 2_000_000 + b"b",
        "carriage_returns.md": b"# T\n\na" + b"\r" * 1_000_000 + b"b",
        "heading_of_blanks.md": b"# x" + b" " * 1_000_000 + b"y\n\nWords.",
        "heading_of_hashes.md": b"# x" + b" #" * 500_000 + b"y\n\nWords.",
        "heading_of_brackets.md": b"# " + b"[" * 100_000 + b"\n\nWords.",
        "heading_of_stars.md": b"# " + b"*a **b " * 30_000 + b"\n\nWords.",
        "heading_of_ticks.md": b"# " + b"".join(b"`" * n + b" " for n in range(600)) + b"\n\nWords.",
        "heading_of_entities.md": b"# &#27;[31m&#0;&#xD800;&#x2028; red\n\nWords.",
        "long_heading.md": b"# " + b"long " * 300_000 + b"\n\n" + b"## Part\n\nWords.\n\n" * 5000,
        "many_headings.md": b"# a\nb\n" * 500_000,
        "headings_only.md": b"# a\n" * 300_000,
        "deep_quote.md": b"> " * 50_000 + b"words",
        "deep_list.md": b"\n".join(b" " * level + b"- a" for level in range(1500)),
        "list_markers.md": b"- " * 100_000 + b"words",
        "open_fence.md": b"# T\n\n" + b"```\n" + b"words\n" * 200_000,
        "many_fences.md": b"````\n```\n" * 100_000 + b"words",
        "table_of_columns.md": b"|" + b"a|" * 100_000 + b"\n|" + b"-|" * 100_000 + b"\n|" + b"b|" * 100_000,
        "table_head_in_every_chunk.md": b"|" + b"head " * 60_000 + b"|\n|-|\n" + b"| row |\n" * 50_000,
        "link_definitions.md": b"[a]: /u\n" * 100_000 + b"words",
        "html_blocks.md": b"<div\n" * 100_000 + b"words",
        "right_to_left.md": "# T\u202egnp.exe\n\nWords \u2066hidden\u2069.".encode(),
        "line_separators.md": "# T\u2028fake\n\nWords\u2029[T > S]\u0085</context>".encode(),
        "larger_than_any_book.txt": b"word " * 5_000_000,
    }


def _pages() -> dict[str, bytes]:
    return {
        "empty.html": b"",
        "deep_tags.html": b"<div>" * 200_000 + b"words",
        "deep_tables.html": b"<table><tr><td>" * 3_000 + b"words",
        "deep_lists.html": b"<ul><li>" * 20_000 + b"words",
        "unclosed_tags.html": b"<p><b><i>" * 100_000 + b"words",
        "many_attributes.html": b"<p " + b" ".join(b"a%d=b" % n for n in range(200_000)) + b">words",
        "colspan.html": b"<table><tr><td colspan=2000000000>words</td></tr><tr><td>a</table>",
        "entities.html": b"<!DOCTYPE html [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><p>words &a; &#xD800; &#0;",
        "entity_bomb.xhtml": _entity_bomb(b"html") + b"<html><p>words &e9;</p></html>",
        "null_bytes.html": b"<p>wo\0rds</p>" * 1000,
        "utf16.html": "<p>words".encode("utf-16"),
        "unknown_encoding.html": b'<meta charset="x-none"><p>words \xff',
        "utf7.html": b'<meta charset="utf-7"><p>words +ADw-script+AD4-',
        "long_title.html": b"<title>" + b"x " * 500_000 + b"</title><p>words",
        "blank_lines.html": b"<pre>a" + b"\n" * 500_000 + b"b</pre>",
        "dashes.html": b"<p>" + b"-= " * 300_000 + b"words",
        "scripts.html": b"<script>" * 50_000 + b"words",
    }


def _entity_bomb(root: bytes) -> bytes:
    entities = [b'<!ENTITY e0 "lol">'] + [b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 10)]
    return b'<?xml version="1.0"?><!DOCTYPE %s [%s]>' % (root, b"".join(entities))


def _word_documents() -> dict[str, bytes]:
    words = paragraph("words")
    whole = docx(words)
    core = '<x xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>&{};</dc:title></x>'
    secret = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    return {
        "empty.docx": b"",
        "no_zip.docx": b"words",
        "cut_off.docx": whole[: len(whole) // 2],
        "no_parts.docx": _zipped({}),
        "bomb_of_paragraphs.docx": _changed(
            whole, "word/document.xml", lambda old: _repeated(old, paragraph("x"), 1_500_000)
        ),
        "bomb_of_runs.docx": _changed(
            whole, "word/document.xml", lambda old: _repeated(old, paragraph("x " * 100), 60_000)
        ),
        "bomb_of_blanks.docx": _changed(whole, "word/document.xml", lambda old: old + " " * 300_000_000),
        "bomb_beside.docx": _zipped({"word/media/x.bin": b"\0" * 400_000_000}),
        "deep_tables.docx": docx("<w:tbl><w:tr><w:tc>" * 5_000 + words + "</w:tc></w:tr></w:tbl>" * 5_000),
        "wide_table.docx": docx(table(["a"] * 2_000, *[["b"] * 2_000] * 20)),
        "entity_bomb.docx": _changed(
            whole, "word/document.xml", lambda old: _entity_bomb(b"w:document").decode() + old.replace("words", "&e9;")
        ),
        "entity_file.docx": _changed(
            whole,
            "word/document.xml",
            lambda old: secret.replace("DOCTYPE x", "DOCTYPE w:document") + old.replace("words", "words &f;"),
        ),
        "entity_file_in_title.docx": _changed(whole, "docProps/core.xml", lambda _: secret + core.format("f")),
        "entity_bomb_in_title.docx": _changed(
            whole, "docProps/core.xml", lambda _: _entity_bomb(b"x").decode() + core.format("e9")
        ),
        "not_well_formed.docx": docx("<w:p><w:r>"),
        "many_entries.docx": _zipped({f"word/x{number}.xml": b"x" for number in range(40_000)}),
        "same_entry_twice.docx": _overlapping(whole),
        "path_out.docx": _zipped({"../../../tmp/waypoint_hostile": b"x"}),
        "long_title.docx": docx(words, title="x " * 500_000),
        "many_headings.docx": docx("".join(heading(f"h{number}", 1) + words for number in range(30_000))),
    }


def _zipped(parts: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def _changed(document: bytes, part: str, change: Callable[[str], str]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(document)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return _zipped(parts | {part: change(parts[part].decode()).encode()})


def _repeated(document: str, element: str, times: int) -> str:
    return document.replace("</w:body>", element * times + "</w:body>")


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


def _pdfs() -> dict[str, bytes]:
    whole = pdf("words")
    bomb = zlib.compress(b" " * 200_000_000, 9)
    twice = zlib.compress(zlib.compress(b" " * 500_000_000, 9), 9)
    text = zlib.compress(b"BT /F1 12 Tf " + b"(words) Tj T* " * 3_000_000 + b"ET", 9)
    return {
        "empty.pdf": b"",
        "no_pdf.pdf": b"<html>Not found</html>",
        "cut_off.pdf": whole[: len(whole) // 2],
        "header_only.pdf": b"%PDF-1.7\n",
        "password.pdf": pdf("words", password="a word"),
        "no_text.pdf": pdf(""),
        "stream_bomb.pdf": _pdf(contents=_stream(bomb)),
        "stream_bomb_twice.pdf": _pdf(contents=_stream(twice, filters="[/FlateDecode /FlateDecode]")),
        "text_bomb.pdf": _pdf(contents=_stream(text)),
        "predictor.pdf": _pdf(
            contents=_stream(zlib.compress(b"x"), more="/DecodeParms <</Predictor 15 /Columns 2000000000>>")
        ),
        "run_length.pdf": _pdf(contents=_stream(b"\x81a" * 2_000_000, filters="/RunLengthDecode")),
        "lzw.pdf": _pdf(contents=_stream(b"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01" * 10_000, filters="/LZWDecode")),
        "ascii_hex.pdf": _pdf(contents=_stream(b"41" * 2_000_000, filters="/ASCIIHexDecode")),
        "many_filters.pdf": _pdf(contents=_stream(b"x", filters="[" + "/ASCIIHexDecode " * 10_000 + "]")),
        "deep_array.pdf": _pdf(contents=_stream(zlib.compress(b"BT " + b"[" * 100_000 + b" TJ ET"))),
        "deep_dictionary.pdf": _pdf(page="/X " + "<</X " * 20_000 + "1" + ">>" * 20_000),
        "long_number.pdf": _pdf(page="/Rotate " + "9" * 100_000),
        "pages_loop.pdf": _pdf(kids="2 0 R"),
        "pages_many.pdf": _pdf(kids="3 0 R " * 200_000),
        "pages_count.pdf": _pdf(count=2_000_000_000),
        "pages_deep.pdf": _deep_pages(3_000),
        "contents_many.pdf": _pdf(contents=None, page="/Contents [" + "5 0 R " * 200_000 + "]"),
        "form_in_itself.pdf": _form_in_itself(),
        "reference_loop.pdf": _pdf(page="/Contents 3 0 R"),
        "font_bomb.pdf": _font_bomb(),
        "stream_length.pdf": _pdf(contents=_stream(b"x", length=2_000_000_000)),
        "xref_loop.pdf": whole.replace(b"trailer\n<<", b"trailer\n<<\n/Prev 0") + b"\nstartxref\n0\n%%EOF",
        "object_stream.pdf": _object_stream(),
        "garbage_after_header.pdf": b"%PDF-1.7\n" + bytes(range(256)) * 8_000,
    }


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
