"""Add uploaded documents, one upload or ingestion at a time, and remove documents.

An upload is a job: its files wait in their own folder; under the ingestion lock they move to their places and are
ingested by name; unreadable ones are removed again, and an older file of that name is restored. One process of the
service works through the jobs of all; an interrupted one is continued by the next process that starts or is asked.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import IO
from uuid import uuid4

from app.http.errors import RequestRefusedError
from app.http.policy import MEGABYTE
from app.wings.uploads.jobs import Job, Jobs, Places, UploadReport
from app.wiring.index import Index
from app.wiring.storage import folder_beside, ledger_of, parser
from chains.documents.audience import INTERNAL, Audience
from chains.errors import IndexBusyError
from chains.ingestion.files import Chosen, Problem
from chains.ingestion.index import Report
from chains.logs import get_logger

UNSORTED = "uploaded"  # The folder, and so the category, of files without a category.
MOST_WAITING = 20  # Uploads; further ones get 429.
ATTEMPTS = 3  # A file that kills the process must not do so forever.
BUSY_S = 600
RETRY_S = 1.0
OTHERS_S = 0.3  # How often a process looks whether another one is done.
PROGRESS_EVERY_S = 0.3
STOP_S = 5

NO_ROOM = "The files cannot be stored; the disk may be full. Contact the operators."
QUOTA = "The uploads would exceed their quota. Remove some files, or ask the operators for more space."
TOO_MANY = "Too many uploads are waiting. Try again soon."
RETRY_AFTER = {"Retry-After": "10"}  # Seconds.
BUSY = "Other documents are being added. Yours are next."
STILL_BUSY = "Another ingestion has run for over ten minutes. Add the files again later."
FAILED = "The files were not added, because the index could not be changed. Try again, or contact support."
GIVEN_UP = "The service crashed each time it added these files, so they were not added. Add them one by one."
TAKEN = "a file with this name exists; replace it, or rename this one"
NOT_YOURS = "this name cannot be used; rename the file"

log = get_logger(__name__)


class StoppedError(Exception):
    """The service is stopping; the job is continued later."""


class Uploads:
    """Adds and removes documents over HTTP."""

    def __init__(self, index: Index) -> None:
        settings = index.settings
        self.index, self.library = index, index.library
        self.folder = folder_beside(settings, "uploads")
        self.places, self.jobs = Places(self.folder), Jobs(ledger_of(settings))
        self.endings = sorted(parser(settings).endings)
        self._quota = settings.ingestion.upload_quota_mb * MEGABYTE
        self.added = self.failed = self._receiving = 0
        self._stopping, self._lock = threading.Event(), threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def receiving(self) -> Iterator[None]:
        """Hold a place in the queue while files are received. Raise RequestRefusedError if there is none."""
        with self._lock:
            self._receiving += 1
        try:
            if self._receiving + len(self.jobs.unfinished()) > MOST_WAITING:
                raise RequestRefusedError(429, TOO_MANY, RETRY_AFTER)
            yield
        finally:
            with self._lock:
                self._receiving -= 1

    def accept(
        self,
        files: Sequence[tuple[str, IO[bytes]]],
        category: str,
        *,
        audience: Audience = "internal",
        seen: Audience = "internal",
        replace: bool = False,
    ) -> Job:
        """Store the files, and begin to add them; RequestRefusedError if they cannot be stored, or may not."""
        folder = category or UNSORTED
        if audience == "internal" != category:
            folder = f"{INTERNAL}/{folder}"  # The name makes its files internal.
        job = Job(
            job_id=uuid4().hex,
            folder=folder,
            files=tuple(name for name, _ in files),
            category=category,
            audience=audience,
            seen=seen,
            replace=replace,
            total=len(files),
        )
        try:
            self.places.stage(job.job_id, files)
            with self.jobs.database.changing(alone="jobs"):  # No other process adds one meanwhile.
                self._check(job)
                self.jobs.write(job)
        except BaseException as error:
            self.places.drop(job.job_id)
            if isinstance(error, OSError):
                raise RequestRefusedError(507, NO_ROOM) from None
            raise
        self._start()
        return job

    def _check(self, job: Job) -> None:
        if not job.replace:
            coming = {name for other in self.jobs.unfinished() if other.folder == job.folder for name in other.files}
            taken = [name for name in job.files if name in coming or self.places.path(job, name).exists()]
            if clashes := ", ".join(map(repr, taken)):
                raise RequestRefusedError(409, f"{clashes} already exists. Send replace=true to replace it.")
        if self.places.size() > self._quota:
            raise RequestRefusedError(507, QUOTA)

    def job(self, job_id: str) -> Job | None:
        job = self.jobs.read(job_id)
        if job and not job.is_over:
            self._start()
        return job

    def resume(self) -> None:
        jobs = self.jobs.unfinished()
        self.places.drop_forgotten({job.job_id for job in jobs})
        self.jobs.drop_old()
        if jobs:
            self._start()

    def close(self) -> None:
        """Stop between two files; the next process does the rest."""
        self._stopping.set()
        if thread := self._thread:
            thread.join(STOP_S)

    def remove(self, doc_id: str) -> None:
        """Remove a document from the index, and its file if it was uploaded.

        The file is moved aside first: after a kill in between, the document can be removed again. Raise IndexBusyError
        if an ingestion is running; VectorStoreError if the index cannot be changed, and everything is as it was.
        """
        with self.index.stored.locked():
            source = self.library.catalogue("internal").sources.get(doc_id)
            path = source.path if source and self.library.is_uploaded(source) else None
            aside = path and path.with_name(f".{path.name}.removed")  # Hidden files are not ingested.
            if path and aside:
                with suppress(FileNotFoundError):
                    path.replace(aside)
            try:
                self.index.remove(doc_id)
            except BaseException:
                if path and aside and aside.exists():
                    aside.replace(path)
                raise
            if aside:
                aside.unlink(missing_ok=True)
        log.info("document_removed", doc_id=doc_id, uploaded=path is not None)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopping.is_set():
                # A daemon: shutdown does not wait for a long file, and the job is continued later.
                self._thread = threading.Thread(target=self._run_all, name="uploads", daemon=True)
                self._thread.start()

    def _run_all(self) -> None:
        """Work through the jobs, or wait while another process does."""
        while not self._stopping.is_set():
            try:
                with self._lock:  # A job that is added from now on starts a thread.
                    if not self.jobs.unfinished():
                        self._thread = None
                        return
                with self.jobs.database.lock("uploads") as ours:
                    for job in self.jobs.unfinished() if ours else ():
                        self._finish(self._work(self.jobs.write(job.but(attempts=job.attempts + 1))))
            except StoppedError:
                return
            except Exception as error:  # Its state could not be written; it is tried again.
                log.exception("upload_interrupted", error=type(error).__name__)
                self._stopping.wait(RETRY_S)
            else:
                self._stopping.wait(0 if ours else OTHERS_S)

    def _work(self, job: Job) -> Job:
        if job.attempts > ATTEMPTS:
            return self._failed(job, GIVEN_UP)
        patience = time.monotonic() + BUSY_S
        while True:
            try:
                return self._add(job)
            except IndexBusyError:
                if time.monotonic() > patience:
                    return self._failed(job, STILL_BUSY)
                job = self.jobs.write(job.but(state="waiting", message=BUSY))
            except StoppedError:
                # A stop does not count as a failed attempt.
                self.jobs.write(job.but(attempts=job.attempts - 1))
                raise
            except Exception as error:
                log.exception("upload_failed", job_id=job.job_id, error=type(error).__name__)
                return self._failed(job, FAILED)
            if self._stopping.wait(RETRY_S):
                raise StoppedError

    def _add(self, job: Job) -> Job:
        with self.index.stored.locked():
            refused = {name: reason for name in job.files if (reason := self._refusal(job, name))}
            paths = [self.places.place(job, name) for name in job.files if name not in refused]
            if not paths:
                return self._settled(job, refused, None)
            # Otherwise a taken id would reveal a document that the caller may not see.
            roots = {path: path.parent if job.seen == "internal" else self.folder.parent for path in paths}
            chosen = {path: Chosen(job.audience, job.category, root) for path, root in roots.items()}
            report = self.index.add(paths, progress=self._progress(job), chosen=chosen)
            return self._settled(job, refused, report)

    def _refusal(self, job: Job, name: str) -> str:
        """Return why a file may not be added; empty if it may, or already was before an interruption."""
        path = self.places.path(job, name)
        if not (self.places.staged(job, name).exists() and path.exists()):
            return ""
        if not job.replace:
            return TAKEN
        catalogue = self.library.catalogue("internal")
        there = [catalogue.entries.get(doc_id) for doc_id, source in catalogue.sources.items() if source.path == path]
        return "" if all(entry is None or entry.allows(job.seen) for entry in there) else NOT_YOURS

    def _progress(self, job: Job) -> Callable[[int, int, str], None]:
        written = 0.0

        def tell(done: int, total: int, label: str, /) -> None:
            nonlocal written
            if self._stopping.is_set():
                raise StoppedError
            if time.monotonic() - written >= PROGRESS_EVERY_S:
                written = time.monotonic()
                file = "" if label == "done" else label
                self.jobs.write(job.but(state="running", message="", done=done, total=total, file=file))

        return tell

    def _settled(self, job: Job, refused: dict[str, str], report: Report | None) -> Job:
        """Remove what could not be read, and return the finished job, which tells of its own files alone."""
        problems = refused | (_by_name(job, report.problems) if report else {})
        warnings = _by_name(job, report.warnings) if report else {}
        for name in problems:
            self.places.take_back(job, name)
        counts = asdict(report) if report else {}
        summary = counts | {
            "audience": job.audience,
            "problems": [Problem(*problem) for problem in problems.items()],
            "warnings": [Problem(*warning) for warning in warnings.items()],
            "replaced": [name for name in job.files if self.places.replaced(job, name).exists()],
        }
        return job.but(state="done", message="", done=len(job.files), file="", report=UploadReport(**summary))

    def _failed(self, job: Job, message: str) -> Job:
        for name in job.files:
            self.places.take_back(job, name)
        return job.but(state="failed", message=message, file="")

    def _finish(self, job: Job) -> None:
        self.places.drop(job.job_id)
        problems = len(job.report.problems) if job.report else len(job.files)
        self.added += len(job.files) - problems
        self.failed += problems
        log.info("upload_finished", job_id=job.job_id, state=job.state, files=len(job.files), problems=problems)
        self.jobs.write(job)


def _by_name(job: Job, problems: Sequence[Problem]) -> dict[str, str]:
    """Return the problem of each file of a job, by name: all its files are in one folder."""
    named = {PurePosixPath(problem.path).name: problem.reason for problem in problems}
    return {name: named[name] for name in job.files if name in named}
