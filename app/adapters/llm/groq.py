"""Groq's API -> a LangChain chat model that raises this project's errors and leaves retries to others."""

from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import Any, ClassVar

import groq
from langchain_core.outputs import ChatGenerationChunk
from langchain_groq import ChatGroq
from pydantic import SecretStr

from app.adapters.http_client import async_client, client
from app.adapters.llm.closing_stream import AsyncKept, Kept
from app.adapters.llm.validated_model import Checked


class ClosingChatGroq(ChatGroq):
    """ChatGroq, whose streams are closed when they are left."""

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        with Kept(self.client) as kept:
            yield from ChatGroq._stream(self.model_copy(update={"client": kept}), *args, **kwargs)

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        async with AsyncKept(self.async_client) as kept:
            async for chunk in ChatGroq._astream(self.model_copy(update={"async_client": kept}), *args, **kwargs):
                yield chunk


class GroqModel(Checked, ClosingChatGroq):
    """The same, checked."""

    vendor: ClassVar[ModuleType] = groq


def groq_model(
    *,
    api_key: SecretStr,
    model: str,
    base_url: str | None = None,
    temperature: float = 0.3,
    max_tokens: int = 500,
    timeout_s: float = 60,
) -> GroqModel:
    """Return the chat model; `base_url` is the bare host, to which the client adds `/openai/v1`.

    `timeout_s` is for the whole reply; a call may give a shorter one as `timeout`.
    """
    return GroqModel(
        api_key=api_key,
        model_name=model,
        base_url=base_url.rstrip("/").removesuffix("/openai/v1") if base_url else None,
        temperature=temperature,
        max_tokens=max_tokens,
        timeout=timeout_s,
        max_retries=0,
        http_client=client(),
        http_async_client=async_client(),
    )
