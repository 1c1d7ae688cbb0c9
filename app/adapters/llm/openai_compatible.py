"""Any service that speaks OpenAI's chat protocol, also a server of one's own like Ollama, as a LangChain chat model."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from types import ModuleType
from typing import Any, ClassVar, Final, cast
from urllib.parse import urlsplit

import openai
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai.chat_models.base import BaseChatOpenAI
from pydantic import PrivateAttr, SecretStr

from app.adapters.llm.validated_model import ValidatedModel, map_errors, vendor_options
from chains.errors import LLMRejectedError

OPENROUTER = "https://openrouter.ai/api/v1"


class OpenAICompatibleModel(ValidatedModel, BaseChatOpenAI):
    """LangChain's base of such models, validated.

    ChatOpenAI itself sends `max_completion_tokens`, which many services do not know; the base sends `max_tokens`.
    """

    vendor: ClassVar[ModuleType] = openai

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {**super()._identifying_params, "base_url": self.openai_api_base}


def openai_compatible_model(
    *,
    base_url: str,
    model: str,
    api_key: SecretStr | None = None,
    kind: type[OpenAICompatibleModel] = OpenAICompatibleModel,
    **options: Any,
) -> OpenAICompatibleModel:
    """Return the chat model at `base_url`, the address up to and with `/v1`; a service without keys needs none."""
    form = {"stream_usage": True, "use_responses_api": False} | vendor_options(**options)
    return kind(base_url=base_url, model=model, api_key=api_key or SecretStr("none"), **form)


def openrouter_model(
    *, base_url: str | None, api_key: SecretStr | None, default_headers: dict[str, str] | None = None, **options: Any
) -> OpenAICompatibleModel:
    """Return a chat model of OpenRouter, with its documented header for the calling application."""
    headers = {"X-Title": "Waypoint Co-Pilot"} | (default_headers or {})
    return openai_compatible_model(base_url=base_url or OPENROUTER, api_key=api_key, default_headers=headers, **options)


LIST_TIMEOUT_S: Final = 5.0


class FirstListedModel(OpenAICompatibleModel):
    """The first model that the server lists and that is not one of embeddings, looked up with the first question.

    Raise LLMRejectedError if there is none.
    """

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
            names = (name for name in listed_models(self) if "embed" not in name.lower())
            self._found = next(names, None)
        if self._found is None:
            msg = "the server lists no language model; load one (for Ollama: `ollama pull NAME`), or set LLM_MODEL"
            raise LLMRejectedError(msg)
        return self._found


def local_model(*, base_url: str, model: str | None, **options: Any) -> OpenAICompatibleModel:
    """Return the chat model; without a name it is the first that the server lists, and `/v1` may be left out."""
    address = base_url if urlsplit(base_url).path.strip("/") else f"{base_url.rstrip('/')}/v1"
    if model is not None:
        return openai_compatible_model(base_url=address, model=model, **options)
    return openai_compatible_model(base_url=address, model="", kind=FirstListedModel, **options)


def listed_models(model: OpenAICompatibleModel) -> list[str]:
    """Return the names of the models on the server, in its order. Raise LLMError if it cannot be reached."""
    with map_errors(openai):
        return [listed.id for listed in model.root_client.models.list(timeout=LIST_TIMEOUT_S)]
