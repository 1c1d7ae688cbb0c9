"""Keep what users say of answers: a file of JSON lines that only its owner reads, within a size."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

MEGABYTE = 2**20
# A line is written in milliseconds; whoever waits longer finds a lock that nobody gives back.
LOCK_TIMEOUT_S = 5


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a user thinks of the answer of a trace: from -1 (bad) to 1 (good), at an ISO time, and why."""

    time: str
    trace_id: str
    score: float
    comment: str | None


class FeedbackFile:
    """Appends to `feedback.jsonl` in a folder, for all processes of a host.

    At half of `max_bytes` the file becomes `feedback.1.jsonl`, and the one before it is gone, so that both together
    keep within the size.
    """

    def __init__(self, folder: Path, *, max_bytes: int) -> None:
        self.path = folder / "feedback.jsonl"
        self._older = folder / "feedback.1.jsonl"
        self._half = max_bytes // 2

    def add(self, feedback: Feedback) -> None:
        """Write one line.

        Raises:
            OSError: the file cannot be written.
        """
        line = json.dumps(asdict(feedback)).encode() + b"\n"
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with FileLock(self.path.with_suffix(".lock"), timeout=LOCK_TIMEOUT_S, mode=0o600):
                if self.path.exists() and self.path.stat().st_size + len(line) > self._half:
                    self.path.replace(self._older)
                _append(self.path, line)
        except Timeout as error:
            msg = f"{self.path} is locked"
            raise OSError(msg) from error


def _append(path: Path, line: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(handle, "ab") as file:
        file.write(line)
