"""The settings of what answers: models, index, retrieval, citations, confidence, checks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, DirectoryPath, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from app.settings import values as v


class LLMSettings(v.Group):
    """The language model that writes the answers."""

    model_config = SettingsConfigDict(env_prefix="llm_")

    chosen: Annotated[str, v.part("models")] | None = Field(None, validation_alias="llm_provider")
    """Service that writes the answers; empty: groq or openrouter if its key is set, else offline. ollama and llama-cpp
    run on your own machine and need no key"""
    api_key: SecretStr | None = Field(None, validation_alias=AliasChoices("llm_api_key", "groq_api_key"))
    """API key of the provider; GROQ_API_KEY and OPENROUTER_API_KEY work as well"""
    openrouter_api_key: SecretStr | None = Field(None, validation_alias="openrouter_api_key", exclude=True)
    base_url: v.WebAddress | None = Field(default_factory=lambda own: v.LOCAL_SERVERS.get(v.provider_of(own)))
    """Base URL of the provider: the host alone for groq, up to /v1 for others; empty: Groq itself,
    http://127.0.0.1:11434/v1 for ollama, http://127.0.0.1:8080/v1 for llama-cpp"""
    model: str = Field(
        default_factory=lambda own: v.USUAL_MODELS.get(v.provider_of(own), "llama-3.1-8b-instant"),
        validation_alias=AliasChoices("llm_model", "primary_model_id"),
    )
    """Language model; PRIMARY_MODEL_ID works as well. Default for OpenRouter: google/gemma-3n-e2b-it:free; for ollama
    and llama-cpp: the first model the server lists"""
    allowed_models: str = ""
    """Models that clients of POST /chat may choose besides LLM_MODEL, separated by commas"""
    temperature: float = Field(0.3, ge=0, le=2, description="Sampling temperature")
    max_tokens: v.Positive = Field(500, description="Maximum tokens of an answer")
    # Without a GPU a local server reads 50 to 200 tokens a second: a prompt takes half a minute or more.
    timeout_s: v.Seconds = Field(default_factory=lambda own: 300 if v.provider_of(own) in v.LOCAL_SERVERS else 60)
    """Timeout of one request to the model; 300 with ollama and llama-cpp"""
    max_retries: int = Field(3, ge=0, le=10, description="Retries of a failed request")
    options: v.JsonObject | None = None
    """More options of LangChain's class of the provider, as JSON: {"reasoning_effort": "low"}"""
    rpm: v.Positive | None = Field(None, description="Requests per minute that the provider allows; empty: no limit")
    tpm: v.Positive | None = Field(None, description="Tokens per minute that the provider allows; empty: no limit")
    fallback: v.Fallback = True
    """What answers when the provider fails. true: the offline answerer; false: nothing; the base URL of a second,
    OpenAI-compatible provider, up to /v1, and its model after a blank (else LLM_MODEL): this one first"""
    fallback_api_key: SecretStr | None = Field(None, description="API key of the second provider")

    @property
    def provider(self) -> str:
        return v.provider_of(self.__dict__)

    @property
    def models(self) -> tuple[str, ...]:
        """Return the models that a client of POST /chat may choose from, LLM_MODEL first."""
        listed = [name.strip() for name in self.allowed_models.split(",")]
        return tuple(dict.fromkeys([self.model, *filter(None, listed)]))

    @property
    def rewriting_timeout_s(self) -> float:
        """Return how long the model may take to rewrite a question; then a rule decides."""
        return v.LOCAL_REWRITING_S if self.provider in v.LOCAL_SERVERS else v.REWRITING_S

    def contradictions(self) -> Iterator[str]:
        if self.chosen == "groq" and self.api_key is None:
            yield "LLM_PROVIDER=groq needs a key in LLM_API_KEY or GROQ_API_KEY; LLM_PROVIDER=offline needs none"
        if self.chosen == "openai-compatible" and self.base_url is None:
            yield "LLM_PROVIDER=openai-compatible needs LLM_BASE_URL, like http://127.0.0.1:8080/v1"
        if self.provider == "openrouter" and not (self.openrouter_api_key or self.api_key):
            yield "LLM_PROVIDER=openrouter needs a key in OPENROUTER_API_KEY or LLM_API_KEY"


