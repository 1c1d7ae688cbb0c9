"""The worker's side of `process.py`: one task a line on its input, one reply a line on its output, within limits."""

import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def run(answer: Answer) -> None:
    """Answer the tasks on the standard input; the first argument of the command is how many megabytes may be taken."""
    memory_mb = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # Else the system writes the memory of a killed worker to a file.
    with suppress(ValueError):  # macOS has no such limit; the one of time remains.
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20, memory_mb * 2**20))
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)  # What a library prints is no reply.
        serve(sys.stdin.buffer, replies, memory_mb, answer)


def serve(tasks: IO[bytes], replies: IO[bytes], memory_mb: int, answer: Answer) -> None:
    """Answer tasks until there are no more, or one has taken so much memory that the next might lack it."""
    last = False
    while not last and (line := tasks.readline()):
        task = json.loads(line)
        _limit_seconds(task["timeout_s"])
        reply = answer(task)
        last = _peak_mb() > memory_mb / 2
        replies.write(json.dumps({**reply, "last": last}).encode() + b"\n")
        replies.flush()


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
