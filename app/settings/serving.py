"""The settings of the service around the answers: caches, events, ingestion, callers, logs, traces."""

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
    """Return the names of a LangSmith variable, with the prefix of today and the older one."""
    return AliasChoices(*(f"{prefix}_{name}" for name in names for prefix in ("langsmith", "langchain")))


class ServingFields(AnsweringFields):
    """The settings of what answers, and of the service around it."""

    cache_enabled: Flag = Field(False, description="Whether anything is cached")
    cache_embeddings: Flag = Field(True, description="Whether vectors of questions are cached")
    cache_retrieval: Flag = Field(True, description="Whether retrieved passages are cached")
    cache_llm: Flag = Field(True, description="Whether answers are cached")
    cache_ttl: Positive = Field(3600, description="Seconds that an entry lives")
    cache_backend: Literal["memory", "redis"] = Field("memory", description="memory is of one process; redis is shared")
    redis_url: RedisAddress = Field(
        SecretStr("redis://127.0.0.1:6379/0"), description="Redis for caches, sessions and rate limits"
    )
    redis_host: str | None = Field(None, description="Host of Redis, where REDIS_URL is not set")
    redis_port: Port = Field(6379, description="Its port")
    redis_timeout_s: Seconds = Field(0.25, description="How long the cache waits for Redis")

    rabbitmq_url: BrokerAddress | None = Field(
        None, description="Broker of the events, like amqp://user:password@host:5672/; empty: no events"
    )
    rabbitmq_host: str | None = Field(
        None, description="Host of the broker, where RABBITMQ_URL is not set; the user is RabbitMQ's own, guest"
    )
    rabbitmq_port: Port = Field(5672, description="Its port")
    events_enabled: Flag = Field(True, description="Whether events are published where RABBITMQ_URL is set")
    events_backend: Literal["file", "postgres"] = Field(
        "file",
        description="Where events wait for the broker: in a file of this host, or for all hosts in the database of "
        "DATABASE_URL",
    )
    events_path: Path = Field(
        Path("storage/events.sqlite3"), description="File in which they wait with EVENTS_BACKEND=file"
    )
    events_max: Positive = Field(10_000, description="How many may wait; then the oldest are dropped")

    session_backend: Literal["memory", "redis", "postgres"] = Field(
        "memory",
        description="Where conversations with a session_id are kept: in each process, or for all in Redis or in the "
        "database of DATABASE_URL",
    )
    session_ttl: Positive = Field(86_400, description="Seconds that one is kept after its last question")
    sessions_max: Positive = Field(10_000, description="Most of them; the one that was used longest ago goes first")

    chunk_size: int = Field(800, ge=100, description="Characters of a chunk")
    chunk_overlap: int = Field(100, ge=0, description="Characters that a chunk repeats of the one before")
    min_chunks: int = Field(20, ge=0, description="An index with fewer chunks is warned of; 0: never")
    ingest_file_timeout_s: float = Field(60, gt=0, description="Processor seconds that reading one file may take")
    ingest_file_memory_mb: int = Field(1024, ge=512, description="Megabytes that reading one file may take")
    ingest_ocr: Literal["auto", "off"] = Field(
        "auto",
        description="`auto`: scanned pages of PDF files are read by the program `tesseract`, where it is installed",
    )
    ingest_ocr_languages: str = Field(
        "eng",
        pattern=r"^[\w/]+(\+[\w/]+)*$",
        description="Languages of scanned pages, as tesseract names them: `eng+deu`",
    )

    sources_path: Path | None = Field(
        None, description="Folder of the copies of buckets and web sites; empty: `sources` beside the index"
    )
    source_max_mb: Positive = Field(50, description="Megabytes of the largest file that is fetched from one")
    source_timeout_s: Seconds = Field(60, description="How long fetching one file or page may take")
    web_max_pages: Positive = Field(500, description="Most pages and files of a web site that are fetched")
    web_max_depth: int = Field(5, ge=0, description="How many links away from the start page they may be")
    web_delay_s: float = Field(0.5, ge=0, description="Seconds between two requests to a web site, or what it asks for")
    web_allow_private: Flag = Field(
        False, description="Whether web sites in private networks and on this machine may be read"
    )

    uploads_path: Path | None = Field(
        None, description="Folder of the documents that are added over HTTP; empty: `uploads` beside the index"
    )
    upload_max_mb: Positive = Field(50, description="Megabytes of one upload, all its files together")
    upload_max_files: Positive = Field(20, description="Most files of one upload")
    upload_max_waiting: Positive = Field(20, description="Most uploads that wait to be added; one more gets 429")
    upload_quota_mb: Positive = Field(5000, description="Megabytes of all uploaded files together; above it 507")
    page_timeout_s: Seconds = Field(10, description="Processor seconds that drawing one page of a PDF may take")
    page_memory_mb: int = Field(1024, ge=512, description="Megabytes that drawing it may take")

    feedback_path: Path | None = Field(
        None, description="Folder of what users say of answers (`feedback.jsonl`); empty: `feedback` beside the index"
    )
    feedback_max_mb: Positive = Field(10, description="Megabytes of it; then the older half goes")

    auth_mode: Literal["none", "session", "api_key"] = Field(
        "none", description="Who may ask: everybody on this machine, holders of a session, holders of a key"
    )
    allow_anonymous: Flag = Field(False, description="Whether others than this machine may ask without authentication")
    anonymous_audience: Literal["public", "internal"] | None = Field(
        None,
        description="What callers without identity see; empty: internal on this machine, public with ALLOW_ANONYMOUS",
    )
    auth_url: WebAddress | None = Field(
        None, description="Auth service that knows the sessions; empty: they are read from Redis"
    )
    api_keys: SecretStr | None = Field(
        None,
        description="name:SHA-256 of the key:scopes, separated by commas; scopes are joined by +. Optional with none",
    )
    rate_limit: str | None = Field(
        None,
        pattern=r"^(off|[1-9]\d*/(second|minute|hour|day))$",
        description="Questions of one caller, like 60/minute, or off; empty: 60/minute where others may ask",
    )
    rate_limit_backend: Literal["memory", "redis"] = Field(
        "memory", description="Where they are counted: in each process, or in Redis for all"
    )
    batch_max: Positive = Field(10, description="Most questions of one batch")
    question_max_characters: int = Field(
        4000,
        ge=1,
        le=4000,
        description="Longest question of the page, the terminal and /copilot; /api/query and /chat take 1,000",
    )
    max_concurrent_questions: Positive = Field(100, description="Most questions at the same time")
    question_queue_s: Seconds = Field(10, description="How long one more waits for a place")
    body_timeout_s: Seconds = Field(10, description="How long a client may take to send a request's body")
    forwarded_allow_ips: str = Field(
        "", description="Addresses of proxies whose X-Forwarded-For is believed, separated by commas; empty: nobody's"
    )

    cors_origins: str = Field(
        "", description="Origins of web pages that may call the API, separated by commas; * allows all"
    )
    frame_ancestors: Origins = Field(
        "",
        description="Origins of web pages that may show /embed in a frame, separated by commas; none: nobody's; "
        "empty: those of CORS_ORIGINS",
    )
    examples_file: FilePath | None = Field(
        None, description="Example questions of the page, by language; empty: those of the sample corpus"
    )
    teams_file: FilePath | None = Field(
        None, description="Teams that the page names where documents hold no answer; empty: the sample corpus's"
    )
    port: Port = Field(3000, description="Port of `waypoint serve`")
    warm_up: Flag = Field(
        True, description="Whether all but the language model is tried once before the first question"
    )
    drain_timeout_s: float = Field(30, ge=0, description="How long running answers may take to end after a SIGTERM")
    log_level: LogLevel = Field("info", description="Least level that is logged: debug, info, warning, error")
    log_format: Literal["auto", "json", "text"] = Field(
        "auto", description="auto is text on a terminal and JSON elsewhere"
    )
    log_questions: Flag = Field(False, description="Whether the log holds the words of questions; else a hash")
    prometheus_multiproc_dir: WritableFolder | None = Field(
        None, description="Folder in which worker processes share their metrics; set it in the environment, not in .env"
    )

    langsmith_tracing: Flag = Field(
        False,
        validation_alias=_either_prefix("tracing", "tracing_v2"),
        description="Whether LangSmith gets traces; LANGCHAIN_ works as prefix too",
    )
    langsmith_api_key: SecretStr | None = Field(None, validation_alias=_either_prefix("api_key"), description="Its key")
    langsmith_endpoint: WebAddress = Field(
        LANGSMITH, validation_alias=_either_prefix("endpoint"), description="Its address"
    )
    langsmith_project: str = Field("waypoint", validation_alias=_either_prefix("project"), description="Its project")
    langsmith_hide_inputs: Flag = Field(
        False,
        validation_alias=_either_prefix("hide_inputs"),
        description="Whether questions and documents are kept out of traces",
    )
    langsmith_hide_outputs: Flag = Field(
        False, validation_alias=_either_prefix("hide_outputs"), description="Whether answers are kept out of traces"
    )
    otel_exporter_otlp_endpoint: WebAddress | None = Field(
        None, description="OpenTelemetry collector, like http://127.0.0.1:4318"
    )

    @property
    def open_to_others(self) -> bool:
        """Return whether others than the users of this machine may ask."""
        return self.auth_mode != "none" or self.allow_anonymous

    @property
    def framing_origins(self) -> tuple[str, ...]:
        """Return the origins of pages that may show /embed in a frame; empty where none may."""
        origins = (self.frame_ancestors or self.cors_origins).split(",")
        named = tuple(origin.strip() for origin in origins if is_origin(origin.strip()))
        return () if "none" in named else named

    @property
    def rate(self) -> str | None:
        """Return the rate in force: the one that is set, else 60/minute where others may ask; None is no limit."""
        rate = self.rate_limit or ("60/minute" if self.open_to_others else "off")
        return None if rate == "off" else rate

    @property
    def has_redis_sessions(self) -> bool:
        """Return whether sessions are read from Redis, and not from an auth service."""
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
