"""The settings of the service around the answers: caches, ingestion, callers, logs, traces."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AliasChoices, BeforeValidator, DirectoryPath, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from app.settings import values as v

LANGSMITH = "https://api.smith.langchain.com"


def _either_prefix(*names: str) -> AliasChoices:
    return AliasChoices(*(f"{prefix}_{name}" for name in names for prefix in ("langsmith", "langchain")))


class CacheSettings(v.Group):
    """What is cached."""

    model_config = SettingsConfigDict(env_prefix="cache_")

    enabled: v.Flag = Field(False, description="Whether anything is cached")
    embeddings: v.Flag = Field(True, description="Whether question embeddings are cached")
    retrieval: v.Flag = Field(True, description="Whether retrieved passages are cached")
    llm: v.Flag = Field(True, description="Whether answers are cached")
    ttl: v.Positive = Field(3600, description="Lifetime of a cache entry in seconds")
    # Shared caches were in Redis before there was a ledger.
    backend: Annotated[
        Literal["memory", "ledger"], BeforeValidator(lambda value: "ledger" if value == "redis" else value)
    ] = Field("memory", description="memory: one cache per process; ledger: shared")


class RedisSettings(v.Group):
    """Redis, for sessions and rate limits."""

    model_config = SettingsConfigDict(env_prefix="redis_")

    host: str = Field("127.0.0.1", exclude=True)
    port: v.Port = Field(6379, exclude=True)
    url: v.RedisAddress = Field(
        default_factory=lambda own: SecretStr(f"redis://{own.get('host', '127.0.0.1')}:{own.get('port', 6379)}/0"),
        validate_default=True,
    )
    """Redis for sessions and rate limits; REDIS_HOST and REDIS_PORT work as well"""


class IngestionSettings(v.Group):
    """How files become chunks, and which files: uploads, and those of web sites."""

    chunk_size: int = Field(800, ge=100, description="Chunk size in characters")
    chunk_overlap: int = Field(100, ge=0, description="Characters that a chunk shares with the one before")
    min_chunks: int = Field(20, ge=0, description="Warn about an index with fewer chunks; 0: never")
    ocr_languages: str = Field("eng", pattern=r"^[\w/]+(\+[\w/]+)*$", validation_alias="ingest_ocr_languages")
    """Languages of scanned PDF pages, read by `tesseract` if it is installed: `eng+deu`; off: not read"""
    web_allow_private: v.Flag = False
    """Whether web sites in private networks and on this machine may be read"""
    upload_quota_mb: v.Positive = 5000
    """Maximum size of all uploaded files together, in MB; beyond it uploads get 507"""

    def contradictions(self) -> Iterator[str]:
        if self.chunk_overlap >= self.chunk_size:
            yield f"CHUNK_OVERLAP ({self.chunk_overlap}) must be smaller than CHUNK_SIZE ({self.chunk_size})"


class AccessSettings(v.Group):
    """Who may ask, and how much."""

    mode: Literal["none", "public", "session", "api_key"] = Field("none", validation_alias="auth_mode")
    """Who may ask. none: anyone on this machine; public: anyone, who sees public documents; session: holders of a
    session; api_key: holders of a key"""
    allow_anonymous: v.Flag = Field(False, exclude=True)
    auth_url: v.WebAddress | None = None
    """Authentication service for sessions; empty: sessions are read from Redis"""
    api_keys: SecretStr | None = None
    """name:SHA-256 of the key:scopes, separated by commas; scopes are joined by +. Needed with AUTH_MODE=api_key"""
    rate_limit: str | None = Field(None, pattern=r"^(off|[1-9]\d*/(second|minute|hour|day))$")
    """Questions per caller, like 60/minute, or off; empty: 60/minute if other machines may ask. All processes count
    together where REDIS_URL is set"""
    forwarded_allow_ips: str = ""
    """Addresses of trusted proxies (X-Forwarded-For), separated by commas; empty: none"""

    @property
    def is_public(self) -> bool:
        return self.mode == "public" or (self.mode == "none" and self.allow_anonymous)

    def contradictions(self) -> Iterator[str]:
        if self.mode == "api_key" and self.api_keys is None:
            yield "AUTH_MODE=api_key needs API_KEYS, like name:SHA-256 of the key:ask"


class WebSettings(v.Group):
    """The service, its page, and the pages of others that use it."""

    port: v.Port = Field(3000, description="Port of `waypoint serve`")
    cors_origins: str = ""
    """Origins of web pages that may call the API, separated by commas; * allows all"""
    frame_ancestors: v.Origins = ""
    """Origins of web pages that may embed /embed in a frame, separated by commas; none: no page; empty: CORS_ORIGINS"""
    page: DirectoryPath | None = Field(None, validation_alias="page_path")
    """Folder with what the page shows of its owner: examples.yaml, teams.yaml, page.yaml (name and greeting), logo.svg
    or logo.png; what is missing is the page's own (docs/page.md)"""


