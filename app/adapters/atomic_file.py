"""Write a file whole or not at all, also where another process reads or writes it."""

import os
import tempfile
from pathlib import Path


def write_atomically(file: Path, content: bytes) -> None:
    """Put the content in place of the file's, and make its folder where it is missing.

    Raises:
        OSError: it cannot be written; the file is as it was, and nothing else is left.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
    try:
        with open(handle, "wb") as stream:
            stream.write(content)
        os.replace(draft, file)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