class EmbeddingSettings(v.Group):
    """What questions and passages are embedded with."""

    model_config = SettingsConfigDict(env_prefix="embedding_")

    provider: Annotated[str, v.part("embeddings")] = "huggingface"
    """huggingface runs the model on this machine; openai-compatible calls a service"""
    model: str = Field("sentence-transformers/all-MiniLM-L6-v2", description="Embedding model")
    backend: Literal["onnx", "torch"] = "onnx"
    """Runtime for huggingface; torch needs the extra `huggingface` and runs any model"""
    base_url: v.WebAddress | None = None
    """Base URL of the openai-compatible embedding service, like http://127.0.0.1:8080/v1"""
    api_key: SecretStr | None = Field(None, description="API key of the embedding service; empty: LLM_API_KEY")
    prefixes: str | None = Field(None, pattern=r"^([^|]*\|[^|]*|input_type)$")
    """Text that the model wants before a question and before a passage, like `query: |passage: `; input_type: the
    service adds it. Empty: by the model's name; a change needs a new index"""

    def contradictions(self) -> Iterator[str]:
        if self.provider == "openai-compatible" and self.base_url is None:
            yield "EMBEDDING_PROVIDER=openai-compatible needs EMBEDDING_BASE_URL, like http://127.0.0.1:8080/v1"
        if self.prefixes == "input_type" and self.provider != "openai-compatible":
            yield "EMBEDDING_PREFIXES=input_type needs EMBEDDING_PROVIDER=openai-compatible"
        if (self.prefixes or "|") != "|" and self.provider == "huggingface" and self.backend == "onnx":
            others = "EMBEDDING_BACKEND=torch or EMBEDDING_PROVIDER=openai-compatible"
            yield f"EMBEDDING_PREFIXES needs {others}: the packaged model takes none"


class StoreSettings(v.Group):
    """Where the index is."""

    kind: Annotated[str, v.part("vectors")] = Field("chroma", validation_alias="vector_store_type")
    """What searches the vectors: chroma, in a folder or on a server; memory, this process, for some thousand passages;
    postgres, for several hosts"""
    collection: str = Field(
        "waypoint_kb", pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]$", validation_alias="collection_name"
    )
    """Name of the collection"""


class ChromaSettings(v.Group):
    """Chroma, in a folder or on a server."""

    model_config = SettingsConfigDict(env_prefix="chroma_")

    path: Path = Field(Path("storage/chroma"), description="Folder of the index, and of all else that lasts")
    host: str | None = Field(None, pattern=r"^[^\s/:]+$", description="Host of a Chroma server; empty: use the folder")
    port: v.Port = Field(8000, description="Port of the Chroma server")
    ssl: v.Flag = Field(False, description="Whether the Chroma server uses TLS")
    api_key: SecretStr | None = Field(None, description="Token of the Chroma server, sent as X-Chroma-Token")


class RetrievalSettings(v.Group):
    """How passages are found, here or by a service."""

    url: v.WebAddress | None = Field(None, validation_alias="retrieval_url")
    """Remote retrieval service with POST /search, like http://retrieval:8002; empty: the local index"""
    api_key: SecretStr | None = Field(None, validation_alias="retrieval_api_key")
    """API key of the retrieval service, sent as a bearer token"""
    strategy: Annotated[str, v.part("retrieval")] = Field("hybrid", validation_alias="retriever_type")
    """hybrid: meaning and words; similarity: meaning; mmr: less repetition; compression: passages shortened by the
    LLM"""
    top_k: int = Field(
        10, ge=1, le=100, validation_alias="retrieval_top_k", description="Number of passages to retrieve"
    )
    threshold: v.Fraction = Field(0.15, validation_alias="relevance_threshold")
    """Minimum cosine similarity of a passage; for hybrid its words count as well"""
    mmr_fetch_k: v.Positive | None = None
    """For mmr: number of candidate passages; empty: twice the passages to retrieve"""
    mmr_lambda: v.Fraction = 0.5
    """For mmr: 1 favours relevance, 0 diversity"""
    reranker: v.Reranker | None = None
    """What puts the passages in order again: cross-encoder, a model on this machine (needs the extra `reranking`); llm,
    the language model, in one more call; or the base URL of a service, up to /v1. A model may follow after a blank; for
    cross-encoder it is a name at the hub or a folder (else cross-encoder/ettin-reranker-17m-v1). Empty: none"""
    reranker_api_key: SecretStr | None = None
    """API key of the reranking service, sent as a bearer token"""
    reformulation: v.Reformulation = Field("auto", validation_alias="enable_query_reformulation")
    """auto: rewrite follow-ups as standalone questions before searching, and with a language model those in another
    language than the documents in English; always: rewrite every question; off: search for the user's own words. true
    means always, false means off"""
    scope_file: Literal["off"] | Path | None = None
    """List of topics whose questions are declined without calling the model; empty: scope.yaml of each ingested folder,
    if all have one; off: no question is declined"""


