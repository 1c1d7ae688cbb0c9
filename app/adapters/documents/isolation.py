"""Parse files in a worker process with bounds on time and memory: a small file can cost hours and gigabytes.

Markdown and plain text of ordinary size are parsed in the calling process, which is faster: their cost grows with their
size. The worker starts with the first file that needs it, and anew with the next file after it died.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from chains.errors import IngestionError
from chains.ingestion import text_files
from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.parsing import Parsed, parse_file
from chains.ingestion.source import open_file

# The formats whose libraries only the worker imports.
ENDINGS = frozenset({".docx", ".htm", ".html", ".pdf", ".xhtml"})
# Files of text up to this size are parsed in the calling process.
LOCAL_BYTES = 64 * 1024
# The system counts the seconds of the processor; a busy machine or a slow disk may take so many times as long.
WALL_TIMES = 5

# Threads of numpy's, which nobody uses here, would each reserve memory that counts against the limit.
ENVIRONMENT = {"PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass
class IsolatedParser:
    """Parses files of every format; each may take `timeout_s` of the processor and `memory_mb`."""

    chunker: Chunker
    timeout_s: float
    memory_mb: int
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _connection: socket.socket | None = field(default=None, init=False)

    @property
    def endings(self) -> Collection[str]:
        """Return the endings that a loader reads."""
        return {*text_files.LOADERS, *ENDINGS}

    def parse(self, path: Path) -> Parsed:
        """Return the chunks and the metadata of a file.

        Raises:
            IngestionError: the file cannot be read, there is no text in it, or it takes more than it may.
        """
        if path.suffix.lower() in text_files.LOADERS and _size(path) <= LOCAL_BYTES:
            return parse_file(path, text_files.LOADERS, self.chunker)
        try:
            reply = self._ask({"path": str(path), "chunker": asdict(self.chunker), "timeout_s": self.timeout_s})
        except (OSError, ValueError) as error:
            self.close()
            msg = (
                f"reading the file takes more than {self.timeout_s:g} s or {self.memory_mb} MB; "
                "split it, or raise INGEST_FILE_TIMEOUT_S or INGEST_FILE_MEMORY_MB"
            )
            raise IngestionError(msg) from error
        if reply["last"]:
            self.close()
        if "problem" in reply:
            raise IngestionError(reply["problem"])
        chunks = [Chunk(**{**chunk, "section_path": tuple(chunk["section_path"])}) for chunk in reply["chunks"]]
        return Parsed(chunks, reply["metadata"], tuple(reply["warnings"]))

    def _ask(self, task: dict[str, Any]) -> Any:
        connection = self._connection or self._start()
        connection.sendall(json.dumps(task).encode() + b"\n")
        with connection.makefile("rb") as replies:
            return json.loads(replies.readline())

    def _start(self) -> socket.socket:
        """Start the worker. Its environment holds no secret: a hostile file may take the process over."""
        self._connection, theirs = socket.socketpair()
        self._connection.settimeout(self.timeout_s * WALL_TIMES)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter and a module of ours.
                [sys.executable, "-m", "app.adapters.documents.worker", str(self.memory_mb)],
                env=ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
            )
        return self._connection

    def close(self) -> None:
        """End the worker; the next file that needs one starts another."""
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._connection = self._process = None


def _size(path: Path) -> int:
    with open_file(path) as file:
        return os.fstat(file.fileno()).st_size
