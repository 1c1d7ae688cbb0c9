"""Settings of the service: caches, events, ingestion, access, logs, traces."""

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, FilePath, SecretStr

from app.settings.answering import AnsweringFields
from app.settings.values import (
    BrokerAddress,
    Flag,
    LogLevel,
    Origins,
    Port,
    Positive,
    RedisAddress,
    Seconds,
    WebAddress,
    WritableFolder,
    is_origin,
)

LANGSMITH = "https://api.smith.langchain.com"


def _either_prefix(*names: str) -> AliasChoices:
    """Return the names of a LangSmith variable, with the current prefix and the old one."""
    return AliasChoices(*(f"{prefix}_{name}" for name in names for prefix in ("langsmith", "langchain")))


class ServingFields(AnsweringFields):
    """Settings for answering and for the service."""

    cache_enabled: Flag = Field(False, description="Whether anything is cached")
    cache_embeddings: Flag = Field(True, description="Whether question embeddings are cached")
    cache_retrieval: Flag = Field(True, description="Whether retrieved passages are cached")
    cache_llm: Flag = Field(True, description="Whether answers are cached")
    cache_ttl: Positive = Field(3600, description="Lifetime of a cache entry in seconds")
    cache_backend: Literal["memory", "redis"] = Field(
        "memory", description="memory: one cache per process; redis: shared"
    )
    redis_url: RedisAddress = Field(
        SecretStr("redis://127.0.0.1:6379/0"), description="Redis for caches, sessions and rate limits"
    )
    redis_host: str | None = Field(None, description="Host of Redis if REDIS_URL is not set")
    redis_port: Port = Field(6379, description="Port of Redis")
    redis_timeout_s: Seconds = Field(0.25, description="How long the cache waits for Redis")

    rabbitmq_url: BrokerAddress | None = Field(
        None, description="Message broker for events, like amqp://user:password@host:5672/; empty: no events"
    )
    rabbitmq_host: str | None = Field(
        None, description="Host of the broker if RABBITMQ_URL is not set; connects as RabbitMQ's default user, guest"
    )
    rabbitmq_port: Port = Field(5672, description="Port of the broker")
    events_enabled: Flag = Field(True, description="Whether events are published when RABBITMQ_URL is set")
    events_backend: Literal["file", "postgres"] = Field(
        "file",
        description="Where events wait for the broker. file: in a file of this host; postgres: in DATABASE_URL, for "
        "all hosts",
    )
    events_path: Path = Field(Path("storage/events.sqlite3"), description="File for EVENTS_BACKEND=file")
    events_max: Positive = Field(
        10_000, description="Maximum number of waiting events; the oldest are dropped beyond it"
    )

    session_backend: Literal["memory", "redis", "postgres"] = Field(
        "memory",
        description="Where conversations with a session_id are stored. memory: in each process; redis or postgres: "
        "shared",
    )
    session_ttl: Positive = Field(86_400, description="Seconds a conversation is kept after its last question")
    sessions_max: Positive = Field(
        10_000, description="Maximum number of conversations; the least recently used is removed first"
    )

    chunk_size: int = Field(800, ge=100, description="Chunk size in characters")
    chunk_overlap: int = Field(100, ge=0, description="Characters that a chunk shares with the one before")
    min_chunks: int = Field(20, ge=0, description="Warn about an index with fewer chunks; 0: never")
    ingest_file_timeout_s: float = Field(60, gt=0, description="Maximum CPU seconds for reading one file")
    ingest_file_memory_mb: int = Field(1024, ge=512, description="Maximum memory for reading one file, in MB")
    ingest_ocr: Literal["auto", "off"] = Field(
        "auto",
        description="auto: read scanned PDF pages with `tesseract` if it is installed",
    )
    ingest_ocr_languages: str = Field(
        "eng",
        pattern=r"^[\w/]+(\+[\w/]+)*$",
        description="Languages of scanned pages in tesseract's notation: `eng+deu`",
    )

    sources_path: Path | None = Field(
        None, description="Folder for the copies of buckets and web sites; empty: `sources` beside the index"
    )
    source_max_mb: Positive = Field(
        50, description="Maximum size of a file downloaded from a bucket or web site, in MB"
    )
    source_timeout_s: Seconds = Field(60, description="Timeout for downloading one file or page")
    web_max_pages: Positive = Field(500, description="Maximum number of pages and files downloaded from a web site")
    web_max_depth: int = Field(5, ge=0, description="Maximum number of links from the start page")
    web_delay_s: float = Field(
        0.5, ge=0, description="Seconds between two requests to a web site; the site's own crawl delay takes precedence"
    )
    web_allow_private: Flag = Field(
        False, description="Whether web sites in private networks and on this machine may be read"
    )

    uploads_path: Path | None = Field(
        None, description="Folder for documents added over HTTP; empty: `uploads` beside the index"
    )
    upload_max_mb: Positive = Field(50, description="Maximum size of one upload, all files together, in MB")
    upload_max_files: Positive = Field(20, description="Maximum number of files per upload")
    upload_max_waiting: Positive = Field(20, description="Maximum number of waiting uploads; further ones get 429")
    upload_quota_mb: Positive = Field(
        5000, description="Maximum size of all uploaded files together, in MB; beyond it uploads get 507"
    )
    page_timeout_s: Seconds = Field(10, description="Maximum CPU seconds for drawing one page of a PDF")
    page_memory_mb: int = Field(1024, ge=512, description="Maximum memory for drawing one page, in MB")

    feedback_path: Path | None = Field(
        None, description="Folder for user feedback (`feedback.jsonl`); empty: `feedback` beside the index"
    )
    feedback_max_mb: Positive = Field(
        10, description="Maximum size of the feedback in MB; the older half is dropped beyond it"
    )

    auth_mode: Literal["none", "session", "api_key"] = Field(
        "none",
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
    batch_max: Positive = Field(10, description="Maximum questions per batch")
    question_max_characters: int = Field(
        4000,
        ge=1,
        le=4000,
        description="Maximum length of a question on the page, in the terminal and for /copilot; 1,000 for "
        "/api/query and /chat",
    )
    max_concurrent_questions: Positive = Field(100, description="Maximum number of questions answered at the same time")
    question_queue_s: Seconds = Field(10, description="How long a further question waits for its turn")
    body_timeout_s: Seconds = Field(10, description="How long a client may take to send a request body")
    forwarded_allow_ips: str = Field(
        "", description="Addresses of trusted proxies (X-Forwarded-For), separated by commas; empty: none"
    )

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
    port: Port = Field(3000, description="Port of `waypoint serve`")
    warm_up: Flag = Field(True, description="Whether everything but the language model is tried once at start")
    drain_timeout_s: float = Field(30, ge=0, description="How long running answers may take to finish after SIGTERM")
    log_level: LogLevel = Field("info", description="Lowest level that is logged: debug, info, warning, error")
    log_format: Literal["auto", "json", "text"] = Field("auto", description="auto: text on a terminal, JSON elsewhere")
    log_questions: Flag = Field(False, description="Whether the log contains questions in plain text; else a hash")
    prometheus_multiproc_dir: WritableFolder | None = Field(
        None, description="Folder in which worker processes share their metrics; set it in the environment, not in .env"
    )

    langsmith_tracing: Flag = Field(
        False,
        validation_alias=_either_prefix("tracing", "tracing_v2"),
        description="Whether traces are sent to LangSmith; the prefix LANGCHAIN_ works as well",
    )
    langsmith_api_key: SecretStr | None = Field(
        None, validation_alias=_either_prefix("api_key"), description="API key of LangSmith"
    )
    langsmith_endpoint: WebAddress = Field(
        LANGSMITH, validation_alias=_either_prefix("endpoint"), description="URL of LangSmith"
    )
    langsmith_project: str = Field(
        "waypoint", validation_alias=_either_prefix("project"), description="LangSmith project"
    )
    langsmith_hide_inputs: Flag = Field(
        False,
        validation_alias=_either_prefix("hide_inputs"),
        description="Whether questions and documents are left out of traces",
    )
    langsmith_hide_outputs: Flag = Field(
        False, validation_alias=_either_prefix("hide_outputs"), description="Whether answers are left out of traces"
    )
    otel_exporter_otlp_endpoint: WebAddress | None = Field(
        None, description="OpenTelemetry collector, like http://127.0.0.1:4318"
    )

    @property
    def open_to_others(self) -> bool:
        """Return whether users of other machines may ask."""
        return self.auth_mode != "none" or self.allow_anonymous

    @property
    def framing_origins(self) -> tuple[str, ...]:
        """Return the origins of pages that may show /embed in a frame; empty if none may."""
        origins = (self.frame_ancestors or self.cors_origins).split(",")
        named = tuple(origin.strip() for origin in origins if is_origin(origin.strip()))
        return () if "none" in named else named

    @property
    def rate(self) -> str | None:
        """Return the rate limit: RATE_LIMIT, else 60/minute if other machines may ask; None means no limit."""
        rate = self.rate_limit or ("60/minute" if self.open_to_others else "off")
        return None if rate == "off" else rate

    @property
    def has_redis_sessions(self) -> bool:
        """Return whether sessions are read from Redis rather than from an authentication service."""
        return self.auth_mode == "session" and self.auth_url is None

    @property
    def counts_in_redis(self) -> bool:
        """Return whether the questions of each caller are counted in Redis."""
        return self.rate is not None and self.rate_limit_backend == "redis"

    @property
    def access_uses_redis(self) -> bool:
        """Return whether callers, their rates or their conversations are in Redis."""
        return self.has_redis_sessions or self.counts_in_redis or self.session_backend == "redis"

    @property
    def uses_redis(self) -> bool:
        """Return whether sessions, conversations, rate limits or caches are in Redis."""
        caches = self.cache_enabled and self.cache_backend == "redis"
        return self.access_uses_redis or caches
