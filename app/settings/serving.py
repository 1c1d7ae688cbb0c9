"""The settings of the service around the answers: caches, ingestion, callers, logs, traces."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, BeforeValidator, Field, FilePath, SecretStr

from app.settings.group import AllSettings, Group, address_of_host
from app.settings.values import (
    Flag,
    LogLevel,
    Origins,
    Picture,
    Port,
    Positive,
    RedisAddress,
    Seconds,
    WebAddress,
    WritableFolder,
)

LANGSMITH = "https://api.smith.langchain.com"


def _either_prefix(*names: str) -> AliasChoices:
    """Return the names of a LangSmith variable, with the current prefix and the old one."""
    return AliasChoices(*(f"{prefix}_{name}" for name in names for prefix in ("langsmith", "langchain")))


def _cache_backend(value: Any) -> Any:
    """Return where shared caches are: in Redis before there was a ledger."""
    return "ledger" if value == "redis" else value


class CacheSettings(Group):
    """What is cached."""

    PREFIX: ClassVar[str] = "cache_"

    enabled: Flag = Field(False, description="Whether anything is cached")
    embeddings: Flag = Field(True, description="Whether question embeddings are cached")
    retrieval: Flag = Field(True, description="Whether retrieved passages are cached")
    llm: Flag = Field(True, description="Whether answers are cached")
    ttl: Positive = Field(3600, description="Lifetime of a cache entry in seconds")
    backend: Annotated[Literal["memory", "ledger"], BeforeValidator(_cache_backend)] = Field(
        "memory", description="memory: one cache per process; ledger: shared"
    )


class RedisSettings(Group):
    """Redis, for sessions and rate limits."""

    PREFIX: ClassVar[str] = "redis_"

    url: RedisAddress = Field(SecretStr("redis://127.0.0.1:6379/0"), description="Redis for sessions and rate limits")
    host: str | None = Field(None, description="Host of Redis if REDIS_URL is not set")
    port: Port = Field(6379, description="Port of Redis")

    @classmethod
    def completed(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the address of a host."""
        return address_of_host(values, "redis", 6379, "redis://{}:{}/0")


class SessionSettings(Group):
    """The store of conversations."""

    PREFIX: ClassVar[str] = "session_"

    ttl: Positive = Field(86_400, description="Seconds a conversation is kept after its last question")
    capacity: Positive = Field(
        10_000,
        validation_alias="sessions_max",
        description="Maximum number of conversations; the least recently used is removed first",
    )


class IngestionSettings(Group):
    """How files become chunks."""

    PREFIX: ClassVar[str] = "ingest_"

    chunk_size: int = Field(800, ge=100, validation_alias="chunk_size", description="Chunk size in characters")
    chunk_overlap: int = Field(
        100, ge=0, validation_alias="chunk_overlap", description="Characters that a chunk shares with the one before"
    )
    min_chunks: int = Field(
        20, ge=0, validation_alias="min_chunks", description="Warn about an index with fewer chunks; 0: never"
    )
    file_timeout_s: float = Field(60, gt=0, description="Maximum CPU seconds for reading one file")
    file_memory_mb: int = Field(1024, ge=512, description="Maximum memory for reading one file, in MB")
    ocr: Literal["auto", "off"] = Field(
        "auto",
        description="auto: read scanned PDF pages with `tesseract` if it is installed",
    )
    ocr_languages: str = Field(
        "eng",
        pattern=r"^[\w/]+(\+[\w/]+)*$",
        description="Languages of scanned pages in tesseract's notation: `eng+deu`",
    )

    def contradiction(self, settings: AllSettings) -> str | None:
        """Return that chunks overlap by all of themselves."""
        del settings
        if self.chunk_overlap >= self.chunk_size:
            return f"CHUNK_OVERLAP ({self.chunk_overlap}) must be smaller than CHUNK_SIZE ({self.chunk_size})"
        return None


class UploadSettings(Group):
    """Documents that are added over HTTP."""

    PREFIX: ClassVar[str] = "upload_"

    folder: Path | None = Field(
        None,
        validation_alias="uploads_path",
        description="Folder for documents added over HTTP; empty: `uploads` beside the index",
    )
    max_mb: Positive = Field(50, description="Maximum size of one upload, all files together, in MB")
    max_files: Positive = Field(20, description="Maximum number of files per upload")
    max_waiting: Positive = Field(20, description="Maximum number of waiting uploads; further ones get 429")
    quota_mb: Positive = Field(
        5000, description="Maximum size of all uploaded files together, in MB; beyond it uploads get 507"
    )


class PageSettings(Group):
    """Pictures of the pages of PDF files."""

    PREFIX: ClassVar[str] = "page_"

    timeout_s: Seconds = Field(10, description="Maximum CPU seconds for drawing one page of a PDF")
    memory_mb: int = Field(1024, ge=512, description="Maximum memory for drawing one page, in MB")


