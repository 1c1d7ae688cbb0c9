"""Read e-mails, .eml by Python's own email package and .msg by olefile; the subject is the title."""

import io
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email import message_from_bytes, message_from_string, policy
from email.message import EmailMessage
from pathlib import Path, PurePath
from typing import Any

from bs4 import BeautifulSoup
from charset_normalizer import from_bytes

from app import hooks
from app.adapters.documents.html import main_part, without_unseen
from chains.errors import IngestionError, WaypointError
from chains.ingestion.markup import PARSER, as_markdown, markdown_of
from chains.ingestion.source import SourceText, given, require_words, storable, title_of
from chains.ingestion.statements import audiences_in, strictest
from chains.ingestion.tables import one_line
from chains.ingestion.text_files import LOADERS
from chains.regular_files import read_bytes

MOST_NAMES, LONGEST_NAME = 20, 80
MOST_ATTACHMENTS, MOST_FORWARDS = 20, 10
SHOWN = ("From", "To", "Cc", "Date")
# Beside these the HTML of a message holds more than its plain part, which then is a stub.
FEWEST_WORDS, STUB, MUCH_MORE = 4, 0.5, 4

_WORD, _NO_NAME = re.compile(r"\w+"), re.compile(r"[^\w .()-]")
_TEXTS = {"text/plain", "text/html"}


def load_eml(path: Path) -> SourceText:
    """Read an e-mail: who wrote what to whom and when, forwarded messages, and its attachments as documents.

    The title of an attachment names its e-mail; one that no reader reads is named in a warning.
    """
    return _source(message_from_bytes(read_bytes(path), policy=policy.default), path)


def load_msg(path: Path) -> SourceText:
    """Read an e-mail as Outlook saves it, in the way of `load_eml`."""
    try:
        from olefile import OleFileIO  # noqa: PLC0415 - An extra; only this format needs it.
    except ImportError as error:
        raise IngestionError("reading .msg needs olefile: pip install 'waypoint-copilot[formats]'") from error
    with OleFileIO(io.BytesIO(read_bytes(path))) as file:
        message = EmailMessage(policy.default)
        if headers := _property(file, "", "007D"):
            message = message_from_string(headers.partition("\r\n\r\n")[0], policy=policy.default)
            del message["Content-Type"], message["Content-Transfer-Encoding"], message["MIME-Version"]
        for name, tag in (("Subject", "0037"), ("From", "0C1A"), ("To", "0E04"), ("Cc", "0E03")):
            if name not in message and (value := one_line(_property(file, "", tag))):
                message[name] = value
        message.set_content(_property(file, "", "1000") or " ")
        if html := _property(file, "", "1013"):
            message.add_alternative(html, subtype="html")
        for folder in sorted({entry[0] for entry in file.listdir() if entry[0].startswith("__attach_")}):
            name = one_line(_property(file, folder, "3707") or _property(file, folder, "3704"))
            content = _stream(file, folder, "37010102")
            message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
        return _source(message, path)


def _property(file: Any, folder: str, tag: str) -> str:
    """Return a property of a message as text: in UTF-16, in one byte a letter, or as bytes."""
    if wide := _stream(file, folder, f"{tag}001F"):
        return wide.decode("utf-16-le", "replace")
    narrow = _stream(file, folder, f"{tag}001E") or _stream(file, folder, f"{tag}0102")
    return str(from_bytes(narrow).best() or "") if narrow else ""


def _stream(file: Any, folder: str, tag: str) -> bytes:
    path = [*filter(None, [folder]), f"__substg1.0_{tag}"]
    return bytes(file.openstream(path).read()) if file.exists(path) else b""


def _source(message: Any, path: Path) -> SourceText:
    mail = _Mail()
    mail.take(message)
    plain = all(is_plain for _, is_plain in mail.texts)
    texts = [as_markdown(text) if is_plain and not plain else text for text, is_plain in mail.texts]
    texts = list(filter(None, (text.strip() for text in texts)))
    require_words("".join([*texts, *mail.documents]))
    lines, attached, date = _named(message, *SHOWN), mail.attached, message["Date"]
    names = ", ".join(attached[:MOST_NAMES] + [f"and {len(attached) - MOST_NAMES} more"] * (len(attached) > MOST_NAMES))
    lines += [f"Attachments: {names}"] * bool(attached)
    metadata = {
        "audience": strictest([*(one_line(message[name]) for name in ("Audience", "X-Audience")), *mail.audiences]),
        "title": one_line(message["Subject"]) or title_of(path),
        "author": one_line(message["From"]),
        "last_updated": f"{date.datetime:%Y-%m-%d}" if date is not None and date.datetime else "",
    }
    text = "\n\n".join(filter(None, [("\n" if plain else "\n\n").join(lines), *texts])) + "\n"
    # The title of an attachment names its e-mail, whose author and day hold where it states none.
    about = given(author=metadata["author"], last_updated=metadata["last_updated"])
    for name, document in mail.documents.items():
        title = f"{document.metadata['title']} (attached to {metadata['title']})"
        mail.documents[name] = replace(document, metadata=about | document.metadata | {"title": title}, warnings=())
    more: dict[str, Any] = {"warnings": tuple(mail.warnings), "attached": mail.documents}
    return SourceText(text, 0, given(**metadata), plain=plain, **more)


