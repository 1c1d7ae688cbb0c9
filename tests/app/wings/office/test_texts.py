"""Texts of other markup: their tables, steps and links stay, and what only a program reads goes."""

import io
import json
import shutil
import sys
import types
import zipfile
from pathlib import Path

import pytest

from app.adapters.documents.rows import load_json
from app.wings.office.mail import load_msg
from app.wings.office.texts import load_asciidoc, load_mdx, load_odt, load_rst, load_rtf
from chains.errors import IngestionError
from chains.ingestion.source import SourceText

TABLE = "| Region | Goods | Surcharge |\n| --- | --- | --- |\n| Norland | Chilled | 11 % |\n| Norland | Frozen | 17 % |"

ASCIIDOC = """= Yard rules
:toc:

The yard opens at 06:30. See https://desk.example/x[the desk].

[cols="1,1,1"]
|===
|Region |Goods |Surcharge

.2+|Norland |Chilled |11 %
|Frozen |17 %
|===

. Press the stop.
. Turn the key.
.. To the left.

// nobody sees this
----
= code
----
"""
RST = """Yard rules
==========

See `the desk <https://desk.example/x>`_.

+---------+---------+-----------+
| Region  | Goods   | Surcharge |
+=========+=========+===========+
| Norland | Chilled | 11 %      |
|         +---------+-----------+
|         | Frozen  | 17 %      |
+---------+---------+-----------+

1. Press the stop.
2. Turn the key.

.. include:: /etc/passwd
.. nobody sees this
"""
RTF = rb"{\rtf1\ansi {\b Yard rules}\par The yard opens at 06:30.\par}"
ODT = """<office:document-content xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:style="s" xmlns:xlink="x">
<office:automatic-styles><text:list-style style:name="L1"><text:list-level-style-number text:level="1"/>
</text:list-style></office:automatic-styles><office:body><office:text>
<text:tracked-changes><text:p>The old fee is 9 euro.</text:p></text:tracked-changes>
<text:h text:outline-level="1">Yard rules</text:h>
<text:p>See <text:a xlink:href="https://desk.example/x">the desk</text:a>.</text:p>
<table:table><table:table-row><table:table-cell><text:p>Region</text:p></table:table-cell><table:table-cell>
<text:p>Goods</text:p></table:table-cell><table:table-cell><text:p>Surcharge</text:p></table:table-cell>
</table:table-row><table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Norland</text:p>
</table:table-cell><table:table-cell><text:p>Chilled</text:p></table:table-cell><table:table-cell>
<text:p>11 %</text:p></table:table-cell></table:table-row><table:table-row><table:covered-table-cell/>
<table:table-cell><text:p>Frozen</text:p></table:table-cell><table:table-cell><text:p>17 %</text:p></table:table-cell>
</table:table-row></table:table>
<text:list text:style-name="L1"><text:list-item><text:p>Press the stop.</text:p></text:list-item>
<text:list-item><text:p>Turn the key.</text:p></text:list-item></text:list>
</office:text></office:body></office:document-content>"""


