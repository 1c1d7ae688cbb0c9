"""Upload jobs, which every process of the service can read."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from app.ledger.database import Database
from app.ledger.rows import as_json
from app.ledger.words import metadata_of
from chains.documents.audience import Audience

State = Literal["waiting", "running", "done", "failed"]
KEPT_S = 7 * 24 * 3600
OVER = ["done", "failed"]


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file of an upload: its name, and whether it replaces another."""

    name: str
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """An upload: its progress, and at its end the result of each file.

    `audience` may see the files, `seen` is the caller's own audience, `replace` allows replacing files of those names.
    """

    job_id: str
    folder: str
    files: tuple[UploadedFile, ...]
    category: str = ""
    audience: Audience = "internal"
    seen: Audience = "internal"
    replace: bool = False
    state: State = "waiting"
    done: int = 0
    total: int = 0
    file: str = ""
    message: str = ""
    attempts: int = 0
    created_at: float = 0.0
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.state in OVER


WRITE = """
INSERT INTO jobs (id, state, created_at, value) VALUES (:id, :state, :created_at, :value)
ON CONFLICT (id) DO UPDATE SET state = excluded.state, value = excluded.value
"""


@dataclass(frozen=True)
class Jobs:
    """The jobs of a ledger."""

    database: Database

    def write(self, job: Job) -> Job:
        values = {"id": job.job_id, "state": job.state, "created_at": job.created_at}
        self.database.run(WRITE, values | {"value": as_json(asdict(job))})
        return job

    def add(self, job: Job, check: Callable[[], None]) -> None:
        """Store a new job unless `check` raises; no other process adds one meanwhile."""
        with self.database.changing(alone="jobs"):
            check()
            self.write(job)

    def read(self, job_id: str) -> Job | None:
        return next(self._read("SELECT value FROM jobs WHERE id = :id", id=job_id), None)

    def unfinished(self) -> list[Job]:
        """Return the unfinished jobs, oldest first."""
        query = "SELECT value FROM jobs WHERE NOT state = ANY(:over) ORDER BY created_at"
        return list(self._read(query, over=OVER))

    def drop_old(self) -> None:
        """Delete the jobs that ended long ago."""
        drop = "DELETE FROM jobs WHERE state = ANY(:over) AND created_at < :since"
        self.database.run(drop, {"over": OVER, "since": time.time() - KEPT_S})

    def working(self) -> AbstractContextManager[bool]:
        """Let no other process work on jobs while the body runs; yield False where one does."""
        return self.database.lock("uploads")

    def _read(self, query: str, **values: Any) -> Iterator[Job]:
        for (row,) in self.database.rows(query, **values):
            value = metadata_of(row)
            yield replace(Job(**value), files=tuple(UploadedFile(**file) for file in value["files"]))