@dataclass
class _Mail:
    """The texts of a message, each with whether it is plain; the others are markdown."""

    texts: list[tuple[str, bool]] = field(default_factory=list)
    attached: list[str] = field(default_factory=list)
    documents: dict[str, SourceText] = field(default_factory=dict)
    audiences: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def take(self, message: Any) -> None:
        """Read the parts of a message; attachments come behind its text."""
        for kind, part in sorted(_parts(message), key=lambda one: one[0] == "attachment"):
            if kind == "forwarded":
                self.texts.append(("\n".join(["Forwarded message:", *_named(part, "Subject", *SHOWN)]), True))
            elif kind == "text":
                self._read(part)
            else:
                self._attach(part)

    def _read(self, part: Any) -> None:
        content = storable(_content(part)).replace("\r\n", "\n").replace("\r", "\n")
        if part.get_content_type() != "text/html":
            self.texts.append((content, True))
            return
        page = BeautifulSoup(content, PARSER)
        self.warnings += without_unseen(page)
        with suppress(IngestionError):  # It has no words, only pictures.
            self.texts.append((markdown_of(main_part(page)), False))

    def _attach(self, part: Any) -> None:
        name = one_line(part.get_filename()) or "one without a name"
        self.attached.append(name)
        if len(self.attached) > MOST_ATTACHMENTS:
            self.warnings.append(f"the attachment {name} is not read: the e-mail has more than {MOST_ATTACHMENTS}")
            return
        try:
            source = _read(name, part.get_payload(decode=True) or b"")
        except Exception as error:  # Whatever an attachment makes a library do, the message is read.
            reason = str(error) if isinstance(error, WaypointError) else "it is damaged"
            self.warnings.append(f"the attachment {name} is not read: {reason}")
            return
        self.audiences += [source.metadata.get("audience", ""), *audiences_in(source.text, rows=True)]
        self.warnings += [f"the attachment {name}: {warning}" for warning in source.warnings]
        for inner, document in {name: source, **source.attached}.items():
            file = PurePath(_NO_NAME.sub("_", re.split(r"[/\\]", inner)[-1]))
            stems = [PurePath(other).stem for other in self.documents]
            number = f" {len(stems) + 1}" if file.stem in stems else ""
            self.documents[f"{file.stem[:LONGEST_NAME]}{number}{file.suffix}"] = replace(document, attached={})


def _parts(message: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    kind = message.get_content_type()
    if kind == "message/rfc822" and depth < MOST_FORWARDS:
        for inner in message.iter_parts():
            yield "forwarded", inner
            yield from _parts(inner, depth + 1)
    elif kind == "multipart/alternative":
        yield from _parts(_best(list(message.iter_parts())), depth + 1) if list(message.iter_parts()) else ()
    elif message.is_multipart():
        for part in message.iter_parts():
            yield from _parts(part, depth + 1) if depth < MOST_FORWARDS else ()
    elif kind in _TEXTS and message.get_content_disposition() != "attachment" and not message.get_filename():
        yield "text", message
    elif message.get_content_maintype() != "image" or message.get_content_disposition() == "attachment":
        yield "attachment", message


def _best(parts: list[Any]) -> Any:
    """Return the form of a text that holds it: the plain one, unless the HTML says much more."""
    plain = next((part for part in parts if part.get_content_type() == "text/plain"), None)
    others = [part for part in parts if part is not plain]
    if plain is None or not others:
        return plain or others[-1]
    words = _WORD.findall(_content(plain))
    pages = (_content(part) for part in others[-1].walk() if part.get_content_type() == "text/html")
    shown = _WORD.findall(" ".join(BeautifulSoup(page, PARSER).get_text(" ") for page in pages))
    is_stub = len(set(words) & set(shown)) < STUB * len(set(words)) or len(shown) > MUCH_MORE * len(words)
    return others[-1] if shown and (len(words) < FEWEST_WORDS or is_stub) else plain


def _read(name: str, content: bytes) -> SourceText:
    """Read an attachment by the reader of its ending. Raise WaypointError if none can; other errors mean damage."""
    ending = Path(name).suffix.lower()
    load = LOADERS.get(ending) or hooks.load("readers", ending.removeprefix("."))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{_NO_NAME.sub('_', Path(name).stem)[:LONGEST_NAME]}{ending}"
        path.write_bytes(content)
        source: SourceText = load(path)
        return source


def _named(message: Any, *names: str) -> list[str]:
    return [f"{name}: {one_line(message[name])}" for name in names if message[name]]


def _content(part: Any) -> str:
    try:
        return str(part.get_content())
    except (LookupError, KeyError):  # It names an encoding that nobody knows.
        return bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace")
