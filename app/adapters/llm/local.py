"""A model on a server of one's own, such as Ollama or llama.cpp: it needs no key, and no name where one is served."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any, Final, cast
from urllib.parse import urlsplit

import openai
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import PrivateAttr

from app.adapters.llm.openai_compatible import OpenAICompatibleModel, openai_compatible_model
from app.adapters.llm.validated_model import map_errors
from chains.errors import LLMRejectedError

LIST_TIMEOUT_S: Final = 5.0


class FirstListedModel(OpenAICompatibleModel):
    """The first language model that the server lists, looked up with the first question and then remembered."""

    _found: str | None = PrivateAttr(None)

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        return super()._generate(*args, **kwargs, model=self._name())

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        return await super()._agenerate(*args, **kwargs, model=await asyncio.to_thread(self._name))

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        yield from super()._stream(*args, **kwargs, model=self._name())

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        name = await asyncio.to_thread(self._name)
        async with aclosing(cast("Any", super()._astream(*args, **kwargs, model=name))) as chunks:
            async for chunk in chunks:
                yield chunk

    def _name(self) -> str:
        if self._found is None:
            self._found = first_model_of(listed_models(self))
        return self._found


def local_model(*, base_url: str, model: str | None, **options: Any) -> OpenAICompatibleModel:
    """Return the chat model; without a name it is the first that the server lists, and `/v1` may be left out."""
    address = base_url if urlsplit(base_url).path.strip("/") else f"{base_url.rstrip('/')}/v1"
    if model is not None:
        return openai_compatible_model(base_url=address, model=model, **options)
    return openai_compatible_model(base_url=address, model="", kind=FirstListedModel, **options)


def listed_models(model: OpenAICompatibleModel) -> list[str]:
    """Return the names of the models on the server, in its order.

    Raises:
        LLMError: the server cannot be reached, or does not list them.
    """
    with map_errors(openai):
        return [one.id for one in model.root_client.models.list(timeout=LIST_TIMEOUT_S)]


def first_model_of(names: list[str]) -> str:
    """Return the first name that is not one of an embedding model.

    Raises:
        LLMRejectedError: there is none.
    """
    for name in names:
        if "embed" not in name.lower():
            return name
    msg = "the server lists no language model; load one (for Ollama: `ollama pull NAME`), or set LLM_MODEL"
    raise LLMRejectedError(msg)
