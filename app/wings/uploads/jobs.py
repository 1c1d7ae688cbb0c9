"""Upload jobs, which every process of the service can read, and their files: under safe names, within the quota."""

import os
import re
import shutil
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from app.ledger.database import Database
from app.ledger.index import as_json
from app.ledger.private_files import make_private_file, make_private_folder
from app.ledger.words import metadata_of
from chains.documents.audience import INTERNAL, Audience

State = Literal["waiting", "running", "done", "failed"]
KEPT_S = 7 * 24 * 3600
OVER = ["done", "failed"]


@dataclass(frozen=True, slots=True)
class Job:
    """An upload: the names of its files, its progress, and at its end the result of each file.

    `audience` may see the files, `seen` is the caller's own audience, `replace` allows replacing files of those names.
    """

    job_id: str
    folder: str
    files: tuple[str, ...]
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
        drop = "DELETE FROM jobs WHERE state = ANY(:over) AND created_at < :since"
        self.database.run(drop, {"over": OVER, "since": time.time() - KEPT_S})

    def working(self) -> AbstractContextManager[bool]:
        """Let no other process work on jobs while the body runs; yield False where one does."""
        return self.database.lock("uploads")

    def _read(self, query: str, **values: Any) -> Iterator[Job]:
        for (row,) in self.database.rows(query, **values):
            value = metadata_of(row)
            # Of an earlier program's job a file is an object.
            names = (file["name"] if isinstance(file, dict) else file for file in value["files"])
            yield Job(**value | {"files": tuple(names)})


UNSORTED = "uploaded"  # The folder, and so the category, of files without a category.
FORGOTTEN_S = 3600
MAX_BYTES = 180  # Length of a name without its extension; most file systems allow 255.
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_SPACES = re.compile(r"\s+")
# Windows treats them as devices, with any extension.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


class FileNameError(ValueError):
    """A file cannot be stored under its name; the message says why."""


def safe_name(given: str, endings: Collection[str]) -> str:
    """Return the last part of a name, made safe; FileNameError if nothing is left, or no ingestion would read it."""
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rpartition("/")[2]
    shown = "".join(sign for sign in last if sign.isspace() or not unicodedata.category(sign).startswith("C"))
    name = _SPACES.sub(" ", _FORBIDDEN.sub("_", shown)).strip(" .")
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem.strip(" ."):
        raise FileNameError(f"it needs a name with one of the extensions {', '.join(sorted(endings))}")
    if f".{ending.lower()}" not in endings:
        msg = f"files that end in .{ending} cannot be read; the extensions are {', '.join(sorted(endings))}"
        raise FileNameError(msg)
    if stem.upper() == "README":
        raise FileNameError("a README describes a folder and is not read; give it another name")
    stem = stem.encode()[:MAX_BYTES].decode(errors="ignore").rstrip(" .")
    return f"{'_' if _DEVICE.fullmatch(stem) else ''}{stem}.{ending.lower()}"


def folder_of(category: str, audience: Audience) -> str:
    """Return the folder of a category; internal files are in one whose name makes them internal."""
    name = category or UNSORTED
    return name if audience == "public" or category == INTERNAL else f"{INTERNAL}/{name}"


@dataclass(frozen=True)
class Places:
    """The upload folder of an index, and beside it the waiting files, by job."""

    folder: Path

    @property
    def waiting(self) -> Path:
        """Return the folder of the waiting files, with a folder for each job."""
        return self.folder.with_name(f"{self.folder.name}.waiting")

    def size(self) -> int:
        size = 0
        for top in (self.folder, self.waiting):
            for folder, _, names in os.walk(top):  # It skips a folder that is deleted meanwhile.
                for name in names:
                    with suppress(OSError):
                        size += Path(folder, name).lstat().st_size
        return size

    def stage(self, job_id: str, files: Sequence[tuple[str, IO[bytes]]]) -> None:
        """Store the files of a job until its turn. Raise OSError if they cannot be stored."""
        made = self.waiting / job_id / "new"
        make_private_folder(made)
        for name, content in files:
            make_private_file(made / name)
            with (made / name).open("wb") as file:
                shutil.copyfileobj(content, file)

    def drop_forgotten(self, known: Collection[str]) -> None:
        """Delete files of a process that was killed before it had created their job."""
        for folder in self.waiting.iterdir() if self.waiting.exists() else ():
            with suppress(OSError):
                if folder.name not in known and folder.stat().st_mtime < time.time() - FORGOTTEN_S:
                    self.drop(folder.name)

    def drop(self, job_id: str) -> None:
        shutil.rmtree(self.waiting / job_id, ignore_errors=True)

    def path(self, job: Job, name: str) -> Path:
        return self.folder / job.folder / name

    def staged(self, job: Job, name: str) -> Path:
        """Return where a file waits until it is placed."""
        return self.waiting / job.job_id / "new" / name

    def replaced(self, job: Job, name: str) -> Path:
        """Return where the older file is that a placed one replaces, if it does."""
        return self.waiting / job.job_id / "before" / name

    def place(self, job: Job, name: str) -> Path:
        """Move a file to its place and an existing one aside. Can be repeated after an interruption."""
        staged, path, before = self.staged(job, name), self.path(job, name), self.replaced(job, name)
        make_private_folder(path.parent)
        if staged.exists():
            if path.exists():
                make_private_folder(before.parent)
                path.replace(before)
            staged.replace(path)
        return path

    def take_back(self, job: Job, name: str) -> None:
        """Remove a placed file again, and restore the one that it replaced."""
        before, path = self.replaced(job, name), self.path(job, name)
        if before.exists():
            before.replace(path)
        elif not self.staged(job, name).exists():
            path.unlink(missing_ok=True)
