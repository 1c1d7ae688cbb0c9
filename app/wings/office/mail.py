"""Read e-mails (.eml) by Python's own email package: the subject as title, the sender and the day as metadata."""

from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from app.adapters.documents.html import PARSER, main_part, markdown_of
from app.adapters.documents.rows import one_line
from chains.ingestion.source import SourceText, require_words, storable, title_of
from chains.ingestion.statements import strictest
from chains.regular_files import read_bytes

MOST_NAMES = 20
SHOWN = ("From", "To", "Cc", "Date")


def load_eml(path: Path) -> SourceText:
    """Read an e-mail: who wrote what to whom and when; its attachments are named, and not read.

    Raises:
        IngestionError: the file cannot be read, or has no text. Other errors mean damage.
    """
    message: Any = message_from_bytes(read_bytes(path), policy=policy.default)
    body, plain = _body(message)
    require_words(body)
    attached = _attached(message)
    lines = [f"{name}: {one_line(message[name])}" for name in SHOWN if message[name]]
    lines += [f"Attachments: {attached}"] * bool(attached)
    metadata = {
        "audience": strictest(one_line(message[name]) for name in ("Audience", "X-Audience")),
        "title": one_line(message["Subject"]) or title_of(path),
        "author": one_line(message["From"]),
        "last_updated": _day(message),
    }
    return SourceText(
        "\n\n".join(filter(None, [("\n" if plain else "\n\n").join(lines), body.strip()])) + "\n",
        0,
        {name: value for name, value in metadata.items() if value},
        plain=plain,
        warnings=(f"attachments are not read ({attached}); save them as files beside the e-mail",) * bool(attached),
    )


def _body(message: EmailMessage) -> tuple[str, bool]:
    """Return the text, and whether it is plain; an e-mail that is only HTML becomes markdown."""
    part = message.get_body(("plain", "html"))
    if part is None:
        return "", True
    content = storable(_content(part)).replace("\r\n", "\n").replace("\r", "\n")
    if part.get_content_subtype() == "html":
        return markdown_of(main_part(BeautifulSoup(content, PARSER))), False
    return content, True


def _content(part: Any) -> str:
    try:
        return str(part.get_content())
    except LookupError:  # It names an encoding that nobody knows.
        return bytes(part.get_payload(decode=True)).decode("utf-8", "replace")


def _attached(message: EmailMessage) -> str:
    names = [one_line(part.get_filename()) or "one without a name" for part in message.iter_attachments()]
    more = [f"and {len(names) - MOST_NAMES} more"] * (len(names) > MOST_NAMES)
    return ", ".join(names[:MOST_NAMES] + more)


def _day(message: Any) -> str:
    date = message["Date"]
    return f"{date.datetime:%Y-%m-%d}" if date is not None and date.datetime else ""
