"""Groq's API -> a LangChain chat model that raises this project's errors and leaves retries to others."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import groq
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_groq import ChatGroq
from pydantic import SecretStr

from app.adapters.chat.bounded import async_client, client
from app.adapters.chat.kept import AsyncKept, Kept
from app.adapters.chat.replies import awhole, complete, whole
from app.adapters.chat.translation import translated


class GroqModel(ChatGroq):
    """ChatGroq, its vendor's errors translated, its replies checked, its streams closed when they are left."""

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with translated(groq):
            return complete(super()._generate(messages, stop, run_manager, **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with translated(groq):
            return complete(await super()._agenerate(messages, stop, run_manager, **kwargs))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        with translated(groq), Kept(self.client) as kept:
            model = self.model_copy(update={"client": kept})
            yield from whole(ChatGroq._stream(model, messages, stop, run_manager, **kwargs))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        with translated(groq):
            async with AsyncKept(self.async_client) as kept:
                model = self.model_copy(update={"async_client": kept})
                async for chunk in awhole(ChatGroq._astream(model, messages, stop, run_manager, **kwargs)):
                    yield chunk


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
