"""Upload jobs, which every process of the service can read."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from sqlalchemy import text

from app.ledger.database import Database
from app.ledger.schema import jobs
from chains.documents.audience import Audience

State = Literal["waiting", "running", "done", "failed"]
KEPT_S = 7 * 24 * 3600
OVER = ("done", "failed")


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


@dataclass(frozen=True)
class Jobs:
    """The jobs of a ledger."""

    database: Database

    def write(self, job: Job) -> Job:
        """Store the state of a job, and return it."""
        values = {"state": job.state, "created_at": job.created_at, "value": asdict(job)}
        with self.database.changing() as connection:
            if not connection.execute(jobs.update().where(jobs.c.id == job.job_id).values(values)).rowcount:
                connection.execute(jobs.insert().values(values | {"id": job.job_id}))
        return job

    def add(self, job: Job, check: Callable[[], None]) -> None:
        """Store a new job unless `check` raises; no other process adds one meanwhile."""
        with self.database.changing() as connection:
            if self.database.dialect == "postgresql":
                connection.execute(text("LOCK TABLE jobs IN SHARE ROW EXCLUSIVE MODE"))
            check()
            self.write(job)

    def read(self, job_id: str) -> Job | None:
        with self.database.reading() as connection:
            value = connection.execute(jobs.select().with_only_columns(jobs.c.value).where(jobs.c.id == job_id))
            return next((_job(row.value) for row in value), None)

    def unfinished(self) -> list[Job]:
        """Return the unfinished jobs, oldest first."""
        query = jobs.select().where(jobs.c.state.not_in(OVER)).order_by(jobs.c.created_at)
        with self.database.reading() as connection:
            return [_job(row.value) for row in connection.execute(query)]

    def drop_old(self) -> None:
        """Delete the jobs that ended long ago."""
        is_old = jobs.c.state.in_(OVER) & (jobs.c.created_at < time.time() - KEPT_S)
        with self.database.changing() as connection:
            connection.execute(jobs.delete().where(is_old))

    def working(self) -> AbstractContextManager[bool]:
        """Let no other process work on jobs while the body runs; yield False where one does."""
        return self.database.lock("uploads")


def _job(value: dict[str, Any]) -> Job:
    return replace(Job(**value), files=tuple(UploadedFile(**file) for file in value["files"]))
