"""Store uploaded files under safe names, in folders by audience and category, within the quota."""

import os
import re
import shutil
import time
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from app.adapters.private_files import make_private_file, make_private_folder
from app.wings.uploads.jobs import Job, UploadedFile
from chains.documents.audience import INTERNAL, Audience

UNSORTED = "uploaded"  # The folder, and so the category, of files without a category.
MEGABYTE = 2**20
FORGOTTEN_S = 3600
MAX_BYTES = 180  # Length of a name without its extension; most file systems allow 255.
_FORBIDDEN = re.compile(r'[<>:"|?*]')
_SPACES = re.compile(r"\s+")
# Windows treats them as devices, with any extension.
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


class FileNameError(ValueError):
    """A file cannot be stored under its name; the message says why."""


def safe_name(given: str, endings: Collection[str]) -> str:
    """Return the name to store a file under: its last part, without unsafe or invisible characters.

    Raise FileNameError if nothing is left of it, no loader reads its extension, or an ingestion would skip it.
    """
    last = unicodedata.normalize("NFC", given).replace("\\", "/").rpartition("/")[2]
    shown = "".join(sign for sign in last if sign.isspace() or not unicodedata.category(sign).startswith("C"))
    name = _SPACES.sub(" ", _FORBIDDEN.sub("_", shown)).strip(" .")
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem.strip(" ."):
        msg = f"it needs a name with one of the extensions {', '.join(sorted(endings))}"
        raise FileNameError(msg)
    if f".{ending.lower()}" not in endings:
        msg = f"files that end in .{ending} cannot be read; the extensions are {', '.join(sorted(endings))}"
        raise FileNameError(msg)
    if stem.upper() == "README":
        msg = "a README describes a folder and is not read; give it another name"
        raise FileNameError(msg)
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

    def existing(self, names: Iterable[str], category: str, audience: Audience) -> list[str]:
        """Return the file names in the folder of a category."""
        return [name for name in names if (self.folder / folder_of(category, audience) / name).exists()]

    def size(self) -> int:
        """Return the bytes of all files, waiting ones included."""
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

    def waiting_jobs(self) -> list[str]:
        """Return the ids of the jobs with waiting files."""
        with suppress(FileNotFoundError):
            return [path.name for path in self.waiting.iterdir()]
        return []

    def drop_forgotten(self, known: Collection[str]) -> None:
        """Delete files of a process that was killed before it had created their job."""
        for job_id in self.waiting_jobs():
            if job_id not in known:
                with suppress(OSError):
                    if (self.waiting / job_id).stat().st_mtime < time.time() - FORGOTTEN_S:
                        self.drop(job_id)

    def drop(self, job_id: str) -> None:
        shutil.rmtree(self.waiting / job_id, ignore_errors=True)

    def path(self, job: Job, file: UploadedFile) -> Path:
        return self.folder / job.folder / file.name

    def is_placed(self, job: Job, file: UploadedFile) -> bool:
        return not self._staged(job, file).exists()

    def place(self, job: Job, file: UploadedFile) -> UploadedFile:
        """Move a file to its place and an existing one aside; return whether it replaces one.

        Can be repeated after an interruption.
        """
        staged, path, before = self._staged(job, file), self.path(job, file), self._before(job, file)
        make_private_folder(path.parent)
        if staged.exists():
            if path.exists():
                make_private_folder(before.parent)
                path.replace(before)
            staged.replace(path)
        return replace(file, replaces=before.exists())

    def take_back(self, job: Job, file: UploadedFile) -> None:
        """Remove a file again, and restore the one that it replaced."""
        if not self.is_placed(job, file):
            return
        before, path = self._before(job, file), self.path(job, file)
        if before.exists():
            before.replace(path)
        else:
            path.unlink(missing_ok=True)

    def _staged(self, job: Job, file: UploadedFile) -> Path:
        return self.waiting / job.job_id / "new" / file.name

    def _before(self, job: Job, file: UploadedFile) -> Path:
        return self.waiting / job.job_id / "before" / file.name
