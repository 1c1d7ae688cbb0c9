"""Settings -> the models: of embeddings, of words, of tokens, and the retriever that asks them."""

from collections.abc import Callable
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

from app.adapters.executors import in_turn
from app.settings import Settings
from chains.errors import ConfigurationError
from chains.ports import ChunkStore, TokenCounter, WordIndex, WordSimilarity
from chains.retrieval import (
    ChunkRetriever,
    CompressionRetriever,
    HybridRetriever,
    MmrRetriever,
    SimilarityRetriever,
)
from chains.tokens import FourCharacters

ONNX_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


def embedding_model(settings: Settings) -> Embeddings:
    """Return the embeddings that EMBEDDING_PROVIDER and EMBEDDING_BACKEND name."""
    if settings.embedding_provider == "openai-compatible":
        from app.adapters.embeddings.http_embeddings import HttpEmbeddings

        base_url, key = settings.embedding_base_url or "", settings.embedding_api_key
        return HttpEmbeddings(
            base_url=base_url, model=settings.embedding_model, api_key=key, timeout_s=settings.embedding_timeout_s
        )
    if settings.embedding_backend == "torch":
        from app.adapters.embeddings.huggingface import torch_embeddings

        return torch_embeddings(settings.embedding_model)
    if settings.embedding_model != ONNX_MODEL:
        model = settings.embedding_model
        msg = f"EMBEDDING_BACKEND=onnx runs {ONNX_MODEL!r} only; for {model!r} set EMBEDDING_BACKEND=torch"
        raise ConfigurationError(msg)
    from app.adapters.embeddings.onnx import OnnxEmbeddings

    return OnnxEmbeddings()


def word_similarity() -> WordSimilarity:
    """Return the cosines between words by the packaged model's own word table."""
    from app.adapters.embeddings.onnx.weights import find_weights
    from app.adapters.embeddings.onnx.words import WordVectors

    return WordVectors(find_weights())


def token_counter(embeddings: Embeddings) -> TokenCounter:
    """Return the tokenizer that the embedding model brings along; without one, four characters are a token."""
    from app.adapters.embeddings.onnx import OnnxEmbeddings
    from app.adapters.embeddings.onnx.tokens import WordPieces

    return WordPieces(embeddings.tokenizer) if isinstance(embeddings, OnnxEmbeddings) else FourCharacters()


def retriever_of(
    settings: Settings, *, store: ChunkStore, words: WordIndex, model: Callable[[], BaseChatModel]
) -> ChunkRetriever:
    """Return the retriever that RETRIEVER_TYPE names; `model` is asked for by compression only."""
    limits: dict[str, Any] = {"top_k": settings.retrieval_top_k, "threshold": settings.relevance_threshold}
    # A server does the work itself, and is asked as often as there are questions.
    in_process = settings.vector_store_type == "memory" or settings.chroma_host is None
    threads: dict[str, Any] = {"executor": in_turn("search") if in_process else None}
    match settings.retriever_type:
        case "similarity":
            return SimilarityRetriever(store=store, **limits, **threads)
        case "mmr":
            options: dict[str, Any] = {"fetch_k": settings.mmr_fetch_k, "weight": settings.mmr_lambda}
            return MmrRetriever(store=store, **options, **limits, **threads)
    hybrid = HybridRetriever(store=store, words=words, **limits, **threads)
    if settings.retriever_type == "compression":
        return CompressionRetriever(retriever=hybrid, model=model(), **limits)
    return hybrid