class PromptSettings(v.Group):
    """What the language model is given."""

    context_tokens: v.Positive = Field(2000, validation_alias="max_context_tokens")
    """Maximum tokens of passages in the prompt"""
    context: Literal["passage", "section"] = Field("passage", validation_alias="context")
    """Whether the model is shown what was found, or as much of its sections as fits"""
    folder: Annotated[DirectoryPath, AfterValidator(Path.absolute)] | None = Field(
        None, validation_alias="prompts_path"
    )
    """Folder with your own versions of the texts in prompts/; empty: the packaged texts"""


class CitationSettings(v.Group):
    """How answers are cited and checked."""

    style: Literal["title", "numbered"] = Field("title", validation_alias="citation_style")
    """title: [Title > Section]; numbered: [1]"""
    least: int = Field(1, ge=0, le=20, validation_alias="min_citations")
    """Minimum number of valid sources; an answer that cites fewer is replaced"""
    stream_checked: v.Flag = True
    """Whether a stream shows each sentence after it is checked; off: words as they arrive"""


class ConfidenceSettings(v.Group):
    """How answers are rated."""

    model_config = SettingsConfigDict(env_prefix="confidence_")

    enabled: v.Flag = Field(True, description="Whether answers get a confidence")
    strategy: Annotated[str, v.part("confidence")] = "calibrated"
    """calibrated: the probability that the answer is right; composite: four factors; tiered: High, Medium, Low by
    similarity, and Low without a matched citation"""
    model: Path | None = None
    """For calibrated: a model fitted by `waypoint eval --fit`; empty: the packaged one"""
    low_threshold: v.Fraction = Field(0.4, description="Minimum score of low; not used by tiered")
    medium_threshold: v.Fraction = Field(0.6, description="Minimum score of medium; not used by tiered")
    high_threshold: v.Fraction = Field(0.8, description="Minimum score of high; not used by tiered")
    include_factors: v.Flag = Field(True, description="Whether an answer lists the factors of its confidence")

    def contradictions(self) -> Iterator[str]:
        low, medium, high = self.low_threshold, self.medium_threshold, self.high_threshold
        if not low < medium < high:
            yield (
                f"CONFIDENCE_LOW_THRESHOLD ({low:g}), CONFIDENCE_MEDIUM_THRESHOLD ({medium:g}) and "
                f"CONFIDENCE_HIGH_THRESHOLD ({high:g}) have to rise in this order"
            )


class SafetySettings(v.Group):
    """What is checked in questions, passages and answers."""

    model_config = SettingsConfigDict(env_prefix="safety_")

    enabled: v.Flag = Field(True, description="Whether questions, passages and answers are checked")
    pii: Literal["redact", "block", "off"] = "redact"
    """Personal data in a question. redact: replaced by its kind, also in logs and traces; block: the question is not
    answered; off: left as it is"""
    injection: Literal["block", "guard", "off"] = "block"
    """A question that looks like an attack on the model. block: not answered; guard: answered after a warning to the
    model; off: not checked, and neither are documents"""
    link_hosts: v.Hosts = Field("", validation_alias="trusted_link_hosts")
    """Hosts, subdomains included, that document links (`source_urls`) may point to, separated by commas; other links
    are hidden. Empty: any host"""


class ModerationSettings(v.Group):
    """What judges whether a question is harmful."""

    model_config = SettingsConfigDict(env_prefix="moderation_")

    provider: Literal["groq", "openai", "off"] = "off"
    """Service that judges whether a question is harmful: a guard model at Groq, OpenAI's moderation, or none; if it
    fails, the question is answered"""
    model: str | None = None
    """Moderation model, like meta-llama/llama-guard-4-12b; empty: openai/gpt-oss-safeguard-20b for groq,
    omni-moderation-latest for openai"""
    api_key: SecretStr | None = None
    """API key of the moderation service; empty: LLM_API_KEY if LLM_PROVIDER is groq, or openai-compatible for openai"""
    base_url: v.WebAddress | None = None
    """Base URL of the moderation service: the host alone for groq, up to /v1 for openai; empty: LLM_BASE_URL if the key
    is LLM_API_KEY, else the vendor's own"""

    def uses_llm_key(self, llm: LLMSettings) -> bool:
        """Return whether the provider of the language model moderates too, so that key and address are the same."""
        same = {"groq": "groq", "openai": "openai-compatible"}
        return self.api_key is None and same.get(self.provider) == llm.provider
