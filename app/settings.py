"""The environment and `.env` -> Settings. Nothing else in the project reads the environment.

A value that does not fit stops the program at start, with the variable's name and what is allowed.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AliasChoices, BeforeValidator, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

_BOOLEANS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def _boolean(value: object) -> object:
    if isinstance(value, str):
        if value.strip().lower() not in _BOOLEANS:
            msg = "is not one of 1, 0, true, false, yes, no, on, off"
            raise ValueError(msg)
        return _BOOLEANS[value.strip().lower()]
    return value


def _usual(*names: str) -> AliasChoices:
    """Return the names that LangChain knows a variable by, the older ones too."""
    return AliasChoices(*(f"{prefix}_{name}" for name in names for prefix in ("langsmith", "langchain")))


Flag = Annotated[bool, BeforeValidator(_boolean)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(gt=0)]

LANGSMITH = "https://api.smith.langchain.com"


class SettingsError(Exception):
    """Some settings do not fit; the message names each, with what is allowed."""


class Settings(BaseSettings):
    """Every setting, under the name of its variable in lower case, with its default."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore", frozen=True
    )

    llm_provider: Literal["groq", "openai-compatible", "offline"] | None = Field(
        None, description="groq with a key, else offline"
    )
    llm_api_key: SecretStr | None = Field(None, validation_alias=AliasChoices("llm_api_key", "groq_api_key"))
    llm_base_url: str | None = Field(None, pattern=r"^https?://")
    llm_model: str = "llama-3.1-8b-instant"
    llm_temperature: float = Field(0.3, ge=0, le=2)
    llm_max_tokens: Positive = 500
    llm_timeout_s: float = Field(60, gt=0)
    llm_max_retries: int = Field(3, ge=0, le=10)
    llm_context_tokens: Positive = Field(131_072, description="what the model reads and writes together")
    llm_rpm: Positive | None = Field(None, description="no limit on requests a minute")
    llm_tpm: Positive | None = Field(None, description="no limit on tokens a minute")
    llm_queue_timeout_s: float = Field(20, gt=0)
    llm_breaker_failures: Positive = 5
    llm_breaker_reset_s: float = Field(60, gt=0)
    llm_fallback: Flag = True
    llm_fallback_base_url: str | None = Field(None, pattern=r"^https?://")
    llm_fallback_model: str | None = None
    llm_fallback_api_key: SecretStr | None = None
    request_timeout_s: float = Field(90, gt=0)

    embedding_provider: Literal["huggingface", "openai-compatible"] = "huggingface"
    embedding_model: str = "sentence-transformers/all-MiniLM-L6-v2"
    embedding_backend: Literal["onnx", "torch"] = "onnx"
    embedding_base_url: str | None = Field(None, pattern=r"^https?://")
    embedding_api_key: SecretStr | None = None
    embedding_timeout_s: float = Field(30, gt=0)

    vector_store_type: Literal["chroma", "memory"] = "chroma"
    chroma_path: Path = Path("storage/chroma")
    chroma_host: str | None = Field(None, pattern=r"^[^\s/:]+$", description="a server in place of the folder")
    chroma_port: int = Field(8000, ge=1, le=65535)
    chroma_ssl: Flag = False
    chroma_api_key: SecretStr | None = None
    memory_store_path: Path = Path("storage/memory-vector-store.json")
    vector_store_timeout_s: float = Field(10, gt=0)
    collection_name: str = Field("waypoint_kb", pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$")

    retriever_type: Literal["hybrid", "similarity", "mmr", "compression"] = "hybrid"
    retrieval_top_k: int = Field(10, ge=1, le=100)
    relevance_threshold: Fraction = 0.15
    mmr_fetch_k: Positive | None = Field(None, description="twice the number of passages")
    mmr_lambda: Fraction = 0.5
    max_context_tokens: Positive = 2000

    citation_style: Literal["title", "numbered"] = "title"
    min_citations: int = Field(1, ge=0, le=20)
    citation_repair: Flag = True

    scope_enabled: Flag = True
    scope_file: Path | None = Field(None, description="the packaged knowledge_base/scope.yaml")

    cache_enabled: Flag = False
    cache_embeddings: Flag = True
    cache_retrieval: Flag = True
    cache_llm: Flag = True
    cache_ttl: Positive = Field(3600, description="seconds")
    cache_backend: Literal["memory", "redis"] = "memory"
    redis_url: SecretStr = SecretStr("redis://127.0.0.1:6379/0")
    redis_timeout_s: float = Field(0.25, gt=0)

    rabbitmq_url: SecretStr | None = Field(None, description="no events")
    events_enabled: Flag = True
    events_path: Path = Path("storage/events.sqlite3")
    events_max: Positive = 10_000

    chunk_size: int = Field(800, ge=100)
    chunk_overlap: int = Field(100, ge=0)
    min_chunks: int = Field(20, ge=0)

    auth_mode: Literal["none", "session", "api_key"] = "none"
    allow_anonymous: Flag = False
    anonymous_audience: Literal["public", "internal"] | None = Field(
        None, description="internal on this machine, public with ALLOW_ANONYMOUS"
    )
    auth_url: str | None = Field(None, pattern=r"^https?://", description="sessions are read from Redis")
    api_keys: SecretStr | None = None
    rate_limit: str | None = Field(
        None, pattern=r"^(off|[1-9]\d*/(second|minute|hour|day))$", description="60/minute where others may ask"
    )
    rate_limit_backend: Literal["memory", "redis"] = "memory"
    batch_max: Positive = 10
    max_concurrent_questions: Positive = 100
    question_queue_s: float = Field(10, gt=0)
    body_timeout_s: float = Field(10, gt=0)
    forwarded_allow_ips: str = "127.0.0.1"

    cors_origins: str = ""
    port: int = Field(3000, ge=1, le=65535)
    warm_up: Flag = True
    drain_timeout_s: float = Field(30, ge=0)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["auto", "json", "text"] = "auto"
    log_questions: Flag = False
    prometheus_multiproc_dir: Path | None = Field(None, description="each process tells its own figures")

    langsmith_tracing: Flag = Field(False, validation_alias=_usual("tracing", "tracing_v2"))
    langsmith_api_key: SecretStr | None = Field(None, validation_alias=_usual("api_key"))
    langsmith_endpoint: str = Field(LANGSMITH, pattern=r"^https?://", validation_alias=_usual("endpoint"))
    langsmith_project: str = Field("waypoint", validation_alias=_usual("project"))
    langsmith_hide_inputs: Flag = Field(False, validation_alias=_usual("hide_inputs"))
    langsmith_hide_outputs: Flag = Field(False, validation_alias=_usual("hide_outputs"))
    otel_exporter_otlp_endpoint: str | None = Field(None, pattern=r"^https?://")

    @field_validator("rabbitmq_url")
    @classmethod
    def _check_broker(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not url.get_secret_value().startswith(("amqp://", "amqps://")):
            msg = "has to be an address like amqp://user:password@host:5672/"
            raise ValueError(msg)
        return url

    @model_validator(mode="after")
    def _check_together(self) -> "Settings":
        if self.chunk_overlap >= self.chunk_size:
            msg = f"CHUNK_OVERLAP ({self.chunk_overlap}) has to be smaller than CHUNK_SIZE ({self.chunk_size})"
            raise ValueError(msg)
        if self.llm_provider == "groq" and self.llm_api_key is None:
            msg = "LLM_PROVIDER=groq needs a key in LLM_API_KEY or GROQ_API_KEY; LLM_PROVIDER=offline needs none"
            raise ValueError(msg)
        if self.llm_provider == "openai-compatible" and self.llm_base_url is None:
            msg = "LLM_PROVIDER=openai-compatible needs LLM_BASE_URL, like http://127.0.0.1:8080/v1"
            raise ValueError(msg)
        if self.llm_max_tokens >= self.llm_context_tokens:
            msg = f"LLM_MAX_TOKENS ({self.llm_max_tokens}) has to be smaller than LLM_CONTEXT_TOKENS"
            raise ValueError(msg)
        if self.retriever_type == "compression" and self.provider == "offline":
            msg = (
                "RETRIEVER_TYPE=compression needs a language model; set LLM_API_KEY, or take hybrid, similarity or mmr"
            )
            raise ValueError(msg)
        if self.embedding_provider == "openai-compatible" and self.embedding_base_url is None:
            msg = "EMBEDDING_PROVIDER=openai-compatible needs EMBEDDING_BASE_URL, like http://127.0.0.1:8080/v1"
            raise ValueError(msg)
        if self.langsmith_tracing and self.langsmith_endpoint == LANGSMITH and self.langsmith_api_key is None:
            msg = "LANGSMITH_TRACING=true needs LANGSMITH_API_KEY, or the LANGSMITH_ENDPOINT of a server without keys"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _check_access(self) -> "Settings":
        if self.auth_mode == "api_key" and self.api_keys is None:
            msg = "AUTH_MODE=api_key needs API_KEYS, like name:SHA-256 of the key:ask"
            raise ValueError(msg)
        return self

    @property
    def open_to_others(self) -> bool:
        """Say whether somebody beside the users of this machine may ask."""
        return self.auth_mode != "none" or self.allow_anonymous

    @property
    def rate(self) -> str | None:
        """Return the rate in force: the one that is set, else 60/minute where others may ask; None is no limit."""
        rate = self.rate_limit or ("60/minute" if self.open_to_others else "off")
        return None if rate == "off" else rate

    @property
    def provider(self) -> str:
        """Return the provider in force: the one that is set, else groq where there is a key, else offline."""
        return self.llm_provider or ("groq" if self.llm_api_key else "offline")

    @property
    def required_key(self) -> SecretStr:
        """Return LLM_API_KEY, which is there wherever the provider needs it."""
        return self.llm_api_key or SecretStr("")


def load_settings(**overrides: Any) -> Settings:
    """Read the settings from the environment and `.env`; `overrides` win.

    Raises:
        SettingsError: a value does not fit.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise SettingsError("\n".join(_explain(problem) for problem in error.errors())) from None
    except OSError as error:
        msg = f".env cannot be read: {error.strerror}"
        raise SettingsError(msg) from error


def _explain(problem: Any) -> str:
    reason = str(problem["msg"]).removeprefix("Value error, ")
    if not problem["loc"]:
        return reason
    name = str(problem["loc"][0])
    shown = "" if _is_secret(name) else f"={problem['input']!r}"
    return f"{name.upper()}{shown}: {reason}"


def _is_secret(name: str) -> bool:
    field = Settings.model_fields.get(name)
    return field is None or SecretStr in get_args(field.annotation)
