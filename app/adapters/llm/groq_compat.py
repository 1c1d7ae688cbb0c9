"""Groq's API as a LangChain chat model with this project's errors, which closes its streams when they are left.

ChatGroq leaves the stream of Groq's client to the garbage collector, so the provider would go on writing to a reader
who has left. Groq's client also makes a model of each reply and chunk, which ChatGroq turns back into a dict: a quarter
of what a stream costs. This module relies on ChatGroq calling only `create` of its `client`;
`tests/app/adapters/llm/test_models.py` fails where that changes.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import groq
from groq import AsyncStream, Stream
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_groq import ChatGroq
from pydantic import SecretStr

from app.adapters.llm.validated_model import ValidatedModel, vendor_options


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request whose messages are sent as they are: the client reads the type of each of their fields."""
    sent = {**(options.get("extra_body") or {}), "messages": options["messages"]}
    return {**options, "messages": [], "extra_body": sent}


class ClosingChatGroq(ChatGroq):
    """ChatGroq whose streams are closed when they are left."""

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        async def create(**options: Any) -> Any:
            response = await self.async_client.with_raw_response.create(**_plain(options))
            return await response.parse(to=object)

        model = self if self.streaming else self.model_copy(update={"async_client": SimpleNamespace(create=create)})
        return await ChatGroq._agenerate(model, *args, **kwargs)

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        with ExitStack() as opened:

            def create(**options: Any) -> Any:
                response = self.client.with_raw_response.create(**options)
                return opened.enter_context(response.parse(to=Stream[object]))

            model = self.model_copy(update={"client": SimpleNamespace(create=create)})
            yield from ChatGroq._stream(model, *args, **kwargs)

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        async with AsyncExitStack() as opened:

            async def create(**options: Any) -> Any:
                response = await self.async_client.with_raw_response.create(**_plain(options))
                return await opened.enter_async_context(await response.parse(to=AsyncStream[object]))

            model = self.model_copy(update={"async_client": SimpleNamespace(create=create)})
            async for chunk in ChatGroq._astream(model, *args, **kwargs):
                yield chunk


class GroqModel(ValidatedModel, ClosingChatGroq):
    """ChatGroq, validated."""

    vendor: ClassVar[ModuleType] = groq

    @property
    def _identifying_params(self) -> dict[str, Any]:
        names = ("model_name", "groq_api_base", "temperature", "max_tokens", "reasoning_effort", "reasoning_format")
        return {name: getattr(self, name) for name in names}


def groq_model(*, api_key: SecretStr, model: str, base_url: str | None = None, **options: Any) -> GroqModel:
    """Return the chat model; `base_url` is the bare host, to which the client adds `/openai/v1`."""
    address = base_url.rstrip("/").removesuffix("/openai/v1") if base_url else None
    return GroqModel(api_key=api_key, model_name=model, base_url=address, **vendor_options(**options))
