"""Parse files in a worker process with bounds on time and memory: a small file can cost hours and gigabytes.

Markdown and plain text of ordinary size are parsed in the calling process, which is faster: their cost grows with their
size.
"""

import os
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app import hooks
from app.adapters.documents.process import LimitedProcess
from chains.errors import IngestionError
from chains.ingestion import text_files
from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.parsing import Parsed, parse_file
from chains.regular_files import open_file

# Files of text up to this size are parsed in the calling process.
LOCAL_BYTES = 64 * 1024
# The scanned pages of a file may take so many times as long by the clock; the worker as a whole WALL_TIMES as long.
RECOGNITION_TIMES = 3


@dataclass
class IsolatedParser:
    """Parses files of every format; each may take `timeout_s` of the processor and `memory_mb`.

    Scanned pages are read by the program `tesseract`, in its `languages`; None leaves them out.
    """

    chunker: Chunker
    timeout_s: float
    memory_mb: int
    tesseract: str | None = None
    languages: str = "eng"
    worker: LimitedProcess = field(init=False)

    def __post_init__(self) -> None:
        self.worker = LimitedProcess(f"{__package__}.worker", self.timeout_s, self.memory_mb)

    @property
    def endings(self) -> Collection[str]:
        return {*text_files.LOADERS, *(f".{name}" for name in hooks.names("readers"))}

    def close(self) -> None:
        self.worker.stop()

    def parse(self, path: Path) -> Parsed:
        """Return the chunks and the metadata of a file.

        Raise IngestionError if the file cannot be read, there is no text in it, or it takes more than it may.
        """
        if path.suffix.lower() in text_files.LOADERS:
            with open_file(path) as file:
                size = os.fstat(file.fileno()).st_size
            if size <= LOCAL_BYTES:
                return parse_file(path, text_files.LOADERS, self.chunker)
        task: dict[str, Any] = {"path": str(path), "chunker": asdict(self.chunker)}
        if self.tesseract:
            seconds = self.timeout_s * RECOGNITION_TIMES
            task["recognition"] = {"program": self.tesseract, "languages": self.languages, "seconds": seconds}
        try:
            reply = self.worker.ask(task)
        except (OSError, ValueError) as error:
            msg = f"reading the file takes more than {self.timeout_s:g} s or {self.memory_mb} MB; split it"
            raise IngestionError(msg) from error
        if "problem" in reply:
            raise IngestionError(reply["problem"])
        return _parsed(reply)


def _parsed(reply: dict[str, Any]) -> Parsed:
    chunks = [Chunk(**{**chunk, "section_path": tuple(chunk["section_path"])}) for chunk in reply["chunks"]]
    attached = {name: _parsed(document) for name, document in reply["attached"].items()}
    return Parsed(chunks, reply["metadata"], tuple(reply["warnings"]), mark=reply["mark"], attached=attached)
