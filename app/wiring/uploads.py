"""Add documents that were uploaded, one upload at a time with `waypoint ingest`, and remove documents.

An upload is a job: its files wait in a folder of their own; under the lock of an ingestion they take their places and
are ingested by name; what could not be read is taken away again, and an older file of that name comes back. A job that
was interrupted, by a stop or a kill, is gone on with by the next process that starts or is asked for it.
"""

import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING
from uuid import uuid4

import structlog

from app.settings import Settings
from app.wiring.library import Library, uploads_folder
from app.wiring.storage import parser
from app.wiring.upload_jobs import Job, Jobs, UploadedFile
from chains.errors import IndexBusyError
from chains.ingestion.files import Problem

if TYPE_CHECKING:
    from app.wiring.ingestion import Ingestion
    from chains.ingestion.index import Report

UNSORTED = "uploaded"  # The folder, and so the category, of files that were given none.
CATEGORIES = ("regulatory", "carrier", "reference", "internal")
ATTEMPTS = 3  # A file that ends the process must not do so for ever.
BUSY_S = 600
RETRY_S = 1.0
TOLD_EVERY_S = 0.3
STOP_S = 5

BUSY = "Another ingestion is at work. The files are added when it is done."
STILL_BUSY = "Another ingestion did not end within ten minutes. Add the files again later."
FAILED = "The index could not be changed, and the files were not added. Try again, or tell the operators."
GIVEN_UP = "The service ended each time it added these files, so they were not added. Add them one by one."

log = structlog.get_logger(__name__)


class StoppedError(Exception):
    """The service ends; the job is gone on with later."""


