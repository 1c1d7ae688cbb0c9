"""A worker process with bounds on time and memory, for files that may be hostile: one task and one reply at a time.

`LimitedProcess` is the side of the caller, `run` that of the worker: each line of its input is a task, each line of its
output a reply.
"""

import json
import math
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter

from app import hooks
from chains.errors import IngestionError
from chains.ingestion import text_files
from chains.ingestion.chunks import Chunker
from chains.ingestion.parsing import Parsed, parse_file
from chains.regular_files import open_file

if sys.platform != "win32":
    import resource

# The system counts the seconds of the processor; a busy machine or a slow disk may take so many times as long.
WALL_TIMES = 5

# Threads of numpy's, which nobody uses here, would each reserve memory that counts against the limit.
ENVIRONMENT = {"PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass
class LimitedProcess:
    """Runs `module` as a process; it starts with the first task, and anew with the next one after it died.

    Each task may take `timeout_s` of the processor, and the process `memory_mb`.
    """

    module: str
    timeout_s: float
    memory_mb: int
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _connection: socket.socket | None = field(default=None, init=False)

    def ask(self, task: dict[str, Any]) -> Any:
        """Return the reply to a task. Raise OSError, ValueError if the process was ended as it took too much."""
        was_there = self._connection is not None
        try:
            connection = self._connection or self._start()
            connection.sendall(json.dumps(task | {"timeout_s": self.timeout_s}).encode() + b"\n")
            with connection.makefile("rb") as replies:
                reply = json.loads(replies.readline())
        except (OSError, ValueError) as error:
            self.stop()
            if was_there and isinstance(error, BrokenPipeError):  # It was given up when it had replied.
                return self.ask(task)
            raise
        if reply["last"]:
            self.stop()
        return reply

    def stop(self) -> None:
        """End the process, if it runs. Another thread that waits for its reply gets an error."""
        connection, process = self._connection, self.process
        self._connection = self.process = None
        if process is not None:
            process.kill()
            process.wait()
        if connection is not None:
            connection.close()

    def interrupt(self) -> None:
        """Give up the task under way, from any thread: the one that waits for the reply gets an error."""
        if (connection := self._connection) is not None:
            with suppress(OSError):  # It ends by itself at this moment.
                connection.shutdown(socket.SHUT_RDWR)

    def _start(self) -> socket.socket:
        """Start the process. Its environment holds no secret: a hostile file may take it over."""
        self._connection, theirs = socket.socketpair()
        self._connection.settimeout(self.timeout_s * WALL_TIMES)
        with theirs:
            self.process = subprocess.Popen(  # noqa: S603 - this interpreter and a module of ours.
                [sys.executable, "-m", self.module, str(self.memory_mb)],
                env=ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
            )
        return self._connection


Answer = Callable[[dict[str, Any]], dict[str, Any]]


def run(answer: Answer) -> None:
    """Answer the tasks on the standard input; the first argument of the command is how many megabytes may be taken."""
    memory_mb = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # Else the system writes the memory of a killed worker to a file.
    with suppress(ValueError):  # macOS has no such limit; the one of time remains.
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20, memory_mb * 2**20))
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)  # Only replies go to stdout; what a library prints goes to stderr.
        serve(sys.stdin.buffer, replies, memory_mb, answer)


def serve(tasks: IO[bytes], replies: IO[bytes], memory_mb: int, answer: Answer) -> None:
    """Answer tasks until there are no more, or one has taken so much memory that the next might lack it."""
    last = False
    while not last and (line := tasks.readline()):
        task = json.loads(line)
        # The system ends this process when it has used so many more seconds of the processor.
        used = math.ceil(time.process_time() + task["timeout_s"])
        resource.setrlimit(resource.RLIMIT_CPU, (used, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        reply = answer(task)
        last = _peak_mb() > memory_mb / 2
        replies.write(json.dumps({**reply, "last": last}).encode() + b"\n")
        replies.flush()


def _peak_mb() -> float:
    """Return the most memory that this process has held; on Linux, `ru_maxrss` begins with that of its parent."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (2**20 if sys.platform == "darwin" else 2**10)
    return int(status.partition("VmHWM:")[2].split()[0]) / 2**10


# Files of text up to this size are parsed in the calling process.
LOCAL_BYTES = 64 * 1024
# The scanned pages of a file may take so many times as long by the clock; the worker as a whole WALL_TIMES as long.
RECOGNITION_TIMES = 3
PARSED = TypeAdapter(Parsed)


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
        return PARSED.validate_python(reply)
