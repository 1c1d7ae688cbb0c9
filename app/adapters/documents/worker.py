"""The process that reads hostile files: one task a line on its input, one reply a line on its output.

`isolation.py` starts it as `python -m app.adapters.documents.worker MEMORY_MB`.
"""

import json
import math
import os
import resource
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from app.adapters.documents.docx import load_docx
from app.adapters.documents.html import load_html
from app.adapters.documents.pdf import load_pdf
from chains.errors import IngestionError
from chains.ingestion import text_files
from chains.ingestion.chunks import Chunker
from chains.ingestion.parsing import parse_file

LOADERS = {
    **text_files.LOADERS,
    **dict.fromkeys((".htm", ".html", ".xhtml"), load_html),
    ".docx": load_docx,
    ".pdf": load_pdf,
}


def serve(tasks: IO[bytes], replies: IO[bytes], memory_mb: int) -> None:
    """Answer tasks until there are no more, or one has taken so much memory that the next might lack it."""
    last = False
    while not last and (line := tasks.readline()):
        task = json.loads(line)
        _limit_seconds(task["timeout_s"])
        reply = answer(task)
        last = _peak_mb() > memory_mb / 2
        replies.write(json.dumps({**reply, "last": last}).encode() + b"\n")
        replies.flush()


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Parse the file of a task; return what JSON can carry."""
    try:
        parsed = parse_file(Path(task["path"]), LOADERS, Chunker(**task["chunker"]))
    except IngestionError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "the file takes more memory than INGEST_FILE_MEMORY_MB allows; split it, or raise that"}
    return {**asdict(parsed), "chunks": [asdict(chunk) for chunk in parsed.chunks]}


def _limit_seconds(seconds: float) -> None:
    """Have the system end this process when it has used so many more seconds of the processor."""
    used = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (used, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _peak_mb() -> float:
    """Return the most memory that this process has held; on Linux, `ru_maxrss` begins with that of its parent."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (2**20 if sys.platform == "darwin" else 2**10)
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**10


def main() -> None:
    """Serve on the standard input and output."""
    memory_mb = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # Else the system writes the memory of a killed worker to a file.
    with suppress(ValueError):  # macOS has no such limit; the one of time remains.
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20, memory_mb * 2**20))
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)  # What a library prints is no reply.
        serve(sys.stdin.buffer, replies, memory_mb)


if __name__ == "__main__":
    main()