def odt(path: Path, content: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", content)
    return path


@pytest.fixture
def file(tmp_path):
    def write(name: str, content: str | bytes) -> Path:
        path: Path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def check_yard_rules(source: SourceText) -> None:
    assert source.metadata["title"] == "Yard rules"
    assert TABLE in source.text
    assert "the desk (https://desk.example/x)" in source.text
    assert "1. Press the stop.\n2. Turn the key.\n" in source.text
    assert "nobody" not in source.text
    assert "root:" not in source.text


def test_asciidoc_keeps_tables_steps_links_and_code(file):
    source = load_asciidoc(file("rules.adoc", ASCIIDOC))
    check_yard_rules(source)
    assert source.text.endswith("   1. To the left.\n\n```\n# code\n```\n") or "```\n= code\n```" in source.text


def test_restructured_text_keeps_tables_steps_and_links_and_reads_no_other_file(file):
    pytest.importorskip("docutils")
    check_yard_rules(load_rst(file("rules.rst", RST)))


def test_open_document_keeps_tables_steps_and_links_and_leaves_out_old_words(tmp_path):
    source = load_odt(odt(tmp_path / "rules.odt", ODT))
    check_yard_rules(source)
    assert "9 euro" not in source.text


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")
def test_rich_text_is_read_by_pandoc(file):
    assert "The yard opens at 06:30." in load_rtf(file("rules.rtf", RTF)).text
    with pytest.raises(IngestionError, match="damaged, or no RTF"):
        load_rtf(file("other.rtf", b"\x00\x01"))


def test_without_pandoc_a_rich_text_says_what_it_needs(file, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(IngestionError, match="needs the program pandoc"):
        load_rtf(file("rules.rtf", RTF))


def test_components_of_mdx_leave_their_words(file):
    text = "---\ntitle: Yard\n---\nimport Tabs from 'x';\n\n<Tabs a={() => 1}>\nThe yard opens at 06:30.\n</Tabs>\n"
    source = load_mdx(file("yard.mdx", text + "{/* nobody */}\n```js\nimport keep from 'me';\n```\n"))
    shown = source.text[source.body_start :]
    assert shown.split() == ["The", "yard", "opens", "at", "06:30.", "```js", "import", "keep", "from", "'me';", "```"]


def test_objects_of_json_are_sections_and_rows(file):
    values = {"title": "Fees", "fees": [{"name": "Weighing", "price": 14}], "desk": {"hours": {"open": "06:30"}}}
    source = load_json(file("fees.json", json.dumps(values)))
    assert source.metadata["title"] == "Fees"
    assert source.text.split("\n") == [
        *("- title: Fees", "", "## fees", "", "- name: Weighing; price: 14"),
        *("", "## desk", "", "", "### hours", "", "- open: 06:30", ""),
    ]


def test_an_audience_in_json_counts(file):
    assert load_json(file("fees.json", '[{"audience": "staff", "fee": 4}]')).metadata["audience"] == "staff"


class Outlook:
    """An Outlook message in memory, in place of olefile's."""

    def __init__(self, content: io.BytesIO) -> None:
        self.streams: dict[str, str] = json.loads(content.read())

    def __enter__(self) -> "Outlook":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def exists(self, path: list[str]) -> bool:
        return "/".join(path) in self.streams

    def openstream(self, path: list[str]) -> io.BytesIO:
        value = self.streams["/".join(path)]
        return io.BytesIO(value.encode("utf-16-le" if path[-1].endswith("001F") else "utf-8"))

    def listdir(self) -> list[list[str]]:
        return [name.split("/") for name in self.streams]


def test_a_message_of_outlook_is_read_with_its_attachments(file, monkeypatch):
    module = types.ModuleType("olefile")
    module.OleFileIO = Outlook  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "olefile", module)
    attached = "__attach_version1.0_#00000000/__substg1.0_"
    message = {
        "__substg1.0_0037001F": "Berth fee",
        "__substg1.0_0C1A001F": "Ida Holm",
        "__substg1.0_1000001F": "The berth fee is 310 euro.\r\n",
        f"{attached}3707001F": "fees.md",
        f"{attached}37010102": "Weighing costs 14 euro.",
    }
    source = load_msg(file("fee.msg", json.dumps(message)))
    assert source.metadata["title"] == "Berth fee"
    assert "The berth fee is 310 euro." in source.text
    assert source.attached["fees.md"].text == "Weighing costs 14 euro."


@pytest.mark.parametrize(("name", "load", "package"), [("a.rst", load_rst, "docutils"), ("a.msg", load_msg, "olefile")])
def test_without_its_package_a_format_says_what_to_install(file, monkeypatch, name, load, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.core", None)
    with pytest.raises(IngestionError, match=r"pip install 'waypoint-copilot\[formats\]'"):
        load(file(name, "Words"))
