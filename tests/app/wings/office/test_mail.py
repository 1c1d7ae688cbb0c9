"""Which parts of an e-mail are its text, and what becomes of its attachments."""

from email.message import EmailMessage

import pytest

from app.wings.office.mail import load_eml
from benchmarks.documents import pdf
from chains.ingestion.source import SourceText
from tests.office_documents import xlsx


@pytest.fixture
def read(tmp_path):
    def read(message: EmailMessage) -> SourceText:
        message["Subject"], message["From"] = "Fees", "ann@example.org"
        path = tmp_path / "fees.eml"
        path.write_bytes(message.as_bytes())
        return load_eml(path)

    return read


def mail(plain: str, html: str = "") -> EmailMessage:
    message = EmailMessage()
    message.set_content(plain)
    if html:
        message.add_alternative(html, subtype="html")
    return message


@pytest.mark.parametrize(
    "plain",
    ["", " \n", "Your program shows no HTML; open this letter elsewhere.", "See the fee of a berth."],
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


def test_attachments_are_sections_that_are_called_by_their_files(read):
    message = mail("# 1 is attached.")
    message.add_attachment(
        xlsx({"Fees": [["Port", "Fee"], ["Tema", 3]]}), maintype="application", subtype="x", filename="fees.xlsx"
    )
    message.add_attachment(pdf("Berth 4 is closed."), maintype="application", subtype="pdf", filename="note.pdf")
    message.add_attachment(b"\0\1", maintype="application", subtype="x", filename="tool.bin")
    source = read(message)

    assert "\\# 1 is attached." in source.text
    assert "# fees.xlsx\n\n## Fees\n\n| Port | Fee |" in source.text
    assert "# note.pdf\n\nBerth 4 is closed." in source.text
    assert "Attachments: fees.xlsx, note.pdf, tool.bin" in source.text
    [warning] = source.warnings
    assert warning.startswith("the attachment tool.bin is not read: ")


def test_a_mail_is_as_internal_as_its_attachments(read):
    message = mail("See the list.")
    message.add_attachment(b"name;audience\nTema;staff\n", maintype="text", subtype="csv", filename="list.csv")
    assert read(message).metadata["audience"] == "staff"
