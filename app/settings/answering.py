"""Settings for answering: models, index, retrieval, citations."""

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, DirectoryPath, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from app.settings.values import Flag, Fraction, Hosts, Port, Positive, Reformulation, Seconds, WebAddress


class AnsweringFields(BaseSettings):
    """Settings, each under the name of its variable in lower case. A description says what the setting does."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", env_ignore_empty=True, extra="ignore", frozen=True
    )

    llm_provider: Literal["groq", "openai-compatible", "openrouter", "ollama", "llama-cpp", "offline"] | None = Field(
        None,
        description="Service that writes the answers; empty: groq or openrouter if its key is set, else offline. "
        "ollama and llama-cpp run on your own machine and need no key",
    )
    llm_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("llm_api_key", "groq_api_key"),
        description="API key of the provider; GROQ_API_KEY works as well",
    )
    openrouter_api_key: SecretStr | None = Field(None, description="API key of OpenRouter; empty: LLM_API_KEY")
    openrouter_referer: WebAddress | None = Field(None, description="URL of your site, sent to OpenRouter")
    openrouter_title: str = Field("Waypoint Co-Pilot", description="Name of your application, sent to OpenRouter")
    llm_base_url: WebAddress | None = Field(
        None,
        description="Base URL of the provider: the host alone for groq, up to /v1 for others; empty: Groq itself, "
        "http://127.0.0.1:11434/v1 for ollama, http://127.0.0.1:8080/v1 for llama-cpp",
    )
    llm_model: str = Field(
        "llama-3.1-8b-instant",
        validation_alias=AliasChoices("llm_model", "primary_model_id"),
        description="Language model; PRIMARY_MODEL_ID works as well. Default for OpenRouter: "
        "google/gemma-3n-e2b-it:free; for ollama and llama-cpp: the first model the server lists",
    )
    llm_allowed_models: str = Field(
        "", description="Models that clients of POST /chat may choose besides LLM_MODEL, separated by commas"
    )
    llm_temperature: float = Field(0.3, ge=0, le=2, description="Sampling temperature")
    chat_temperature: float = Field(0.4, ge=0, le=2, description="Sampling temperature for POST /chat")
    llm_reasoning_format: Literal["parsed", "hidden"] | None = Field(
        None,
        description="For reasoning models at Groq: return the reasoning separately or not at all; answers never "
        "show `<think>`",
    )
    llm_reasoning_effort: Literal["none", "default", "low", "medium", "high"] | None = Field(
        None, description="Reasoning effort; see the provider's documentation for the values it accepts"
    )
    llm_service_tier: Literal["auto", "on_demand", "flex"] | None = Field(None, description="Groq's service tier")
    llm_max_tokens: Positive = Field(500, description="Maximum tokens of an answer")
    llm_timeout_s: Seconds = Field(60, description="Timeout of one request to the model; 300 with ollama and llama-cpp")
    llm_max_retries: int = Field(3, ge=0, le=10, description="Retries of a failed request")
    llm_context_tokens: str = Field(
        "131072",
        pattern=r"^[1-9]\d*(,[^,=]+=[1-9]\d*)*$",
        coerce_numbers_to_str=True,
        description="Context window of the model in tokens; other models by name, like 131072,gemma2-9b-it=8192",
    )
    llm_rpm: Positive | None = Field(None, description="Requests per minute that the provider allows; empty: no limit")
    llm_tpm: Positive | None = Field(None, description="Tokens per minute that the provider allows; empty: no limit")
    llm_queue_timeout_s: Seconds = Field(20, description="How long a question may wait for LLM_RPM and LLM_TPM")
    llm_breaker_failures: Positive = Field(5, description="Consecutive failures that open the circuit breaker")
    llm_breaker_reset_s: Seconds = Field(60, description="Seconds the circuit breaker stays open")
    llm_fallback: Flag = Field(
        True, description="Whether another model, or the offline answerer, answers when the provider fails"
    )
    llm_fallback_base_url: WebAddress | None = Field(
        None, description="Base URL of a second, OpenAI-compatible provider, up to /v1"
    )
    llm_fallback_model: str | None = Field(None, description="Model of the second provider; empty: LLM_MODEL")
    llm_fallback_api_key: SecretStr | None = Field(None, description="API key of the second provider")
    request_timeout_s: Seconds = Field(90, description="Timeout of a whole question; 330 with ollama and llama-cpp")

    embedding_provider: Literal["huggingface", "openai-compatible"] = Field(
        "huggingface", description="huggingface runs the model on this machine; openai-compatible calls a service"
    )
    embedding_model: str = Field("sentence-transformers/all-MiniLM-L6-v2", description="Embedding model")
    embedding_backend: Literal["onnx", "torch"] = Field(
        "onnx", description="Runtime for huggingface; torch needs the extra `huggingface` and runs any model"
    )
    embedding_device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="Device for torch; auto uses a GPU if there is one. onnx runs on the CPU"
    )
    embedding_base_url: WebAddress | None = Field(
        None, description="Base URL of the openai-compatible embedding service, like http://127.0.0.1:8080/v1"
    )
    embedding_api_key: SecretStr | None = Field(
        None, description="API key of the embedding service; empty: LLM_API_KEY"
    )
    embedding_timeout_s: Seconds = Field(30, description="Timeout of one request to the embedding service")
    embedding_max_retries: int = Field(
        3, ge=0, le=10, description="Retries of a failed request to the embedding service"
    )
    embedding_breaker_failures: Positive = Field(5, description="Consecutive failures that open its circuit breaker")
    embedding_breaker_reset_s: Seconds = Field(60, description="Seconds its circuit breaker stays open")

    vector_store_type: Literal["chroma", "memory", "postgres"] = Field(
        "chroma",
        description="chroma, in a folder or on a server; memory, saved in one JSON file; postgres, for several hosts",
    )
    database_url: SecretStr | None = Field(
        None, description="PostgreSQL database, like postgresql://user:password@host:5432/name"
    )
    database_pool_size: Positive = Field(10, description="Maximum database connections per process")
    chroma_path: Path = Field(
        Path("storage/chroma"), description="Folder of the vectors, the records and the word index"
    )
    chroma_host: str | None = Field(
        None, pattern=r"^[^\s/:]+$", description="Host of a Chroma server; empty: use the folder"
    )
    chroma_port: Port = Field(8000, description="Port of the Chroma server")
    chroma_ssl: Flag = Field(False, description="Whether the Chroma server uses TLS")
    chroma_api_key: SecretStr | None = Field(None, description="Token of the Chroma server, sent as X-Chroma-Token")
    memory_store_path: Path = Field(Path("storage/memory-vector-store.json"), description="File of the memory store")
    vector_store_timeout_s: Seconds = Field(10, description="Timeout of a request to a Chroma server or PostgreSQL")
    collection_name: str = Field(
        "waypoint_kb", pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$", description="Name of the collection"
    )

    retrieval_url: WebAddress | None = Field(
        None,
        description="Remote retrieval service with POST /search, like http://retrieval:8002; empty: the local index",
    )
    retrieval_api_key: SecretStr | None = Field(
        None, description="API key of the retrieval service, sent as a bearer token"
    )
    retrieval_audience: Literal["internal", "public"] = Field(
        "internal", description="Audience of its passages that do not state one"
    )
    retrieval_timeout_s: Seconds = Field(30, description="Timeout of one request to the retrieval service")
    retrieval_max_retries: int = Field(
        3, ge=0, le=10, description="Retries of a failed request to the retrieval service"
    )
    retrieval_breaker_failures: Positive = Field(5, description="Consecutive failures that open its circuit breaker")
    retrieval_breaker_reset_s: Seconds = Field(60, description="Seconds its circuit breaker stays open")

    retriever_type: Literal["hybrid", "similarity", "mmr", "compression"] = Field(
        "hybrid",
        description="hybrid: meaning and words; similarity: meaning; mmr: less repetition; compression: passages "
        "shortened by the LLM",
    )
    compression_base: Literal["hybrid", "similarity", "mmr"] = Field(
        "hybrid", description="For compression: the retriever whose passages are shortened"
    )
    retrieval_top_k: int = Field(10, ge=1, le=100, description="Number of passages to retrieve")
    relevance_threshold: Fraction = Field(0.15, description="Minimum cosine similarity of a passage")
    mmr_fetch_k: Positive | None = Field(
        None, description="For mmr: number of candidate passages; empty: twice the passages to retrieve"
    )
    mmr_lambda: Fraction = Field(0.5, description="For mmr: 1 favours relevance, 0 diversity")
    max_context_tokens: Positive = Field(2000, description="Maximum tokens of passages in the prompt")
    chat_passage_characters: Positive = Field(
        1700, description="Maximum characters of each passage in the prompt of POST /chat"
    )

    enable_query_reformulation: Reformulation = Field(
        "auto",
        description="auto: rewrite follow-ups as standalone questions before searching; always: rewrite every "
        "question; off: search for the user's own words. true means always, false means off",
    )

    query_reformulation_timeout_s: Seconds = Field(
        3,
        description="How long the language model may take to rewrite a question; then a rule decides. 30 with "
        "ollama and llama-cpp",
    )
    max_history_tokens: Positive = Field(1000, description="Maximum tokens of the conversation history in the prompt")

    citation_style: Literal["title", "numbered"] = Field("title", description="title: [Title > Section]; numbered: [1]")
    prompts_path: DirectoryPath | None = Field(
        None, description="Folder with your own versions of the texts in prompts/; empty: the packaged texts"
    )
    min_citations: int = Field(
        1, ge=0, le=20, description="Minimum number of valid sources; an answer that cites fewer is replaced"
    )
    citation_repair: Flag = Field(
        True, description="Whether a sentence without a citation is attributed to the passage that supports it"
    )

    stream_checked: Flag = Field(
        True, description="Whether a stream shows each sentence after it is checked; off: words as they arrive"
    )

    confidence_enabled: Flag = Field(True, description="Whether answers get a confidence")
    confidence_strategy: Literal["calibrated", "composite", "tiered"] = Field(
        "calibrated",
        description="calibrated: the probability that the answer is right; composite: four factors; tiered: High, "
        "Medium, Low by similarity",
    )
    confidence_model: Path | None = Field(
        None, description="For calibrated: a model fitted by `waypoint eval --fit`; empty: the packaged one"
    )
    confidence_low_threshold: Fraction = Field(0.4, description="Minimum score of low; not used by tiered")
    confidence_medium_threshold: Fraction = Field(0.6, description="Minimum score of medium; not used by tiered")
    confidence_high_threshold: Fraction = Field(0.8, description="Minimum score of high; not used by tiered")
    confidence_include_factors: Flag = Field(True, description="Whether an answer lists the factors of its confidence")

    scope_enabled: Flag = Field(
        True, description="Whether questions outside the documents are declined without calling the model"
    )
    scope_file: Path | None = Field(
        None,
        description="List of out-of-scope topics; empty: scope.yaml of each ingested folder, if all have one",
    )

    safety_enabled: Flag = Field(True, description="Whether questions, passages and answers are checked")
    safety_pii: Literal["redact", "block", "off"] = Field(
        "redact",
        description="Personal data in a question. redact: replaced by its kind, also in logs and traces; block: the "
        "question is not answered; off: left as it is",
    )
    safety_injection: Literal["block", "guard", "off"] = Field(
        "block",
        description="A question that looks like an attack on the model. block: not answered; guard: answered after a "
        "warning to the model; off: not checked, and neither are documents",
    )
    trusted_link_hosts: Hosts = Field(
        "",
        description="Hosts, subdomains included, that document links (`source_urls`) may point to, separated by "
        "commas; other links are hidden. Empty: any host",
    )
    moderation_provider: Literal["groq", "openai", "off"] = Field(
        "off",
        description="Service that judges whether a question is harmful: a guard model at Groq, OpenAI's moderation, "
        "or none; if it fails, the question is answered",
    )
    moderation_model: str | None = Field(
        None,
        description="Moderation model, like meta-llama/llama-guard-4-12b; empty: openai/gpt-oss-safeguard-20b for "
        "groq, omni-moderation-latest for openai",
    )
    moderation_api_key: SecretStr | None = Field(
        None,
        description="API key of the moderation service; empty: LLM_API_KEY if LLM_PROVIDER is groq, or "
        "openai-compatible for openai",
    )
    moderation_base_url: WebAddress | None = Field(
        None,
        description="Base URL of the moderation service: the host alone for groq, up to /v1 for openai; empty: "
        "LLM_BASE_URL if the key is LLM_API_KEY, else the vendor's own",
    )
    moderation_timeout_s: Seconds = Field(10, description="Timeout of a moderation, including up to three retries")
    moderation_ignored: str = Field(
        "specialized-advice,privacy,intellectual-property",
        description="Harm categories that do not block a question by themselves, separated by commas",
    )

    @property
    def link_hosts(self) -> tuple[str, ...]:
        """Return the hosts of TRUSTED_LINK_HOSTS; an empty tuple allows any host."""
        return tuple(self.trusted_link_hosts.split(",")) if self.trusted_link_hosts else ()

    @property
    def provider(self) -> str:
        """Return the provider: LLM_PROVIDER, else the one whose key is set, else offline."""
        keyed = "groq" if self.llm_api_key else "openrouter" if self.openrouter_api_key else "offline"
        return self.llm_provider or keyed

    @property
    def moderates_by_llm_key(self) -> bool:
        """Return whether the language model's provider also moderates, with the same key and address."""
        same = {"groq": "groq", "openai": "openai-compatible"}
        return self.moderation_api_key is None and same.get(self.moderation_provider) == self.provider

    @property
    def asks_a_server(self) -> bool:
        """Return whether the index is on a server rather than in this process."""
        in_process = {"memory": True, "chroma": self.chroma_host is None}
        return not in_process.get(self.vector_store_type, False)

    def context_tokens(self, model: str) -> int:
        """Return the context window of the model in tokens, from LLM_CONTEXT_TOKENS."""
        usual, *named = self.llm_context_tokens.split(",")
        windows = dict(window.split("=") for window in named)
        return int(windows.get(model, usual))

    @property
    def allowed_models(self) -> tuple[str, ...]:
        """Return the models that a client of POST /chat may choose from, LLM_MODEL first."""
        listed = [name.strip() for name in self.llm_allowed_models.split(",")]
        return tuple(dict.fromkeys([self.llm_model, *filter(None, listed)]))
