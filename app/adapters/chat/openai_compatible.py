"""Any service that speaks OpenAI's chat protocol -> a LangChain chat model that raises this project's errors."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai.chat_models.base import BaseChatOpenAI
from pydantic import SecretStr

from app.adapters.chat.bounded import async_client, client
from app.adapters.chat.replies import awhole, complete, whole
from app.adapters.chat.translation import translated


class OpenAICompatibleModel(BaseChatOpenAI):
    """LangChain's base of such models, its vendor's errors translated, its replies checked.

    ChatOpenAI itself sends `max_completion_tokens`, which many services do not know; the base sends `max_tokens`.
    """

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with translated(openai):
            return complete(super()._generate(messages, stop, run_manager, **kwargs))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with translated(openai):
            return complete(await super()._agenerate(messages, stop, run_manager, **kwargs))

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        with translated(openai):
            yield from whole(super()._stream(*args, **kwargs))

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        with translated(openai):
            async for chunk in awhole(super()._astream(*args, **kwargs)):
                yield chunk


def openai_compatible_model(
    *,
    base_url: str,
    model: str,
    api_key: SecretStr | None = None,
    temperature: float = 0.3,
    max_tokens: int = 500,
    timeout_s: float = 60,
) -> OpenAICompatibleModel:
    """Return the chat model at `base_url`, the address up to and with `/v1`; a service without keys needs none.

    `timeout_s` is for the whole reply; a call may give a shorter one as `timeout`.
    """
    return OpenAICompatibleModel(
        base_url=base_url,
        model=model,
        api_key=api_key or SecretStr("none"),
        temperature=temperature,
        max_tokens=max_tokens,
        timeout=timeout_s,
        max_retries=0,
        stream_usage=True,
        use_responses_api=False,
        http_client=client(),
        http_async_client=async_client(),
    )
