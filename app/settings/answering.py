"""The settings of what answers: models, index, retrieval, citations."""

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
        description="Who answers; empty: groq, or openrouter, if there is a key of it, else offline. "
        "ollama and llama-cpp are servers on your own machine and need no key",
    )
    llm_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("llm_api_key", "groq_api_key"),
        description="Key of the provider; GROQ_API_KEY works as well",
    )
    openrouter_api_key: SecretStr | None = Field(None, description="Key of OpenRouter; empty: LLM_API_KEY")
    openrouter_referer: WebAddress | None = Field(None, description="Address of your site, which OpenRouter is told")
    openrouter_title: str = Field("Waypoint Co-Pilot", description="Name of your program, which OpenRouter is told")
    llm_base_url: WebAddress | None = Field(
        None,
        description="For groq the host alone, empty is Groq itself; for others the address up to /v1; "
        "empty is http://127.0.0.1:11434/v1 for ollama, http://127.0.0.1:8080/v1 for llama-cpp",
    )
    llm_model: str = Field(
        "llama-3.1-8b-instant",
        validation_alias=AliasChoices("llm_model", "primary_model_id"),
        description="The language model; PRIMARY_MODEL_ID works as well; with OpenRouter the default is "
        "google/gemma-3n-e2b-it:free, with ollama and llama-cpp the first model that the server lists",
    )
    llm_allowed_models: str = Field(
        "", description="Models that a client of POST /chat may choose beside LLM_MODEL, separated by commas"
    )
    llm_temperature: float = Field(0.3, ge=0, le=2, description="Sampling temperature")
    chat_temperature: float = Field(0.4, ge=0, le=2, description="Sampling temperature for POST /chat")
    llm_reasoning_format: Literal["parsed", "hidden"] | None = Field(
        None,
        description="For reasoning models at Groq: thoughts apart, or not sent; answers never show `<think>`",
    )
    llm_reasoning_effort: Literal["none", "default", "low", "medium", "high"] | None = Field(
        None, description="How long a reasoning model thinks; which words it knows, its provider says"
    )
    llm_service_tier: Literal["auto", "on_demand", "flex"] | None = Field(
        None, description="For groq: which of its tiers answers"
    )
    llm_max_tokens: Positive = Field(500, description="Most tokens of an answer")
    llm_timeout_s: Seconds = Field(
        60, description="How long one request to the model may take; 300 with ollama and llama-cpp"
    )
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
    request_timeout_s: Seconds = Field(
        90, description="How long a question may take in all; 330 with ollama and llama-cpp"
    )

    embedding_provider: Literal["huggingface", "openai-compatible"] = Field(
        "huggingface", description="huggingface runs the model on this machine; openai-compatible asks a service"
    )
    embedding_model: str = Field("sentence-transformers/all-MiniLM-L6-v2", description="The embedding model")
    embedding_backend: Literal["onnx", "torch"] = Field(
        "onnx", description="For huggingface; torch needs the extra `huggingface` and runs any model"
    )
    embedding_device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="For torch; auto takes a GPU where there is one. onnx runs on the processor"
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

    vector_store_type: Literal["chroma", "memory", "postgres"] = Field(
        "chroma",
        description="chroma, in a folder or on a server; memory, saved in one JSON file; postgres, for many hosts",
    )
    database_url: SecretStr | None = Field(
        None, description="The database of postgres, like postgresql://user:password@host:5432/name"
    )
    database_pool_size: Positive = Field(10, description="Most connections to it of one process")
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
    vector_store_timeout_s: Seconds = Field(10, description="How long a Chroma server or PostgreSQL may take to answer")
    collection_name: str = Field(
        "waypoint_kb", pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$", description="Name of the collection"
    )

    retrieval_url: WebAddress | None = Field(
        None,
        description="A retrieval service that is asked by POST /search, like http://retrieval:8002; empty: the index",
    )
    retrieval_api_key: SecretStr | None = Field(None, description="Its key, sent as bearer token")
    retrieval_audience: Literal["internal", "public"] = Field(
        "internal", description="Who may see a passage of it that does not say so itself"
    )
    retrieval_timeout_s: Seconds = Field(30, description="How long one request to it may take")
    retrieval_max_retries: int = Field(3, ge=0, le=10, description="How often a failed request to it is repeated")
    retrieval_breaker_failures: Positive = Field(
        5, description="Failures in a row after which it is not called for a while"
    )
    retrieval_breaker_reset_s: Seconds = Field(60, description="How long it is not called then")

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

    enable_query_reformulation: Reformulation = Field(
        "auto",
        description="auto: follow-ups are searched for as questions that stand alone; always: every question is made "
        "one; off: the user's own words are searched for. true is always, false is off",
    )

    query_reformulation_timeout_s: Seconds = Field(
        3,
        description="How long the language model may take for that; then a rule decides. 30 with ollama and llama-cpp",
    )
    max_history_tokens: Positive = Field(
        1000, description="How many tokens of the conversation before the question the model is shown"
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

    stream_checked: Flag = Field(
        True, description="Whether a stream shows a sentence once it is checked; off: words as they come"
    )

    confidence_enabled: Flag = Field(True, description="Whether answers are rated")
    confidence_strategy: Literal["calibrated", "composite", "tiered"] = Field(
        "calibrated",
        description="calibrated: the probability that the answer is right; composite: four factors; "
        "tiered: High, Medium, Low by similarity",
    )
    confidence_model: Path | None = Field(
        None, description="For calibrated: a model that `waypoint eval --fit` wrote; empty: the packaged one"
    )
    confidence_low_threshold: Fraction = Field(0.4, description="Least score of low, but for tiered")
    confidence_medium_threshold: Fraction = Field(0.6, description="Least score of medium, but for tiered")
    confidence_high_threshold: Fraction = Field(0.8, description="Least score of high, but for tiered")
    confidence_include_factors: Flag = Field(True, description="Whether an answer names the factors of its confidence")

    scope_enabled: Flag = Field(
        True, description="Whether questions that no document answers are declined without asking the model"
    )
    scope_file: Path | None = Field(
        None,
        description="A list of such questions; empty: the scope.yaml of each ingested folder, where all have one",
    )

    safety_enabled: Flag = Field(True, description="Whether questions, passages and answers are checked")
    safety_pii: Literal["redact", "block", "off"] = Field(
        "redact",
        description="What becomes of personal data in a question: its kind stands for it, in logs and traces as well; "
        "the same, and the question is not answered; or nothing",
    )
    safety_injection: Literal["block", "guard", "off"] = Field(
        "block",
        description="What becomes of a question that reads like an attack on the model: not answered; answered after a "
        "warning to the model, as are doubtful ones; or nothing, and documents are not looked at either",
    )
    trusted_link_hosts: Hosts = Field(
        "",
        description="Hosts that the links of documents (`source_urls`) may lead to, with their subdomains, separated "
        "by commas; other links are not shown. Empty: any host",
    )
    moderation_provider: Literal["groq", "openai", "off"] = Field(
        "off",
        description="Who judges whether a question is harmful: a guard model at Groq, OpenAI's moderation, or nobody; "
        "without an answer of theirs the question goes on",
    )
    moderation_model: str | None = Field(
        None,
        description="Its model, like meta-llama/llama-guard-4-12b; empty: openai/gpt-oss-safeguard-20b for groq, "
        "omni-moderation-latest for openai",
    )
    moderation_api_key: SecretStr | None = Field(
        None, description="Its key; empty: LLM_API_KEY, where LLM_PROVIDER is groq, or openai-compatible for openai"
    )
    moderation_base_url: WebAddress | None = Field(
        None,
        description="Its address: for groq the host alone, for openai up to /v1; empty: LLM_BASE_URL where its key is "
        "LLM_API_KEY, else the vendor's own",
    )
    moderation_timeout_s: Seconds = Field(10, description="How long it may take, up to three retries included")
    moderation_ignored: str = Field(
        "specialized-advice,privacy,intellectual-property",
        description="Categories of harm that alone do not block a question, separated by commas",
    )

    @property
    def link_hosts(self) -> tuple[str, ...]:
        """Return the hosts of TRUSTED_LINK_HOSTS; none is any."""
        return tuple(self.trusted_link_hosts.split(",")) if self.trusted_link_hosts else ()

    @property
    def provider(self) -> str:
        """Return the provider in force: the one that is set, else that of the key that there is, else offline."""
        keyed = "groq" if self.llm_api_key else "openrouter" if self.openrouter_api_key else "offline"
        return self.llm_provider or keyed

    @property
    def moderates_by_llm_key(self) -> bool:
        """Return whether the provider of the language model moderates too, so that key and address are the same."""
        same = {"groq": "groq", "openai": "openai-compatible"}
        return self.moderation_api_key is None and same.get(self.moderation_provider) == self.provider

    @property
    def asks_a_server(self) -> bool:
        """Return whether the index is on a server, and not in this process."""
        return self.vector_store_type == "postgres" or (
            self.vector_store_type == "chroma" and self.chroma_host is not None
        )

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
