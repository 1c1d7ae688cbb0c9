"""Texts that are not UTF-8 are read, with a warning that names the encoding they were taken for."""

import pytest

from chains.errors import IngestionError
from chains.ingestion.source import own_title
from chains.regular_files import read_any_text, read_text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Prüfgebühr für Großgut: 70 € je Stück – gültig ab März."),
        ("cp1252", "Größe;Preis\nÜberlänge;12,50 €\n"),
        ("cp1250", "Poplatek za skladování činí dvanáct korun. Příliš žluťoučký kůň."),
        ("cp1251", "Склад открыт с девяти часов утра. Сбор составляет сорок рублей."),  # noqa: RUF001
        ("utf_16", "Prüfgebühr: 70 €\n"),
        ("cp932", "港の使用料は一日三千円です。受付は午前八時からです。"),
        ("gb18030", "码头每天收费三千元。办理时间为上午八点。"),
    ],
)
def test_a_text_in_another_encoding_is_read_and_the_encoding_named(tmp_path, encoding, text):
    file = tmp_path / "x.txt"
    file.write_bytes(text.encode(encoding))
    read, [warning] = read_any_text(file)
    assert read == text
    assert f"read as {encoding}" in warning


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\xff"])
def test_what_is_no_text_is_refused(tmp_path, content):
    file = tmp_path / "x.txt"
    file.write_bytes(content)
    with pytest.raises(IngestionError, match="not UTF-8 text"):
        read_any_text(file)


def test_a_file_of_settings_is_utf8_or_refused(tmp_path):
    file = tmp_path / "scope.yaml"
    file.write_bytes("topics: [Gebühr]".encode("cp1252"))
    with pytest.raises(IngestionError, match=r"not UTF-8 text \(byte 12 "):
        read_text(file)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        *[(title, False) for title in ("untitled", "(anonymous)", "10811.exe", "88300 162..177", "IMG_2031", "")],
        *[(title, False) for title in ("Untitled Document", "Document1", "PowerPoint Presentation", "Microsoft Word")],
        *[(title, False) for title in ("index.html", r"C:\tmp\plan", "[Company name]", "New Page 1")],
        *[(title, True) for title in ("Crane plan", "Document control", "2031 fees", "Presentation of crane 4")],
    ],
)
def test_a_title_that_a_program_wrote_is_none(title, expected):
    assert own_title(title) == (title if expected else "")
