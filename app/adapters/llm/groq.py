"""Groq's API as a LangChain chat model that raises this project's errors and does not retry."""

from types import ModuleType
from typing import Any, ClassVar

import groq
from pydantic import SecretStr

from app.adapters.llm.groq_compat import ClosingChatGroq
from app.adapters.llm.validated_model import ValidatedModel, vendor_options


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
