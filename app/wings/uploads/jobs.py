"""Upload jobs, which every process of the service can read, and their files: under safe names, within the quota."""

import os
import re
import shutil
import time
import unicodedata
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from app.ledger.database import Database
from app.ledger.index import as_json
from app.ledger.private_files import make_private_file, make_private_folder
from app.ledger.words import metadata_of
from chains.documents.audience import Audience
from chains.ingestion.files import Problem

KEPT_S = 7 * 24 * 3600
OVER = ["done", "failed"]


class UploadReport(BaseModel):
    """What an upload did, counted in chunks."""

    files: int = 0
    chunks: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    seconds: float = 0.0
    audience: Audience = Field("internal", description="Who may see the files that were added.")
    replaced: list[str] = Field(default_factory=list, description="The files that replaced older ones.")
    problems: list[Problem] = Field(default_factory=list)
    warnings: list[Problem] = Field(default_factory=list)


class UploadState(BaseModel):
    """The progress of an upload."""

    job_id: str = Field(examples=["6f2d0c"])
    state: Literal["waiting", "running", "done", "failed"] = "waiting"
    done: int = 0
    total: int
    file: str = Field("", description="The last file read.")
    message: str = Field("", description="Why it waits, or why it failed.")
    report: UploadReport | None = None


def _name_of(file: Any) -> Any:
    return file["name"] if isinstance(file, dict) else file  # Of an earlier program's job a file is an object.


class Job(UploadState):
    """An upload as the service keeps it: beside its progress the names of its files, and what its caller chose.

    `audience` may see the files, `seen` is the caller's own audience, `replace` allows replacing files of those names.
    """

    folder: str
    files: tuple[Annotated[str, BeforeValidator(_name_of)], ...]
    category: str = ""
    audience: Audience = "internal"
    seen: Audience = "internal"
    replace: bool = False
    attempts: int = 0
    created_at: float = Field(default_factory=time.time)

    def but(self, **changes: Any) -> "Job":
        return self.model_copy(update=changes)

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
        self.database.run(WRITE, values | {"value": as_json(job.model_dump())})
        return job

    def read(self, job_id: str) -> Job | None:
        return next(iter(self._read("SELECT value FROM jobs WHERE id = :id", id=job_id)), None)

    def unfinished(self) -> list[Job]:
        """Return the unfinished jobs, oldest first."""
        return self._read("SELECT value FROM jobs WHERE NOT state = ANY(:over) ORDER BY created_at", over=OVER)

    def drop_old(self) -> None:
        drop = "DELETE FROM jobs WHERE state = ANY(:over) AND created_at < :since"
        self.database.run(drop, {"over": OVER, "since": time.time() - KEPT_S})

    def _read(self, query: str, **values: Any) -> list[Job]:
        return [Job.model_validate(metadata_of(row.value)) for row in self.database.rows(query, **values)]


FORGOTTEN_S = 3600
MAX_BYTES = 180  # Length of a name without its extension; most file systems allow 255.
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_SPACES = re.compile(r"\s+")
# Windows treats them as devices, with any extension.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def safe_name(given: str, endings: Collection[str]) -> str:
    """Return the last part of a name, made safe; ValueError if nothing is left, or no ingestion would read it."""
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rpartition("/")[2]
    shown = "".join(sign for sign in last if sign.isspace() or not unicodedata.category(sign).startswith("C"))
    name = _SPACES.sub(" ", _FORBIDDEN.sub("_", shown)).strip(" .")
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem.strip(" ."):
        raise ValueError(f"it needs a name with one of the extensions {', '.join(sorted(endings))}")
    if f".{ending.lower()}" not in endings:
        msg = f"files that end in .{ending} cannot be read; the extensions are {', '.join(sorted(endings))}"
        raise ValueError(msg)
    if stem.upper() == "README":
        raise ValueError("a README describes a folder and is not read; give it another name")
    stem = stem.encode()[:MAX_BYTES].decode(errors="ignore").rstrip(" .")
    return f"{'_' if _DEVICE.fullmatch(stem) else ''}{stem}.{ending.lower()}"


@dataclass(frozen=True)
class Places:
    """The upload folder of an index, and beside it the waiting files, by job."""

    folder: Path

    @property
    def waiting(self) -> Path:
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
        return self.waiting / job.job_id / "new" / name

    def replaced(self, job: Job, name: str) -> Path:
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
        before, path = self.replaced(job, name), self.path(job, name)
        if before.exists():
            before.replace(path)
        elif not self.staged(job, name).exists():
            path.unlink(missing_ok=True)
