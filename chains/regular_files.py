"""Read regular files of bounded size: a pipe, a device or a book of a gigabyte is refused, and nobody waits for it."""

import re
import stat
from pathlib import Path
from typing import IO

from chains.errors import IngestionError

# The largest file of text or markup that is read at all. One of this size is a book of ten thousand pages.
MAX_BYTES = 20 * 2**20
# What Windows and older systems write; of all encodings, letters of one would be taken for another's.
ENCODINGS = [
    "utf_16", "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp932", "gb18030", "big5", "euc_jp", "euc_kr", "koi8_r"
]  # fmt: skip
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BINARY = re.compile(rb"\0{4}|[\x00-\x06\x0e-\x1a]{2}")


def open_file(path: Path) -> IO[bytes]:
    """Open a regular file; IngestionError where it is none, or the system does not hand it out."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise IngestionError("it is not a regular file")
        return path.open("rb")
    except OSError as error:
        raise IngestionError(f"the file cannot be read: {error.strerror or type(error).__name__}") from error


def read_bytes(path: Path) -> bytes:
    """Read a file; IngestionError where it cannot be read, or is larger than `MAX_BYTES`."""
    with open_file(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise IngestionError(f"the file is larger than {MAX_BYTES // 2**20} MB; split it")
    return content


def read_text(path: Path) -> str:
    """Read a file as `read_bytes`; IngestionError where it is no UTF-8 text. Line ends become line feeds."""
    try:
        return _checked(read_bytes(path).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _not_utf8(error) from error


def read_any_text(path: Path) -> tuple[str, tuple[str, ...]]:
    """Read a file of text in any encoding, and the warning which one it was taken for where that is not UTF-8.

    Line ends are read as line feeds. IngestionError where it cannot be read, is too large, or is no text.
    """
    content = read_bytes(path)
    for mark, letters in zip(_UTF_16, (content[1::2], content[::2]), strict=True):
        if letters.count(0) * 2 > len(letters) and not _BINARY.search(content):
            content = mark + content.removeprefix(mark)  # Two bytes a letter, without the mark that says so.
    try:
        return _checked(content.decode("utf-8")), ()
    except UnicodeDecodeError as error:
        text, encoding = _guessed(content, error)
        return _checked(text), (f"the file is not UTF-8; it was read as {encoding}",)


def _guessed(content: bytes, error: UnicodeDecodeError) -> tuple[str, str]:
    """Return the text in the encoding that its letters speak for, and the name of that."""
    from charset_normalizer import from_bytes  # noqa: PLC0415 - Few files need it, and it takes a tenth of a second.

    is_binary = _BINARY.search(content) and not content.startswith(_UTF_16)
    best = None if is_binary else from_bytes(content, cp_isolation=ENCODINGS).best()
    if best is None or not str(best).strip():
        raise _not_utf8(error) from error
    text = str(best).removeprefix("\ufeff")
    return text, "cp1252" if content.decode("cp1252", "replace") == text else best.encoding


def _not_utf8(error: UnicodeDecodeError) -> IngestionError:
    return IngestionError(f"the file is not UTF-8 text (byte {error.start} cannot be read); save it as UTF-8")


def _checked(text: str) -> str:
    if "\0" in text:
        raise IngestionError("the file holds binary data, not text")
    return text.replace("\r\n", "\n").replace("\r", "\n")
