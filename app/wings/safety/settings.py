"""The settings of this wing."""

from typing import ClassVar, Literal

from pydantic import Field, SecretStr

from app.settings.group import AllSettings, Group
from app.settings.values import Seconds, WebAddress


class ModerationSettings(Group):
    """What judges whether a question is harmful."""

    PREFIX: ClassVar[str] = "moderation_"

    provider: Literal["groq", "openai", "off"] = Field(
        "off",
        description="Service that judges whether a question is harmful: a guard model at Groq, OpenAI's moderation, "
        "or none; if it fails, the question is answered",
    )
    model: str | None = Field(
        None,
        description="Moderation model, like meta-llama/llama-guard-4-12b; empty: openai/gpt-oss-safeguard-20b for "
        "groq, omni-moderation-latest for openai",
    )
    api_key: SecretStr | None = Field(
        None,
        description="API key of the moderation service; empty: LLM_API_KEY if LLM_PROVIDER is groq, or "
        "openai-compatible for openai",
    )
    base_url: WebAddress | None = Field(
        None,
        description="Base URL of the moderation service: the host alone for groq, up to /v1 for openai; empty: "
        "LLM_BASE_URL if the key is LLM_API_KEY, else the vendor's own",
    )
    timeout_s: Seconds = Field(10, description="Timeout of a moderation, including up to three retries")
    ignored: str = Field(
        "specialized-advice,privacy,intellectual-property",
        description="Harm categories that do not block a question by themselves, separated by commas",
    )

    def uses_llm_key(self, settings: AllSettings) -> bool:
        """Return whether the provider of the language model moderates too, so that key and address are the same."""
        same = {"groq": "groq", "openai": "openai-compatible"}
        return self.api_key is None and same.get(self.provider) == settings.provider

    def contradiction(self, settings: AllSettings) -> str | None:
        """Return that the service needs a key."""
        if self.provider != "off" and self.api_key is None and not self.uses_llm_key(settings):
            return f"MODERATION_PROVIDER={self.provider} needs a key in MODERATION_API_KEY"
        return None
