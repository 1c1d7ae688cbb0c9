"""LangServe's serializer and its playground, neither of which it exports."""

from typing import Any

from fastapi import Request, Response
from langchain_core.runnables import RunnablePassthrough
from langserve.playground import serve_playground
from langserve.serialization import WellKnownLCSerializer
from pydantic import BaseModel

_STREAM_LOG = b'"/stream_log"'  # What the playground's script asks.

_serializer = WellKnownLCSerializer()


def serialize(value: Any) -> str:
    """Return the JSON of a value, LangChain's objects included."""
    return _serializer.dumps(value).decode()


async def playground_file(
    request: Request, path: str, *, root: str, run: str, question: type[BaseModel], answer: type[BaseModel]
) -> Response:
    """Return a file of the playground below `root`, which asks `run` in place of the deprecated `stream_log`.

    Raise OSError or ValueError if the path is a folder, or cannot be a file's name.
    """
    base = request.scope.get("root_path", "").rstrip("/") + root
    nothing_to_configure: Any = RunnablePassthrough()
    file = await serve_playground(nothing_to_configure, question, answer, (), base, path, False, False, "default")
    content = bytes(file.body).replace(_STREAM_LOG, f'"{run}"'.encode())
    return Response(content, file.status_code, media_type=file.media_type)
