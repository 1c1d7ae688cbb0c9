"""A worker process with bounds on time and memory, for files that may be hostile: one task and one reply at a time."""

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

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
        """Return the reply to a task.

        Raises:
            OSError, ValueError: the process was ended because it took more than it may; it is stopped.
        """
        try:
            connection = self._connection or self._start()
            connection.sendall(json.dumps(task | {"timeout_s": self.timeout_s}).encode() + b"\n")
            with connection.makefile("rb") as replies:
                reply = json.loads(replies.readline())
        except (OSError, ValueError):
            self.stop()
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
