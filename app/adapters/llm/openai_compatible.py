"""Any service that speaks OpenAI's chat protocol, as a LangChain chat model with this project's errors."""

from types import ModuleType
from typing import Any, ClassVar

import openai
from langchain_openai.chat_models.base import BaseChatOpenAI
from pydantic import SecretStr

from app.adapters.http_client import async_client, client
from app.adapters.llm.validated_model import ValidatedModel

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
    temperature: float = 0.3,
    max_tokens: int = 500,
    timeout_s: float = 60,
    kind: type[OpenAICompatibleModel] = OpenAICompatibleModel,
    **more: Any,
) -> OpenAICompatibleModel:
    """Return the chat model at `base_url`, the address up to and with `/v1`; a service without keys needs none.

    `timeout_s` is for the whole reply; a call may give a shorter one as `timeout`. `more` are other options of
    LangChain's class: `default_headers`, `reasoning_effort`.
    """
    return kind(
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
        **more,
    )


def openrouter_model(
    *, base_url: str | None, api_key: SecretStr | None, referer: str | None, title: str, **options: Any
) -> OpenAICompatibleModel:
    """Return a chat model of OpenRouter, with its documented headers for the calling application."""
    headers = {"X-Title": title} | ({"HTTP-Referer": referer} if referer else {})
    return openai_compatible_model(base_url=base_url or OPENROUTER, api_key=api_key, default_headers=headers, **options)
