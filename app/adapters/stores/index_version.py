"""A file beside the vector store -> the version of the index: another one after each ingestion that changed it."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

# Stands before the version while an ingestion is at work, and after one that was killed.
UNFINISHED = "unfinished "


class IndexVersion:
    """Reads and renews the version; any process that knows the file sees the change at once."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def current(self) -> str | None:
        """Return the version; an index without one gets one, and None says that it cannot be kept."""
        try:
            return self._read() or self._renew()
        except OSError:
            return None

    @contextmanager
    def changing(self) -> Iterator[Callable[[], None]]:
        """Give another version while the body changes the index, and a third one after it.

        The body may call what it is given, once it knows that the index is as it was: then the version is, too, unless
        the change before was cut off.
        """
        before, during, same = self._read(), f"{UNFINISHED}{uuid4()}", False

        def keep() -> None:
            nonlocal same
            same = not before.startswith(UNFINISHED)

        self._write(during)
        try:
            yield keep
        finally:
            alone = self._read() == during  # What was changed within this change, or beside it, has left its mark.
            self._write(before if same and before and alone else str(uuid4()))

    def _read(self) -> str:
        try:
            return self._file.read_text(encoding="ascii")
        except (FileNotFoundError, UnicodeDecodeError):  # Garbage counts as no version: a new one is written.
            return ""

    def _renew(self) -> str:
        version = str(uuid4())
        self._write(version)
        return version

    def _write(self, version: str) -> None:
        """Write the version whole or not at all: others read it while they answer."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="ascii", dir=self._file.parent, delete=False) as draft:
            draft.write(version)
        os.replace(draft.name, self._file)
