"""Upload jobs, stored as small files that every process of the service can read."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from app.adapters.private_files import FILE_MODE, make_private_folder, write_atomically
from chains.audience import Audience

State = Literal["waiting", "running", "done", "failed"]
KEPT_S = 7 * 24 * 3600


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
        """Return whether the job has ended."""
        return self.state in {"done", "failed"}


@dataclass(frozen=True)
class Jobs:
    """The jobs of a folder. Each state is written atomically, so a killed process leaves the previous one."""

    folder: Path

    def write(self, job: Job) -> Job:
        """Store the state of a job, and return it."""
        write_atomically(self.folder / f"{job.job_id}.json", json.dumps(asdict(job), ensure_ascii=False))
        return job

    def read(self, job_id: str) -> Job | None:
        """Return a job, or None."""
        try:
            kept = json.loads((self.folder / f"{job_id}.json").read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        return replace(Job(**kept), files=tuple(UploadedFile(**file) for file in kept["files"]))

    def known(self) -> set[str]:
        """Return the ids of all jobs."""
        return set(self._ids())

    def unfinished(self) -> list[Job]:
        """Return the unfinished jobs, oldest first; jobs that ended long ago are deleted."""
        jobs = [job for job in map(self.read, self._ids()) if job]
        for job in jobs:
            if job.is_over and job.created_at < time.time() - KEPT_S:
                for ending in (".json", ".lock"):
                    (self.folder / f"{job.job_id}{ending}").unlink(missing_ok=True)
        return sorted((job for job in jobs if not job.is_over), key=lambda job: job.created_at)

    def _ids(self) -> list[str]:
        with suppress(FileNotFoundError):
            return [path.stem for path in self.folder.glob("[0-9a-f]*.json")]
        return []

    @contextmanager
    def accepting(self) -> Iterator[None]:
        """Keep other processes and threads from adding a job while the body runs."""
        make_private_folder(self.folder)
        with FileLock(self.folder / "accept.lock", mode=FILE_MODE):
            yield

    @contextmanager
    def held(self, job_id: str) -> Iterator[bool]:
        """Lock a job while the body runs; yield False if another process or thread holds it."""
        lock = FileLock(self.folder / f"{job_id}.lock", timeout=0, mode=FILE_MODE)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()
