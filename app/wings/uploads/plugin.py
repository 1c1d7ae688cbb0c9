"""POST and DELETE /api/documents, /api/jobs: add documents, follow their progress, and remove documents."""

import asyncio
from collections.abc import AsyncIterator
from typing import IO, Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Request
from fastapi.concurrency import contextmanager_in_threadpool, run_in_threadpool
from pydantic import BaseModel, Field
from starlette.datastructures import FormData, UploadFile
from starlette.responses import StreamingResponse

from app.adapters.identity import Scope
from app.http.errors import RequestRefusedError
from app.http.events import EventStream, event
from app.http.policy import Policy, no_question
from app.http.questions import identity_of
from app.http.routes.documents import DocId, visible
from app.ports import MOST_FILES
from app.wings.uploads.jobs import UploadState, safe_name
from app.wings.uploads.uploads import Uploads
from app.wiring import Service
from app.wiring.library import UPLOAD_CATEGORIES
from chains.documents.audience import INTERNAL, Audience

POLL_S = 0.2
MAX_FIELDS = 10
NOT_MULTIPART = "Send the files as multipart/form-data, each in a field named `files`"
NO_JOB = "There is no such upload."
ELSEWHERE = "The documents belong to the service at RETRIEVAL_URL; add them there."
FOR_STAFF = (
    "Without audience=public files are for staff only, and adding those needs the scope 'ask:internal', which the "
    "caller does not have"
)
TWO_AUDIENCES = "The category `internal` is for staff only; send another category, or audience=internal"

router = APIRouter(tags=["Documents"])


class Accepted(BaseModel):
    """The files are stored and being added."""

    job_id: str = Field(examples=["6f2d0c"])
    events: str = Field(
        description="Where to follow the progress: server-sent events `progress` and `end`.",
        examples=["/api/jobs/6f2d0c/events"],
    )


_FIELDS = {"category": UPLOAD_CATEGORIES, "audience": ("internal", "public"), "replace": ("true",)}
_FORM = {
    "type": "object",
    "required": ["files"],
    "properties": {"files": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}}}
    | {name: {"type": "string", "enum": ["", *values]} for name, values in _FIELDS.items()},
}


@router.post(
    "/api/documents",
    status_code=202,
    response_description="Accepted",
    openapi_extra={"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}}},
)
@Policy(access=Scope.INGEST, streamed=True, questions=no_question, statuses=(409, 429, 507))
async def upload(request: Request) -> Accepted:
    """Add files to the index, for the staff only unless `audience` is `public`.

    With `replace=true` they replace files of the same names.
    """
    services: Service = request.app.state.services
    if services.answerer.remote is not None:
        raise RequestRefusedError(409, ELSEWHERE)
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise RequestRefusedError(400, NOT_MULTIPART)
    uploads, seen = services.uploads, identity_of(request).audience
    async with (
        contextmanager_in_threadpool(uploads.receiving()),
        request.form(max_files=MOST_FILES, max_fields=MAX_FIELDS) as form,
    ):
        files, category = _files(form, uploads.endings), str(form.get("category") or "")
        if category not in {"", *UPLOAD_CATEGORIES}:
            raise RequestRefusedError(400, f"The category must be one of {', '.join(UPLOAD_CATEGORIES)}, or empty")
        options: dict[str, Any] = {"audience": _audience(form, category, seen), "seen": seen}
        options["replace"] = form.get("replace") == "true"
        job = await run_in_threadpool(uploads.accept, files, category, **options)
    return Accepted(job_id=job.job_id, events=f"/api/jobs/{job.job_id}/events")


@router.delete("/api/documents/{doc_id}", status_code=204, response_description="Removed.")
@Policy(access=Scope.INGEST, statuses=(409,))
def remove(request: Request, doc_id: DocId) -> None:
    """Remove a document from the index; an uploaded file is deleted too."""
    services: Service = request.app.state.services
    visible(services.index.library, doc_id)
    services.uploads.remove(doc_id)


@router.get("/api/jobs/{job_id}", response_description="Its state")
@Policy(access=Scope.INGEST)
def job_state(request: Request, job_id: UUID) -> UploadState:
    """Return the progress of an upload, from any process of the service."""
    return _state(request.app.state.services.uploads, job_id)


@router.get(
    "/api/jobs/{job_id}/events",
    response_class=StreamingResponse,
    status_code=200,
    responses={
        200: {"description": "Events", "content": {"text/event-stream": {"example": "event: progress", "schema": {}}}}
    },
)
@Policy(access=Scope.INGEST)
async def job_events(request: Request, job_id: UUID) -> EventStream:
    """Stream the state of an upload whenever it changes, and its end."""
    uploads = request.app.state.services.uploads
    await run_in_threadpool(_state, uploads, job_id)
    return EventStream(_follow(request, uploads, job_id))


async def _follow(request: Request, uploads: Uploads, job_id: UUID) -> AsyncIterator[str]:
    sent = None
    while request.app.state.in_flight.phase != "draining":  # A disconnected client asks again, perhaps another process.
        state = await run_in_threadpool(_state, uploads, job_id)
        if state != sent:
            yield event("progress", state.model_dump_json(exclude={"report"}))
            sent = state
        if state.state in {"done", "failed"}:
            yield event("end", state.model_dump_json())
            return
        await asyncio.sleep(POLL_S)


def _state(uploads: Uploads, job_id: UUID) -> UploadState:
    job = uploads.job(job_id.hex)
    if job is None:
        raise HTTPException(404, NO_JOB)
    return UploadState.model_validate(job.model_dump(include=set(UploadState.model_fields)))


def _files(form: FormData, endings: list[str]) -> list[tuple[str, IO[bytes]]]:
    """Return the files by safe names; RequestRefusedError if one has none, two share one, or there are none."""
    files: dict[str, IO[bytes]] = {}
    for field in form.getlist("files"):
        if not isinstance(field, UploadFile):
            raise RequestRefusedError(400, NOT_MULTIPART)
        given = field.filename or ""
        try:
            name = safe_name(given, endings)
        except ValueError as error:
            raise RequestRefusedError(400, f"{given[:200]!r} was not added: {error}") from None
        if name.casefold() in {taken.casefold() for taken in files}:
            raise RequestRefusedError(400, f"Two files are called {name!r}; give one another name")
        files[name] = field.file
    if not files:
        raise RequestRefusedError(400, NOT_MULTIPART)
    return list(files.items())


def _audience(form: FormData, category: str, seen: Audience) -> Audience:
    """Return who may see the files; RequestRefusedError if the category contradicts, or the caller may not say so."""
    stated = form.get("audience") or ""
    if stated not in {"", "internal", "public"}:
        raise RequestRefusedError(400, "The audience must be `internal` or `public`")
    if stated == "public" and category == INTERNAL:
        raise RequestRefusedError(400, TWO_AUDIENCES)
    if stated != "public" and seen != "internal":
        raise RequestRefusedError(403, FOR_STAFF)
    return "public" if stated == "public" else "internal"


def routes(_service: Service) -> APIRouter:
    return router
