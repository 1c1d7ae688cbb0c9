"""Which parts of an e-mail are its text, and what becomes of its attachments."""

from email.message import EmailMessage
from typing import Any

import pytest

from benchmarks.documents import pdf
from chains.ingestion.source import SourceText
from tests.office_documents import chunks_of, eml, xlsx
from tests.shelf import Shelf


@pytest.fixture
def read(load):
    def read(message: EmailMessage) -> SourceText:
        message["Subject"], message["From"] = "Fees", "ann@example.org"
        return load("fees.eml", message.as_bytes())

    return read


def mail(plain: str, html: str = "") -> EmailMessage:
    message = EmailMessage()
    message.set_content(plain)
    if html:
        message.add_alternative(html, subtype="html")
    return message


@pytest.mark.parametrize(
    "plain", ["", " \n", "Your program shows no HTML; open this letter elsewhere.", "See the fee of a berth."]
)
def test_the_html_of_a_mail_whose_plain_part_says_less_is_read(read, plain):
    html = "<p>From May on the fee of a berth is 70 euro.</p>" + "<p>It was decided in the spring by the board.</p>" * 3
    assert "fee of a berth is 70 euro." in read(mail(plain, html)).text


def test_the_plain_part_of_a_mail_that_says_it_is_read(read):
    source = read(mail("The fee is 70 euro from May on.", "<p>The fee is <b>70 euro</b> from May on.</p>"))
    assert (source.text, source.plain) == ("From: ann@example.org\n\nThe fee is 70 euro from May on.\n", True)


def test_forwarded_messages_and_later_texts_are_read_in_their_order(read):
    message, inner = mail("See below."), mail("The fee rises to 80 euro.")
    inner["Subject"], inner["From"] = "Berths", "port@example.org"
    message.add_attachment(inner)
    later = EmailMessage()
    later.set_content("Pay in time.")
    message.attach(later)

    assert read(message).text.split("\n\n")[1:] == [
        "See below.",
        "Forwarded message:\nSubject: Berths\nFrom: port@example.org",
        "The fee rises to 80 euro.",
        "Pay in time.\n",
    ]


def attach(message: EmailMessage, **files: bytes) -> EmailMessage:
    for name, content in files.items():
        message.add_attachment(content, maintype="application", subtype="x", filename=name.replace("_", "."))
    return message


def test_attachments_are_documents_whose_titles_name_their_mail(read):
    fees = xlsx({"Fees": [["Port", "Fee"], ["Tema", 3]]})
    message = attach(mail("# 1 is attached."), fees_xlsx=fees, note_pdf=pdf("Berth 4 is closed."), tool_bin=b"\0\1")
    source = read(attach(message, fees_csv=b"Port,Fee\nLome,4\n"))

    assert source.text.endswith("Attachments: fees.xlsx, note.pdf, tool.bin, fees.csv\n\n# 1 is attached.\n")
    titles = {name: document.metadata["title"] for name, document in source.attached.items()}
    assert titles == {
        "fees.xlsx": "Fees (attached to Fees)",
        "note.pdf": "Note (attached to Fees)",
        "fees 3.csv": "Fees (attached to Fees)",
    }
    assert source.attached["note.pdf"].metadata["author"] == "ann@example.org"
    [warning] = source.warnings
    assert warning.startswith("the attachment tool.bin is not read: ")


def test_attachments_are_indexed_changed_and_removed_with_their_mail(tmp_path):
    shelf = Shelf(tmp_path)

    def ingest(message: EmailMessage | None) -> dict[str, tuple[str, str]]:
        if message is None:
            (shelf.corpus / "fees.eml").write_bytes(b"\0")
        else:
            (shelf.corpus / "fees.eml").write_bytes(message.as_bytes())
        shelf.ingest()
        return {
            one["doc_id"]: (one["audience"], one["file_path"]) for one in shelf.metadata() if "fees" in one["doc_id"]
        }

    both = ingest(attach(mail("See the lists."), a_csv=b"Port,Fee\nTema,3\n", b_csv=b"Port,audience\nLome,staff\n"))
    assert both == {
        "fees": ("internal", "fees.eml"),
        "fees.eml_a": ("internal", "fees.eml/a.csv"),
        "fees.eml_b": ("internal", "fees.eml/b.csv"),
    }
    assert ingest(attach(mail("See the list."), a_csv=b"Port,Fee\nTema,5\n")) == {
        "fees": ("public", "fees.eml"),
        "fees.eml_a": ("public", "fees.eml/a.csv"),
    }
    assert "fees.eml_a" in ingest(None)  # What cannot be read stays as it was.
    (shelf.corpus / "fees.eml").unlink()
    shelf.ingest()
    assert not [one for one in shelf.metadata() if "fees" in one["doc_id"]]


def test_a_mail_is_as_internal_as_its_attachments(read):
    message = mail("See the list.")
    message.add_attachment(b"name;audience\nTema;staff\n", maintype="text", subtype="csv", filename="list.csv")
    assert read(message).metadata["audience"] == "staff"


def test_an_email_says_who_wrote_it_and_when(load):
    about: dict[str, Any] = {
        "Subject": "Fees für Gold",
        "From": "Ann <ann@example.org>",
        "Date": "Mon, 02 Feb 2026 10:00:00 +0800",
    }
    source = load("x.eml", eml("# The fee is 12.\n", attachments={"list.pdf": b"x"}, **about))

    assert source.metadata == {
        "title": "Fees für Gold",
        "author": "Ann <ann@example.org>",
        "last_updated": "2026-02-02",
    }
    assert source.text.endswith("Attachments: list.pdf\n\n# The fee is 12.\n")
    assert source.warnings == ("the attachment list.pdf is not read: it is damaged",)
    assert [chunk.section for chunk in chunks_of(source)] == [""]


def test_an_email_of_html_keeps_its_headings(load):
    source = load("x.eml", eml("<h2>Fee</h2><p>It is <b>12</b>.", html=True, Subject="Fees"))
    assert [(chunk.section, chunk.text) for chunk in chunks_of(source)] == [("Fee", "## Fee\n\nIt is 12.")]
