"""Read regular files of bounded size: a pipe, a device or a book of a gigabyte is refused, and nobody waits for it."""

import stat
from pathlib import Path
from typing import IO

from chains.errors import IngestionError

# The largest file of text or markup that is read at all. One of this size is a book of ten thousand pages.
MAX_BYTES = 20 * 2**20


def open_file(path: Path) -> IO[bytes]:
    """Open a regular file.

    Raises:
        IngestionError: it is not a regular file, or the system does not hand it out.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            msg = "it is not a regular file"
            raise IngestionError(msg)
        return path.open("rb")
    except OSError as error:
        msg = f"the file cannot be read: {error.strerror or type(error).__name__}"
        raise IngestionError(msg) from error


def read_bytes(path: Path) -> bytes:
    """Read a file of bounded size.

    Raises:
        IngestionError: the file cannot be read, or is larger than `MAX_BYTES`.
    """
    with open_file(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        msg = f"the file is larger than {MAX_BYTES // 2**20} MB; split it"
        raise IngestionError(msg)
    return content


def read_text(path: Path) -> str:
    """Read a file of UTF-8 text; line ends are read as line feeds.

    Raises:
        IngestionError: the file cannot be read, is too large, or is not UTF-8 text.
    """
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        msg = f"the file is not UTF-8 text (byte {error.start} cannot be read); save it as UTF-8"
        raise IngestionError(msg) from error
    if "\0" in text:
        msg = "the file holds binary data, not text"
        raise IngestionError(msg)
    return text.replace("\r\n", "\n").replace("\r", "\n")
