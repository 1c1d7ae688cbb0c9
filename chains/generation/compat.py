"""LangChain's methods of chat models that are not public, for a model that calls others within its own run.

The public `invoke` and `stream` would start a second run for each call. `_generate` and `_stream` are what every
chat model implements; `tests/chains/generation/test_generate.py` fails where LangChain changes them.
"""

from collections.abc import AsyncGenerator, Generator
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGenerationChunk, ChatResult


def generate(model: BaseChatModel, **request: Any) -> ChatResult:
    return model._generate(**request)


async def agenerate(model: BaseChatModel, **request: Any) -> ChatResult:
    return await model._agenerate(**request)


def stream(model: BaseChatModel, **request: Any) -> Generator[ChatGenerationChunk]:
    return cast("Generator[ChatGenerationChunk]", model._stream(**request))


def astream(model: BaseChatModel, **request: Any) -> AsyncGenerator[ChatGenerationChunk]:
    return cast("AsyncGenerator[ChatGenerationChunk]", model._astream(**request))


def identity(model: BaseChatModel) -> dict[str, Any]:
    """Return what tells the model and its parameters from others."""
    return {"type": model._llm_type, **model._identifying_params}


def tracing_parameters(model: BaseChatModel, stop: list[str] | None, /, **options: Any) -> Any:
    return model._get_ls_params(stop=stop, **options)