class AccessSettings(Group):
    """Who may ask, and how much."""

    mode: Literal["none", "session", "api_key"] = Field(
        "none",
        validation_alias="auth_mode",
        description="Who may ask. none: anyone on this machine; session: holders of a session; api_key: holders of "
        "a key",
    )
    allow_anonymous: Flag = Field(False, description="Whether other machines may ask without authentication")
    anonymous_audience: Literal["public", "internal"] | None = Field(
        None,
        description="What anonymous callers see; empty: internal on this machine, public with ALLOW_ANONYMOUS",
    )
    auth_url: WebAddress | None = Field(
        None, description="Authentication service for sessions; empty: sessions are read from Redis"
    )
    api_keys: SecretStr | None = Field(
        None,
        description="name:SHA-256 of the key:scopes, separated by commas; scopes are joined by +. Optional with "
        "AUTH_MODE=none",
    )
    rate_limit: str | None = Field(
        None,
        pattern=r"^(off|[1-9]\d*/(second|minute|hour|day))$",
        description="Questions per caller, like 60/minute, or off; empty: 60/minute if other machines may ask",
    )
    rate_limit_backend: Literal["memory", "redis"] = Field(
        "memory", description="Where questions are counted. memory: in each process; redis: shared"
    )
    forwarded_allow_ips: str = Field(
        "", description="Addresses of trusted proxies (X-Forwarded-For), separated by commas; empty: none"
    )

    def contradiction(self, settings: AllSettings) -> str | None:
        """Return that there are no keys."""
        del settings
        if self.mode == "api_key" and self.api_keys is None:
            return "AUTH_MODE=api_key needs API_KEYS, like name:SHA-256 of the key:ask"
        return None


class LimitSettings(Group):
    """How much the service takes at once."""

    batch: Positive = Field(10, validation_alias="batch_max", description="Maximum questions per batch")
    question_characters: int = Field(
        4000,
        ge=1,
        le=4000,
        validation_alias="question_max_characters",
        description="Maximum length of a question on the page, in the terminal and for /copilot; 1,000 for "
        "/api/query and /chat",
    )
    questions_at_once: Positive = Field(
        100,
        validation_alias="max_concurrent_questions",
        description="Maximum number of questions answered at the same time",
    )
    queue_s: Seconds = Field(
        10, validation_alias="question_queue_s", description="How long a further question waits for its turn"
    )
    body_timeout_s: Seconds = Field(10, description="How long a client may take to send a request body")
    request_timeout_s: Seconds = Field(90, description="Timeout of a whole question; 330 with ollama and llama-cpp")


class WebSettings(Group):
    """The page, and the pages of others that use the service."""

    cors_origins: str = Field(
        "", description="Origins of web pages that may call the API, separated by commas; * allows all"
    )
    frame_ancestors: Origins = Field(
        "",
        description="Origins of web pages that may embed /embed in a frame, separated by commas; none: no page; "
        "empty: CORS_ORIGINS",
    )
    examples_file: FilePath | None = Field(
        None, description="Example questions of the page, by language; empty: those of the sample corpus"
    )
    teams_file: FilePath | None = Field(
        None, description="Teams to contact when the documents have no answer; empty: those of the sample corpus"
    )
    page_name: str = Field("Waypoint Co-Pilot", min_length=1, max_length=80, description="Name of the page")
    page_greeting: str = Field(
        "", max_length=200, description="What the page says above its first question; empty: a sentence of its own"
    )
    page_logo: Picture | None = Field(None, description="Icon of the page, an SVG or PNG file; empty: its own")


class ServerSettings(Group):
    """The process of `waypoint serve`."""

    port: Port = Field(3000, description="Port of `waypoint serve`")
    warm_up: Flag = Field(True, description="Whether everything but the language model is tried once at start")
    drain_timeout_s: float = Field(30, ge=0, description="How long running answers may take to finish after SIGTERM")


class LogSettings(Group):
    """Logs, metrics, and traces for OpenTelemetry."""

    PREFIX: ClassVar[str] = "log_"

    level: LogLevel = Field("info", description="Lowest level that is logged: debug, info, warning, error")
    format: Literal["auto", "json", "text"] = Field("auto", description="auto: text on a terminal, JSON elsewhere")
    questions: Flag = Field(False, description="Whether the log contains questions in plain text; else a hash")
    metrics_folder: WritableFolder | None = Field(
        None,
        validation_alias="prometheus_multiproc_dir",
        description="Folder in which worker processes share their metrics; set it in the environment, not in .env",
    )
    otlp_endpoint: WebAddress | None = Field(
        None,
        validation_alias="otel_exporter_otlp_endpoint",
        description="OpenTelemetry collector, like http://127.0.0.1:4318",
    )


class LangSmithSettings(Group):
    """Traces for LangSmith."""

    PREFIX: ClassVar[str] = "langsmith_"

    tracing: Flag = Field(
        False,
        validation_alias=_either_prefix("tracing", "tracing_v2"),
        description="Whether traces are sent to LangSmith; the prefix LANGCHAIN_ works as well",
    )
    api_key: SecretStr | None = Field(
        None, validation_alias=_either_prefix("api_key"), description="API key of LangSmith"
    )
    endpoint: WebAddress = Field(LANGSMITH, validation_alias=_either_prefix("endpoint"), description="URL of LangSmith")
    project: str = Field("waypoint", validation_alias=_either_prefix("project"), description="LangSmith project")
    hide_inputs: Flag = Field(
        False,
        validation_alias=_either_prefix("hide_inputs"),
        description="Whether questions and documents are left out of traces",
    )
    hide_outputs: Flag = Field(
        False, validation_alias=_either_prefix("hide_outputs"), description="Whether answers are left out of traces"
    )

    def contradiction(self, settings: AllSettings) -> str | None:
        """Return that LangSmith needs a key."""
        del settings
        if self.tracing and self.endpoint == LANGSMITH and self.api_key is None:
            return "LANGSMITH_TRACING=true needs LANGSMITH_API_KEY, or the LANGSMITH_ENDPOINT of a server without keys"
        return None
