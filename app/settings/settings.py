"""All settings, and the checks across several of them."""

from typing import Any, get_args

from pydantic import ValidationInfo, field_validator, model_validator

from app.settings.presets import with_preset
from app.settings.serving import LANGSMITH, ServingFields


class Settings(ServingFields):
    """All settings, validated one by one and together."""

    @field_validator("*", mode="before")
    @classmethod
    def _any_case(cls, value: object, info: ValidationInfo) -> object:
        """Ignore case in settings with a fixed set of values."""
        choices = _choices(cls.model_fields[info.field_name or ""].annotation)
        word = value.strip().lower() if isinstance(value, str) else None
        return word if word in choices else value

    @model_validator(mode="before")
    @classmethod
    def _presets(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Fill in the provider's address, model and timeouts."""
        return with_preset(values)

    @model_validator(mode="before")
    @classmethod
    def _addresses_of_hosts(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Build the addresses of Redis and RabbitMQ from their hosts and ports."""
        made = {}
        for name, port, address in (
            ("redis", 6379, "redis://{}:{}/0"),
            ("rabbitmq", 5672, "amqp://guest:guest@{}:{}/"),
        ):
            if (host := values.get(f"{name}_host")) and not values.get(f"{name}_url"):
                made[f"{name}_url"] = address.format(host, values.get(f"{name}_port") or port)
        return values | made

    @model_validator(mode="after")
    def _check_together(self) -> "Settings":
        if (
            reason := _contradiction(self)
            or _unordered(self)
            or _incomplete_openrouter(self)
            or _incomplete_model(self)
            or _incomplete_moderation(self)
            or _incomplete_store(self)
        ):
            raise ValueError(reason)
        return self


def _choices(annotation: object) -> set[object]:
    """Return the values of a Literal, optional or not."""
    parts = get_args(annotation)
    return {one for part in parts for one in (get_args(part) or (part,)) if isinstance(one, str)}


def _contradiction(settings: ServingFields) -> str | None:
    if settings.chunk_overlap >= settings.chunk_size:
        return f"CHUNK_OVERLAP ({settings.chunk_overlap}) must be smaller than CHUNK_SIZE ({settings.chunk_size})"
    windows = settings.llm_context_tokens.split(",")
    if settings.llm_max_tokens >= min(int(window.rpartition("=")[2]) for window in windows):
        return f"LLM_MAX_TOKENS ({settings.llm_max_tokens}) must be smaller than LLM_CONTEXT_TOKENS"
    models = {*settings.allowed_models, settings.llm_fallback_model}
    if unknown := {window.rpartition("=")[0] for window in windows[1:]} - models:
        allowed = "LLM_MODEL, LLM_ALLOWED_MODELS and LLM_FALLBACK_MODEL"
        return f"LLM_CONTEXT_TOKENS names the model {min(unknown)!r}, which is not among {allowed}"
    if settings.auth_mode == "api_key" and settings.api_keys is None:
        return "AUTH_MODE=api_key needs API_KEYS, like name:SHA-256 of the key:ask"
    if settings.langsmith_tracing and settings.langsmith_endpoint == LANGSMITH and settings.langsmith_api_key is None:
        return "LANGSMITH_TRACING=true needs LANGSMITH_API_KEY, or the LANGSMITH_ENDPOINT of a server without keys"
    return None


def _incomplete_store(settings: ServingFields) -> str | None:
    kept = {
        "VECTOR_STORE_TYPE": settings.vector_store_type,
        "SESSION_BACKEND": settings.session_backend,
        "EVENTS_BACKEND": settings.events_backend,
    }
    wanting = next((name for name, kind in kept.items() if kind == "postgres"), None)
    if wanting and settings.database_url is None:
        return f"{wanting}=postgres needs DATABASE_URL, like postgresql://user:password@host:5432/name"
    return None


def _unordered(settings: ServingFields) -> str | None:
    low, medium, high = (getattr(settings, f"confidence_{name}_threshold") for name in ("low", "medium", "high"))
    if not low < medium < high:
        return (
            f"CONFIDENCE_LOW_THRESHOLD ({low:g}), CONFIDENCE_MEDIUM_THRESHOLD ({medium:g}) and "
            f"CONFIDENCE_HIGH_THRESHOLD ({high:g}) have to rise in this order"
        )
    return None


def _incomplete_model(settings: ServingFields) -> str | None:
    if settings.llm_provider == "groq" and settings.llm_api_key is None:
        return "LLM_PROVIDER=groq needs a key in LLM_API_KEY or GROQ_API_KEY; LLM_PROVIDER=offline needs none"
    if settings.llm_provider == "openai-compatible" and settings.llm_base_url is None:
        return "LLM_PROVIDER=openai-compatible needs LLM_BASE_URL, like http://127.0.0.1:8080/v1"
    if settings.retriever_type == "compression" and settings.provider == "offline":
        return "RETRIEVER_TYPE=compression needs a language model; set LLM_API_KEY, or use hybrid, similarity or mmr"
    if settings.embedding_device == "cuda" and not _runs_on_torch(settings):
        return "EMBEDDING_DEVICE=cuda needs EMBEDDING_PROVIDER=huggingface and EMBEDDING_BACKEND=torch"
    if settings.embedding_provider == "openai-compatible" and settings.embedding_base_url is None:
        return "EMBEDDING_PROVIDER=openai-compatible needs EMBEDDING_BASE_URL, like http://127.0.0.1:8080/v1"
    return None


def _runs_on_torch(settings: ServingFields) -> bool:
    return settings.embedding_provider == "huggingface" and settings.embedding_backend == "torch"


def _incomplete_openrouter(settings: ServingFields) -> str | None:
    if settings.provider == "openrouter" and not (settings.openrouter_api_key or settings.llm_api_key):
        return "LLM_PROVIDER=openrouter needs a key in OPENROUTER_API_KEY or LLM_API_KEY"
    return None


def _incomplete_moderation(settings: ServingFields) -> str | None:
    needs_key = settings.moderation_provider != "off" and not settings.moderates_by_llm_key
    if needs_key and settings.moderation_api_key is None:
        return f"MODERATION_PROVIDER={settings.moderation_provider} needs a key in MODERATION_API_KEY"
    return None
