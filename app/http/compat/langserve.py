"""LangServe's serializer and its playground, neither of which it exports."""

from typing import Any

from fastapi import Request, Response
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langserve import APIHandler
from langserve.serialization import WellKnownLCSerializer
from pydantic import BaseModel

_STREAM_LOG = b'"/stream_log"'  # What the playground's script asks.

_serializer = WellKnownLCSerializer()


def serialize(value: Any) -> str:
    """Return the JSON of a value, LangChain's objects included."""
    return _serializer.dumps(value).decode()


class Unconfigurable(RunnableBinding[Any, Any]):  # type: ignore[no-redef]  # Of the field `kwargs`, in LangChain.
    """A chain of which clients configure nothing, so that LangServe's schemas list nothing to configure."""

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        return []


def handler(chain: Runnable[Any, Any], question: type[BaseModel], path: str) -> APIHandler:
    """Return LangServe's own handler, for the schemas and the playground; a client configures nothing."""
    return APIHandler(Unconfigurable(bound=chain, custom_input_type=question), path=path, config_keys=())


async def playground_file(served: APIHandler, path: str, request: Request, *, run_path: str) -> Response:
    """Return a file of the playground, which asks `run_path` in place of the deprecated `stream_log`.

    Raise OSError or ValueError if the path is a folder, or cannot be a file's name.
    """
    file = await served.playground(path, request)
    content = bytes(file.body).replace(_STREAM_LOG, f'"{run_path}"'.encode())
    return Response(content, file.status_code, media_type=file.media_type)