class LogSettings(v.Group):
    """Logs, metrics, and traces for OpenTelemetry."""

    model_config = SettingsConfigDict(env_prefix="log_")

    level: v.LogLevel = Field("info", description="Lowest level that is logged: debug, info, warning, error")
    format: Literal["auto", "json", "text"] = Field("auto", description="auto: text on a terminal, JSON elsewhere")
    questions: v.Flag = Field(False, description="Whether the log contains questions in plain text; else a hash")
    # Of prometheus_client itself; `waypoint serve` sets it for its worker processes.
    metrics_folder: v.WritableFolder | None = Field(None, validation_alias="prometheus_multiproc_dir", exclude=True)
    otlp_endpoint: v.WebAddress | None = Field(None, validation_alias="otel_exporter_otlp_endpoint")
    """OpenTelemetry collector, like http://127.0.0.1:4318"""


class LangSmithSettings(v.Group):
    """Traces for LangSmith."""

    model_config = SettingsConfigDict(env_prefix="langsmith_")

    tracing: v.Flag = Field(False, validation_alias=_either_prefix("tracing", "tracing_v2"))
    """Whether traces are sent to LangSmith; the prefix LANGCHAIN_ works as well"""
    api_key: SecretStr | None = Field(None, validation_alias=_either_prefix("api_key"))
    """API key of LangSmith"""
    endpoint: v.WebAddress = Field(
        LANGSMITH, validation_alias=_either_prefix("endpoint"), description="URL of LangSmith"
    )
    project: str = Field("waypoint", validation_alias=_either_prefix("project"), description="LangSmith project")
    hide_inputs: v.Flag = Field(False, validation_alias=_either_prefix("hide_inputs"))
    """Whether questions, documents and answers are left out of traces; LANGSMITH_HIDE_OUTPUTS means the same"""
    hide_outputs: v.Flag = Field(False, validation_alias=_either_prefix("hide_outputs"), exclude=True)

    @property
    def hides(self) -> bool:
        """Return whether the words are left out: an answer holds its question, and a prompt the answers before."""
        return self.hide_inputs or self.hide_outputs

    def contradictions(self) -> Iterator[str]:
        if self.tracing and self.endpoint == LANGSMITH and self.api_key is None:
            yield "LANGSMITH_TRACING=true needs LANGSMITH_API_KEY, or the LANGSMITH_ENDPOINT of a server without keys"


class EventSettings(v.Group):
    """Events about questions and answers."""

    model_config = SettingsConfigDict(env_prefix="events_")

    host: str | None = Field(None, validation_alias="rabbitmq_host", exclude=True)
    port: v.Port = Field(5672, validation_alias="rabbitmq_port", exclude=True)
    rabbitmq_url: v.BrokerAddress | None = Field(
        default_factory=lambda own: (
            SecretStr(f"amqp://guest:guest@{own['host']}:{own.get('port', 5672)}/") if own.get("host") else None
        ),
        validation_alias="rabbitmq_url",
        validate_default=True,
    )
    """Message broker for events, like amqp://user:password@host:5672/; RABBITMQ_HOST and RABBITMQ_PORT work as well.
    Empty: no events"""
    enabled: v.Flag = Field(True, description="Whether events are published when RABBITMQ_URL is set")


class DatabaseSettings(v.Group):
    """The database of the ledger, and how long it keeps answers and conversations."""

    url: SecretStr | None = Field(None, validation_alias="database_url")
    """PostgreSQL database, like postgresql://user:password@host:5432/name"""
    session_ttl: v.Positive = Field(86_400, description="Seconds a conversation is kept after its last question")
    answer_log_days: int = Field(90, ge=0)
    """How many days the log keeps questions, answers and feedback; 0: nothing is logged"""
    answer_log: v.Flag = Field(True, exclude=True)

    @property
    def logs_answers(self) -> bool:
        return self.answer_log and self.answer_log_days > 0
