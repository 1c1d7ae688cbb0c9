"""Let processes fill stores beside each other, and stand still while one of them measures."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Turns:
    """What the processes over one folder agree by: any number fills, or one measures.

    Who wants to measure holds the gate, so that nobody begins to fill anew meanwhile.
    """

    def __init__(self, folder: Path) -> None:
        self._gate, self._floor = ((folder / name).open("w") for name in ("gate.lock", "floor.lock"))

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Wait until nobody measures, then let the body add to a store."""
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        fcntl.flock(self._floor, fcntl.LOCK_SH)
        fcntl.flock(self._gate, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(self._floor, fcntl.LOCK_UN)

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Wait until nobody fills, then let the body measure alone."""
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        fcntl.flock(self._floor, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._floor, fcntl.LOCK_UN)
            fcntl.flock(self._gate, fcntl.LOCK_UN)
