"""Every setting: its name, type, default and meaning."""

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, DirectoryPath, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.settings.values import (
    BrokerAddress,
    Flag,
    Fraction,
    Port,
    Positive,
    RedisAddress,
    Seconds,
    WebAddress,
    WritableFolder,
)

LANGSMITH = "https://api.smith.langchain.com"


def _either_prefix(*names: str) -> AliasChoices:
    """Return the names of a LangSmith variable, with the prefix of today and the older one."""
    return AliasChoices(*(f"{prefix}_{name}" for name in names for prefix in ("langsmith", "langchain")))


class Fields(BaseSettings):
    """All settings, each under the name of its variable in lower case. A description says what the setting does."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore", frozen=True
    )

    llm_provider: Literal["groq", "openai-compatible", "offline"] | None = Field(
        None, description="Who answers; empty: groq if there is a key, else offline"
    )
    llm_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("llm_api_key", "groq_api_key"),
        description="Key of the provider; GROQ_API_KEY works as well",
    )
    llm_base_url: WebAddress | None = Field(
        None, description="For groq the host alone, empty is Groq itself; for openai-compatible the address up to /v1"
    )
    llm_model: str = Field("llama-3.1-8b-instant", description="The language model")
    llm_allowed_models: str = Field(
        "", description="Models that a client of POST /chat may choose beside LLM_MODEL, separated by commas"
    )
    llm_temperature: float = Field(0.3, ge=0, le=2, description="Sampling temperature")
    chat_temperature: float = Field(0.4, ge=0, le=2, description="Sampling temperature for POST /chat")
    llm_max_tokens: Positive = Field(500, description="Most tokens of an answer")
    llm_timeout_s: Seconds = Field(60, description="How long one request to the model may take")
    llm_max_retries: int = Field(3, ge=0, le=10, description="How often a failed request is repeated")
    llm_context_tokens: str = Field(
        "131072",
        pattern=r"^[1-9]\d*(,[^,=]+=[1-9]\d*)*$",
        coerce_numbers_to_str=True,
        description="What the model reads and writes together; other models by name, like 131072,gemma2-9b-it=8192",
    )
    llm_rpm: Positive | None = Field(None, description="Requests a minute that the provider allows; empty: no limit")
    llm_tpm: Positive | None = Field(None, description="Tokens a minute that the provider allows; empty: no limit")
    llm_queue_timeout_s: Seconds = Field(20, description="How long a question waits within LLM_RPM and LLM_TPM")
    llm_breaker_failures: Positive = Field(
        5, description="Failures in a row after which the provider is not asked for a while"
    )
    llm_breaker_reset_s: Seconds = Field(60, description="How long it is not asked then")
    llm_fallback: Flag = Field(
        True, description="Whether another model, or the offline answerer, answers where the provider cannot"
    )
    llm_fallback_base_url: WebAddress | None = Field(
        None, description="A second provider, any OpenAI-compatible address up to /v1"
    )
    llm_fallback_model: str | None = Field(None, description="Its model; empty: LLM_MODEL")
    llm_fallback_api_key: SecretStr | None = Field(None, description="Its key")
    request_timeout_s: Seconds = Field(90, description="How long a question may take in all")

    embedding_provider: Literal["huggingface", "openai-compatible"] = Field(
        "huggingface", description="huggingface runs the model on this machine; openai-compatible asks a service"
    )
    embedding_model: str = Field("sentence-transformers/all-MiniLM-L6-v2", description="The embedding model")
    embedding_backend: Literal["onnx", "torch"] = Field(
        "onnx", description="For huggingface; torch needs the extra `huggingface` and runs any model"
    )
    embedding_base_url: WebAddress | None = Field(
        None, description="For openai-compatible: its address, like http://127.0.0.1:8080/v1"
    )
    embedding_api_key: SecretStr | None = Field(None, description="Its key; empty: LLM_API_KEY")
    embedding_timeout_s: Seconds = Field(30, description="How long one request to it may take")
    embedding_max_retries: int = Field(3, ge=0, le=10, description="How often a failed request to it is repeated")
    embedding_breaker_failures: Positive = Field(
        5, description="Failures in a row after which it is not called for a while"
    )
    embedding_breaker_reset_s: Seconds = Field(60, description="How long it is not called then")

    vector_store_type: Literal["chroma", "memory"] = Field(
        "chroma", description="chroma, in a folder or on a server; memory, saved in one JSON file"
    )
    chroma_path: Path = Field(
        Path("storage/chroma"), description="Folder of the vectors, and of the records and word index beside them"
    )
    chroma_host: str | None = Field(
        None, pattern=r"^[^\s/:]+$", description="Host of a Chroma server; empty: the folder"
    )
    chroma_port: Port = Field(8000, description="Its port")
    chroma_ssl: Flag = Field(False, description="Whether it speaks TLS")
    chroma_api_key: SecretStr | None = Field(None, description="Its token, sent as X-Chroma-Token")
    memory_store_path: Path = Field(Path("storage/memory-vector-store.json"), description="File of the memory store")
    vector_store_timeout_s: Seconds = Field(10, description="How long a Chroma server may take to answer")
    collection_name: str = Field(
        "waypoint_kb", pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$", description="Name of the collection"
    )

    retriever_type: Literal["hybrid", "similarity", "mmr", "compression"] = Field(
        "hybrid",
        description="hybrid: meaning and words; similarity: meaning; mmr: less repetition; compression: cut by the LLM",
    )
    compression_base: Literal["hybrid", "similarity", "mmr"] = Field(
        "hybrid", description="For compression: the retriever whose passages are cut"
    )
    retrieval_top_k: int = Field(10, ge=1, le=100, description="How many passages are retrieved")
    relevance_threshold: Fraction = Field(0.15, description="Least cosine similarity of a passage")
    mmr_fetch_k: Positive | None = Field(
        None, description="For mmr: how many passages to choose from; empty: twice the number of passages"
    )
    mmr_lambda: Fraction = Field(0.5, description="For mmr: 1 prefers relevance, 0 variety")
    max_context_tokens: Positive = Field(2000, description="How many tokens of the passages the model is shown")
    chat_passage_characters: Positive = Field(
        1700, description="How many characters of each passage the model is shown for POST /chat"
    )

    citation_style: Literal["title", "numbered"] = Field(
        "title", description="title is [Title > Section], numbered is [1]"
    )
    prompts_path: DirectoryPath | None = Field(
        None, description="Folder of texts that replace those of prompts/; empty: the packaged texts"
    )
    min_citations: int = Field(1, ge=0, le=20, description="An answer that cites fewer sources validly is replaced")
    citation_repair: Flag = Field(
        True, description="Whether a sentence without citation gets the passage that supports it, as data"
    )

    scope_enabled: Flag = Field(
        True, description="Whether questions that no document answers are declined without asking the model"
    )
    scope_file: Path | None = Field(
        None, description="Your list of such questions; empty: the packaged knowledge_base/scope.yaml"
    )

    cache_enabled: Flag = Field(False, description="Whether anything is cached")
    cache_embeddings: Flag = Field(True, description="Whether vectors of questions are cached")
    cache_retrieval: Flag = Field(True, description="Whether retrieved passages are cached")
    cache_llm: Flag = Field(True, description="Whether answers are cached")
    cache_ttl: Positive = Field(3600, description="Seconds that an entry lives")
    cache_backend: Literal["memory", "redis"] = Field("memory", description="memory is of one process; redis is shared")
    redis_url: RedisAddress = Field(
        SecretStr("redis://127.0.0.1:6379/0"), description="Redis for caches, sessions and rate limits"
    )
    redis_timeout_s: Seconds = Field(0.25, description="How long the cache waits for Redis")

    rabbitmq_url: BrokerAddress | None = Field(
        None, description="Broker of the events, like amqp://user:password@host:5672/; empty: no events"
    )
    events_enabled: Flag = Field(True, description="Whether events are published where RABBITMQ_URL is set")
    events_path: Path = Field(Path("storage/events.sqlite3"), description="File in which events wait for the broker")
    events_max: Positive = Field(10_000, description="How many may wait; then the oldest are dropped")

    chunk_size: int = Field(800, ge=100, description="Characters of a chunk")
    chunk_overlap: int = Field(100, ge=0, description="Characters that a chunk repeats of the one before")
    min_chunks: int = Field(20, ge=0, description="An index with fewer chunks is warned of; 0: never")
    ingest_file_timeout_s: float = Field(60, gt=0, description="Processor seconds that reading one file may take")
    ingest_file_memory_mb: int = Field(1024, ge=512, description="Megabytes that reading one file may take")

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
    max_concurrent_questions: Positive = Field(100, description="Most questions at the same time")
    question_queue_s: Seconds = Field(10, description="How long one more waits for a place")
    body_timeout_s: Seconds = Field(10, description="How long a client may take to send a request's body")
    forwarded_allow_ips: str = Field(
        "", description="Addresses of proxies whose X-Forwarded-For is believed, separated by commas; empty: nobody's"
    )

    cors_origins: str = Field(
        "", description="Origins of web pages that may call the API, separated by commas; * allows all"
    )
    port: Port = Field(3000, description="Port of `waypoint serve`")
    warm_up: Flag = Field(
        True, description="Whether all but the language model is tried once before the first question"
    )
    drain_timeout_s: float = Field(30, ge=0, description="How long running answers may take to end after a SIGTERM")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged")
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
    def uses_redis(self) -> bool:
        """Return whether sessions, rate limits or caches are in Redis."""
        caches = self.cache_enabled and self.cache_backend == "redis"
        return self.has_redis_sessions or self.counts_in_redis or caches

    @property
    def provider(self) -> str:
        """Return the provider in force: the one that is set, else groq where there is a key, else offline."""
        return self.llm_provider or ("groq" if self.llm_api_key else "offline")

    def context_tokens(self, model: str) -> int:
        """Return what the model reads and writes together, by LLM_CONTEXT_TOKENS."""
        usual, *named = self.llm_context_tokens.split(",")
        windows = dict(window.split("=") for window in named)
        return int(windows.get(model, usual))

    @property
    def allowed_models(self) -> tuple[str, ...]:
        """Return the models that a client of POST /chat may choose from, LLM_MODEL first."""
        listed = [name.strip() for name in self.llm_allowed_models.split(",")]
        return tuple(dict.fromkeys([self.llm_model, *filter(None, listed)]))

    @property
    def required_key(self) -> SecretStr:
        """Return LLM_API_KEY, which is there wherever the provider needs it."""
        return self.llm_api_key or SecretStr("")
