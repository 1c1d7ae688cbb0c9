"""Parse files in a process of its own, with bounds on time and memory: a file can be made to take hours and gigabytes.

Markdown and plain text of ordinary size are parsed in the calling process, which is faster and safe: their cost grows
with their size. The worker starts with the first file that needs it, and a new one with the next file after it died.
"""

import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from chains.errors import IngestionError
from chains.ingestion import text_files
from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.parsing import LocalParser, Parsed
from chains.ingestion.source import unreadable

# The formats of `loaders.py`, whose libraries only the worker imports.
ENDINGS = frozenset({".docx", ".htm", ".html", ".pdf", ".xhtml"})
# Files of text up to this size are parsed in the calling process.
LOCAL_BYTES = 64 * 1024
# A busy machine may take so many times as long as the processor itself.
WALL_TIMES = 4
# Of this environment the worker gets no more: no secret is where a hostile file may take over.
_PASSED_ON = ("LANG", "LC_ALL", "PATH", "SYSTEMROOT", "TMPDIR")


@dataclass
class WorkerParser:
    """Parses files of every format; each may take `timeout_s` of the processor and `memory_mb`."""

    chunker: Chunker
    timeout_s: float
    memory_mb: int
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def endings(self) -> Collection[str]:
        """Return the endings that a loader reads."""
        return {*text_files.LOADERS, *ENDINGS}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the worker."""
        self._stop()

    def parse(self, path: Path) -> Parsed:
        """Return the chunks and the metadata of a file.

        Raises:
            IngestionError: the file cannot be read, there is no text in it, or it takes more than it may.
        """
        if path.suffix.lower() in text_files.LOADERS and _size(path) <= LOCAL_BYTES:
            return LocalParser(text_files.LOADERS, self.chunker).parse(path)
        reply = self._ask({"path": str(path), "chunker": asdict(self.chunker), "timeout_s": self.timeout_s})
        if "problem" in reply:
            raise IngestionError(reply["problem"])
        chunks = [Chunk(**{**chunk, "section_path": tuple(chunk["section_path"])}) for chunk in reply["chunks"]]
        return Parsed(chunks, reply["metadata"], tuple(reply["warnings"]))

    def _ask(self, task: dict[str, Any]) -> Any:
        if self._process is None:
            self._process = _start(self.memory_mb)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        watch = threading.Timer(self.timeout_s * WALL_TIMES, process.kill)
        watch.start()
        try:
            process.stdin.write(json.dumps(task).encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        except (OSError, ValueError) as error:
            self._stop()
            msg = (
                f"the file takes more than {self.timeout_s:g} s or {self.memory_mb} MB to read, or crashes its reader; "
                "split it, or raise INGEST_FILE_TIMEOUT_S or INGEST_FILE_MEMORY_MB"
            )
            raise IngestionError(msg) from error
        finally:
            watch.cancel()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise unreadable(error) from error


def _start(memory_mb: int) -> subprocess.Popen[bytes]:
    known = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(memory_mb)],
        env={**known, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Parse the file of a task; return what JSON can carry."""
    from app.adapters.documents.loaders import LOADERS

    try:
        parsed = LocalParser({**text_files.LOADERS, **LOADERS}, Chunker(**task["chunker"])).parse(Path(task["path"]))
    except IngestionError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "the file takes more memory to read than INGEST_FILE_MEMORY_MB allows; split it"}
    return {
        "chunks": [asdict(chunk) for chunk in parsed.chunks],
        "metadata": parsed.metadata,
        "warnings": parsed.warnings,
    }


def serve(tasks: IO[bytes], replies: IO[bytes]) -> None:
    """Answer one task a line until there are no more."""
    for line in tasks:
        task = json.loads(line)
        _limit_seconds(task["timeout_s"])
        replies.write(json.dumps(answer(task)).encode() + b"\n")
        replies.flush()


def _limit_seconds(seconds: float) -> None:
    """Have the system end this process when it has used so many more seconds of the processor."""
    if sys.platform != "win32":
        import resource

        used = math.ceil(time.process_time() + seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (used, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _limit_memory(megabytes: int) -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    _limit_memory(int(sys.argv[1]))
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What a library prints is no reply.
    serve(sys.stdin.buffer, replies)
