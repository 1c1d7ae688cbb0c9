"""Run a model's server as a process of its own, on loopback."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.models.weights import Weights, WeightsError, server_folder

LLAMA = Path(__file__).with_name("llama.py")


@dataclass(frozen=True, slots=True)
class ModelServer:
    """A running server: its process, its address up to and with `/v1`, and its model."""

    process: subprocess.Popen[str]
    url: str
    model: str

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def model_server(weights: Weights, *, threads: int = 1) -> Iterator[ModelServer]:
    """Serve the weights while the body runs, two requests at a time.

    More threads than idle cores are far slower than one: each token waits for the slowest of them. On two cores with
    ten processes waiting, one thread wrote 10 tokens a second and two wrote 0.5.

    Raises:
        WeightsError: weights or server are not on this machine, or do not run on it.
    """
    if not weights.is_there:
        raise WeightsError(weights.how_to_get)
    command = [sys.executable, str(LLAMA), str(weights.file), weights.model, str(weights.context_tokens)]
    command.append(str(threads))
    with subprocess.Popen(
        command,
        env={"PYTHONPATH": str(server_folder())},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield ModelServer(process, f"{_address(process, weights)}/v1", weights.model)
        finally:
            process.kill()


def _address(process: subprocess.Popen[str], weights: Weights) -> str:
    """Return where it listens, once the weights are loaded."""
    address = process.stdout.readline().strip() if process.stdout else ""
    if not address.startswith("http://127.0.0.1:"):
        msg = f"the server of {weights.model} ended before it listened; `{LLAMA.name}` runs it by hand"
        raise WeightsError(msg)
    return address
