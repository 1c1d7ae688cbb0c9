"""LangServe's request and response models, its serializer and its playground, none of which it exports."""

from functools import partial
from types import GenericAlias
from typing import Annotated, Any

from fastapi import Request, Response
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.runnables.utils import ConfigurableFieldSpec
from langserve import APIHandler
from langserve.serialization import WellKnownLCSerializer
from langserve.validation import (
    create_batch_request_model,
    create_batch_response_model,
    create_invoke_request_model,
    create_invoke_response_model,
    create_stream_events_request_model,
    create_stream_request_model,
)
from pydantic import BaseModel, Field, ValidationError, WrapValidator, create_model

NAMESPACE = "copilot"
_STREAM_LOG = b'"/stream_log"'  # What the playground's script asks.

_serializer = WellKnownLCSerializer()


class NoConfig(BaseModel):
    """A client's config; nothing of it is used."""


# Request bodies by the question's model, and responses by the answer's type.
invoke_body = partial(create_invoke_request_model, NAMESPACE, config=NoConfig)
stream_body = partial(create_stream_request_model, NAMESPACE, config=NoConfig)
stream_events_body = partial(create_stream_events_request_model, NAMESPACE, config=NoConfig)
invoke_response = partial(create_invoke_response_model, NAMESPACE, include_callbacks=False)
batch_response = partial(create_batch_response_model, NAMESPACE, include_callbacks=False)


def serialize(value: Any) -> str:
    """Return the JSON of a value, LangChain's objects included."""
    return _serializer.dumps(value).decode()


class Unconfigurable(RunnableBinding[Any, Any]):  # type: ignore[no-redef]  # Of the field `kwargs`, in LangChain.
    """A chain of which clients configure nothing, so that LangServe's schemas list nothing to configure."""

    @property
    def config_specs(self) -> list[ConfigurableFieldSpec]:
        """Return none."""
        return []


def handler(chain: Runnable[Any, Any], question: type[BaseModel], path: str) -> APIHandler:
    """Return LangServe's own handler, for the schemas and the playground; a client configures nothing."""
    return APIHandler(Unconfigurable(bound=chain, custom_input_type=question), path=path, config_keys=())


async def playground_file(served: APIHandler, path: str, request: Request, *, run_path: str) -> Response:
    """Return a file of the playground, which asks `run_path` in place of the deprecated `stream_log`.

    Raises:
        OSError, ValueError: the path is a folder, or cannot be a file's name.
    """
    file = await served.playground(path, request)
    content = bytes(file.body).replace(_STREAM_LOG, f'"{run_path}"'.encode())
    return Response(content, file.status_code, media_type=file.media_type)


def batch_body(question: type[BaseModel], batch_max: int) -> type[BaseModel]:
    """Return the body of a batch; an invalid input becomes its ValidationError."""
    base = create_batch_request_model(NAMESPACE, question, NoConfig)
    inputs: Any = GenericAlias(list, (Annotated[question, WrapValidator(_keep_error)],))
    return create_model(base.__name__, __base__=base, inputs=(inputs, Field(max_length=batch_max)))


def _keep_error(value: Any, validate: Any) -> Any:
    try:
        return validate(value)
    except ValidationError as error:
        return error
