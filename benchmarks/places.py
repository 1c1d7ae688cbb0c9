"""The stores that are measured: how each is started, which settings name it, and what it takes of memory and disk."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from tests.postgres import server as postgres_server
from tests.processes import PATIENCE_S, free_port
from tests.waiting import wait_until

# What an operator would set on a machine of this size; the rest is as it comes.
POSTGRES_OPTIONS = "-c shared_buffers=1GB -c maintenance_work_mem=2GB -c max_wal_size=8GB"


@dataclass(frozen=True)
class Place:
    """A store that runs: its settings, the processes of its server, and the folders that hold its data."""

    settings: dict[str, str]
    folders: tuple[Path, ...]
    servers: tuple[psutil.Process, ...] = field(default=())

    def disk_mb(self) -> float:
        """Return the size of what is stored."""
        files = (path for folder in self.folders for path in folder.rglob("*") if path.is_file())
        return sum(path.stat().st_blocks * 512 for path in files) / 2**20

    def server_mb(self) -> float:
        """Return the resident memory of the server's processes; what they share counts once."""
        family = (one for server in self.servers for one in (server, *server.children(recursive=True)))
        return sum(map(_memory, family)) / 2**20


def _memory(process: psutil.Process) -> float:
    try:
        return float(process.memory_full_info().pss)
    except psutil.NoSuchProcess:  # The server ended it since they were listed.
        return 0.0


@contextmanager
def chroma_folder(folder: Path) -> Iterator[Place]:
    """Give Chroma in a folder, within the process that asks."""
    yield Place({"chroma_path": str(folder)}, (folder,))


@contextmanager
def chroma_server(folder: Path) -> Iterator[Place]:
    """Run a Chroma server; the words are in a file beside the process that asks."""
    port, data, beside = free_port(), folder / "server", folder / "beside"
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(data), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: _answers(port), limit_s=PATIENCE_S)
            settings = {"chroma_host": "127.0.0.1", "chroma_port": str(port), "chroma_path": str(beside)}
            yield Place(settings | {"vector_store_timeout_s": "600"}, (data, beside), (psutil.Process(process.pid),))
        finally:
            process.terminate()


@contextmanager
def postgres(folder: Path) -> Iterator[Place]:
    """Run PostgreSQL with pgvector, as durable as it comes; its data is in a folder of its own."""
    with postgres_server(POSTGRES_OPTIONS) as server, server.database() as url:
        data = server.folder / "data"
        postmaster = int((data / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        settings = {"vector_store_type": "postgres", "database_url": url, "chroma_path": str(folder)}
        yield Place(settings, (data,), (psutil.Process(postmaster),))


def emptied(folder: Path) -> Path:
    """Return the folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/api/v2/heartbeat").is_success
    except httpx.TransportError:
        return False


PLACES = {"Chroma, folder": chroma_folder, "Chroma, server": chroma_server, "PostgreSQL": postgres}
