"""Groq's API as a LangChain chat model that raises this project's errors and does not retry."""

from types import ModuleType
from typing import Any, ClassVar

import groq
from pydantic import SecretStr

from app.adapters.http_client import async_client, client
from app.adapters.llm.groq_compat import ClosingChatGroq
from app.adapters.llm.validated_model import ValidatedModel


class GroqModel(ValidatedModel, ClosingChatGroq):
    """ChatGroq, validated."""

    vendor: ClassVar[ModuleType] = groq

    @property
    def _identifying_params(self) -> dict[str, Any]:
        names = ("model_name", "groq_api_base", "temperature", "max_tokens", "reasoning_effort", "reasoning_format")
        return {name: getattr(self, name) for name in names}


def groq_model(
    *,
    api_key: SecretStr,
    model: str,
    base_url: str | None = None,
    temperature: float = 0.3,
    max_tokens: int = 500,
    timeout_s: float = 60,
    **more: Any,
) -> GroqModel:
    """Return the chat model; `base_url` is the bare host, to which the client adds `/openai/v1`.

    `timeout_s` is for the whole reply; a call may give a shorter one as `timeout`. `more` are other options of
    ChatGroq: `reasoning_format`, `reasoning_effort`, `service_tier`.
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
        **more,
    )
