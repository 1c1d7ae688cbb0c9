"""The version of an index, told by the database whenever it changes: questions need not ask for it."""

import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

from app.adapters.postgres.database import Database
from app.adapters.stores.postgres.writing import CHANNEL
from chains.errors import VectorStoreError

# How often it is read although nothing was told: a connection may be dead without a sign.
POLL_S = 5.0
RETRY_S = 1.0


class VersionWatch:
    """Reads the version in a thread of its own after each change, while the body of `with` runs.

    Attributes:
        version: what was read last; None where the index was never made.
        is_known: whether that is the version now; else it has to be read.
    """

    def __init__(self, database: Database, read: Callable[[], str | None]) -> None:
        self._database, self._read = database, read
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="index-version", daemon=True)
        self.version: str | None = None
        self.is_known = False

    def __enter__(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End at once where the database can tell the thread, else when it next looks."""
        self._stopping.set()
        self.is_known = False
        with suppress(VectorStoreError):
            self._database.tell(CHANNEL)
        self._thread.join(POLL_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            with suppress(VectorStoreError):  # Who asks for the version meanwhile is told.
                self._listen()
            self.is_known = False
            self._stopping.wait(RETRY_S)

    def _listen(self) -> None:
        with self._database.listening(CHANNEL) as wait:
            while not self._stopping.is_set():
                self.version = self._read()
                self.is_known = not self._stopping.is_set()
                wait(POLL_S)