@dataclass
class Uploads:
    """The documents that are added and removed over HTTP."""

    settings: Settings
    library: Library
    ingestion: "Ingestion"
    added: int = field(default=0, init=False)
    failed: int = field(default=0, init=False)
    _stopping: threading.Event = field(default_factory=threading.Event, init=False)
    _threads: list[threading.Thread] = field(default_factory=list, init=False)

    @property
    def folder(self) -> Path:
        """Return where the files are kept, by category."""
        return uploads_folder(self.settings)

    @property
    def jobs(self) -> Jobs:
        """Return the states of the uploads."""
        return Jobs(self.folder.with_name(f"{self.folder.name}.jobs"))

    @property
    def endings(self) -> list[str]:
        """Return the endings of the files that can be read."""
        return sorted(parser(self.settings).endings)

    def existing(self, names: Sequence[str], category: str) -> list[str]:
        """Return the names that are taken in the folder of a category."""
        return [name for name in names if (self.folder / (category or UNSORTED) / name).exists()]

    def accept(self, files: Sequence[tuple[str, IO[bytes]]], category: str) -> Job:
        """Keep the files, and begin to add them.

        Raises:
            OSError: they cannot be kept.
        """
        names = [name for name, _ in files]
        taken = set(self.existing(names, category))
        job = Job(
            job_id=uuid4().hex,
            folder=category or UNSORTED,
            files=tuple(UploadedFile(name, replaces=name in taken) for name in names),
            total=len(names),
            created_at=time.time(),
        )
        staged = self._staged(job)
        try:
            staged.mkdir(parents=True)
            for name, content in files:
                with (staged / name).open("xb") as file:
                    shutil.copyfileobj(content, file)
            self.jobs.write(job)
        except OSError:
            shutil.rmtree(staged.parent, ignore_errors=True)
            raise
        self._start(job.job_id)
        return job

    def job(self, job_id: str) -> Job | None:
        """Return the state of a job; one that was interrupted goes on."""
        job = self.jobs.read(job_id)
        if job and not job.is_over and not self._stopping.is_set():
            self._start(job_id)
        return job

    def resume(self) -> None:
        """Go on with the jobs that were interrupted."""
        for job in self.jobs.unfinished():
            self._start(job.job_id)

    def close(self) -> None:
        """Stop between two files; what is left is done by the next process."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(STOP_S)

    def remove(self, doc_id: str) -> None:
        """Remove a document from the index, and its file if it was uploaded.

        The file is put aside first: a process that is killed in between leaves a document that can be removed again.

        Raises:
            IndexBusyError: an ingestion is at work.
            VectorStoreError: the index cannot be changed; everything is as it was.
        """
        with self.ingestion.into.locked():
            source = self.library.catalogue().sources.get(doc_id)
            path = source.path if source and self.library.is_uploaded(source) else None
            aside = path and path.with_name(f".{path.name}.removed")  # Hidden files are not ingested.
            if path and aside:
                with suppress(FileNotFoundError):
                    path.replace(aside)
            try:
                self.ingestion.remove(doc_id)
            except BaseException:
                if path and aside and aside.exists():
                    aside.replace(path)
                raise
            if aside:
                aside.unlink(missing_ok=True)
        log.info("document_removed", doc_id=doc_id, uploaded=path is not None)

    def _start(self, job_id: str) -> None:
        if any(thread.name == job_id and thread.is_alive() for thread in self._threads):
            return
        self._threads[:] = [thread for thread in self._threads if thread.is_alive()]
        # A daemon: a service that ends does not wait for a long file; the job is gone on with.
        thread = threading.Thread(target=self._run, args=(job_id,), name=job_id, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self, job_id: str) -> None:
        with self.jobs.held(job_id) as ours:
            job = self.jobs.read(job_id) if ours else None
            if job is None or job.is_over:
                return
            with suppress(StoppedError):
                self._finish(self._work(self.jobs.write(replace(job, attempts=job.attempts + 1))))

    def _work(self, job: Job) -> Job:
        """Add the files, and return how it ended."""
        if job.attempts > ATTEMPTS:
            return self._failed(job, GIVEN_UP)
        patience = time.monotonic() + BUSY_S
        while True:
            try:
                return self._add(job)
            except IndexBusyError:
                if time.monotonic() > patience:
                    return self._failed(job, STILL_BUSY)
                job = self.jobs.write(replace(job, state="waiting", message=BUSY))
            except StoppedError:
                # A stop is no attempt that failed.
                self.jobs.write(replace(job, attempts=job.attempts - 1))
                raise
            except Exception as error:
                log.exception("upload_failed", job_id=job.job_id, error=type(error).__name__)
                return self._failed(job, FAILED)
            if self._stopping.wait(RETRY_S):
                raise StoppedError

    def _add(self, job: Job) -> Job:
        with self.ingestion.into.locked():
            for file in job.files:
                self._place(job, file)
            paths = [self._path(job, file) for file in job.files]
            report = self.ingestion.add(paths, progress=self._progress(job))
            return self._settled(job, report)

    def _progress(self, job: Job) -> Callable[[int, int, str], None]:
        told = 0.0

        def tell(done: int, total: int, label: str, /) -> None:
            nonlocal told
            if self._stopping.is_set():
                raise StoppedError
            if time.monotonic() - told >= TOLD_EVERY_S:
                told = time.monotonic()
                file = "" if label == "done" else label
                self.jobs.write(replace(job, state="running", message="", done=done, total=total, file=file))

        return tell

    def _settled(self, job: Job, report: "Report") -> Job:
        """Take away what could not be read, and return the job at its end."""
        reasons = {problem.path: problem.reason for problem in report.problems}
        for file in job.files:
            if file.name in reasons:
                self._take_back(job, file)
        told = asdict(report) | {
            "problems": [asdict(Problem(file.name, reasons[file.name])) for file in job.files if file.name in reasons],
            "replaced": [file.name for file in job.files if file.replaces and file.name not in reasons],
        }
        return replace(job, state="done", message="", done=len(job.files), file="", report=told)

    def _failed(self, job: Job, message: str) -> Job:
        with suppress(IndexBusyError), self.ingestion.into.locked():
            self.ingestion.into.abandon()
        for file in job.files:
            self._take_back(job, file)
        return replace(job, state="failed", message=message, file="")

    def _finish(self, job: Job) -> None:
        shutil.rmtree(self._staged(job).parent, ignore_errors=True)
        problems = len(job.report.get("problems", ())) if job.state == "done" else len(job.files)
        self.added += len(job.files) - problems
        self.failed += problems
        log.info("upload_finished", job_id=job.job_id, state=job.state, files=len(job.files), problems=problems)
        self.jobs.write(job)

    def _place(self, job: Job, file: UploadedFile) -> None:
        """Put a file where it belongs, and the one of that name aside; what was done before an interruption stays."""
        staged, path, before = self._staged(job) / file.name, self._path(job, file), self._before(job, file)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not staged.exists():
            return
        if path.exists():
            before.parent.mkdir(exist_ok=True)
            path.replace(before)
        staged.replace(path)

    def _take_back(self, job: Job, file: UploadedFile) -> None:
        if (self._staged(job) / file.name).exists():
            return  # It never took its place.
        before, path = self._before(job, file), self._path(job, file)
        if before.exists():
            before.replace(path)
        else:
            path.unlink(missing_ok=True)

    def _path(self, job: Job, file: UploadedFile) -> Path:
        return self.folder / job.folder / file.name

    def _staged(self, job: Job) -> Path:
        return self.folder.with_name(f"{self.folder.name}.waiting") / job.job_id / "new"

    def _before(self, job: Job, file: UploadedFile) -> Path:
        return self._staged(job).with_name("before") / file.name
