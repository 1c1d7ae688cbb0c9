"""Build the embedding model, the word similarity, the token counter and the retriever."""

from collections.abc import Callable
from functools import cache
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

import prompts
from app import hooks
from app.adapters.embeddings import NO_PREFIXES, Prefixes, prefixes_for
from app.adapters.embeddings.onnx import MODEL, OnnxEmbeddings, WordVectors, find_weights, half_of_the_cores
from app.settings import Settings
from chains.clock import Clock
from chains.errors import ConfigurationError
from chains.ports import ChunkStore, WordIndex
from chains.retrieval import strategies
from chains.retrieval.filters import FieldIndex
from chains.retrieval.retriever import ChunkRetriever

INPUT_TYPE = "input_type"
# The passages that a reranker is given, and how long it may take before the old order stands.
RERANKED, RERANKER_TIMEOUT_S = 30, 5
RERANKERS = {"cross-encoder": "reranking.cross_encoder:cross_encoder", "llm": "reranking.rerankers:listwise"}


def embedding_service(settings: Settings, clock: Clock) -> Embeddings:
    from app.adapters.embeddings.http_embeddings import HttpEmbeddings

    return HttpEmbeddings(
        base_url=settings.embedding.base_url or "",
        model=settings.embedding.model,
        api_key=settings.embedding.api_key or settings.llm.api_key,
        prefixes=embedding_prefixes(settings),
        input_type=settings.embedding.prefixes == INPUT_TYPE,
        clock=clock,
    )


def embeddings_here(settings: Settings, _clock: Clock) -> Embeddings:
    if settings.embedding.backend == "torch":
        from app.adapters.embeddings.huggingface import torch_embeddings

        return torch_embeddings(settings.embedding.model, prefixes=embedding_prefixes(settings))
    if settings.embedding.model != MODEL:
        model = settings.embedding.model
        msg = f"EMBEDDING_BACKEND=onnx runs {MODEL!r} only; for {model!r} set EMBEDDING_BACKEND=torch"
        raise ConfigurationError(msg)
    return OnnxEmbeddings()


def embedding_prefixes(settings: Settings) -> Prefixes:
    """Return what the embedding model wants before questions and passages, where the service does not add it."""
    embedding = settings.embedding
    if embedding.prefixes == INPUT_TYPE:
        return NO_PREFIXES
    query, given, passage = (embedding.prefixes or "").partition("|")
    return prefixes_for(embedding.model, query=query if given else None, passage=passage if given else None)


def embedding_label(settings: Settings) -> str:
    """Return the name under which vectors are stored: the model, and the prefix of its passages."""
    prefix = INPUT_TYPE if settings.embedding.prefixes == INPUT_TYPE else embedding_prefixes(settings).passage
    return f"{settings.embedding.model} ({prefix.strip()})" if prefix else settings.embedding.model


@cache
def word_similarity() -> WordVectors:
    """Return the cosines between words by the packaged model's word table, which is opened once."""
    return WordVectors(find_weights())


def retriever_of(
    settings: Settings, *, store: ChunkStore, words: WordIndex, model: Callable[[], BaseChatModel]
) -> ChunkRetriever:
    """Return the retriever that RETRIEVER_TYPE names, behind the reranker that RERANKER names."""
    retrieval = settings.retrieval
    retriever: ChunkRetriever = hooks.load("retrieval", retrieval.strategy)(settings, store, words, model)
    if retrieval.reranker is None:
        return retriever
    kind, _, name = retrieval.reranker.partition(" ")
    compressor = hooks.wing(RERANKERS.get(kind, "reranking.rerankers:service"))
    return strategies.RerankingRetriever(
        retriever=retriever,
        compressor=compressor(settings, model, name),
        candidates=RERANKED,
        timeout_s=RERANKER_TIMEOUT_S,
        **limits(settings),
    )


Model = Callable[[], BaseChatModel]


def hybrid(settings: Settings, store: ChunkStore, words: WordIndex, _model: Model) -> ChunkRetriever:
    # The table is opened for the first word that no document holds.
    return strategies.HybridRetriever(
        words=words, is_word=lambda word: word in word_similarity(), **_searching(settings, store, words)
    )


def similarity(settings: Settings, store: ChunkStore, words: WordIndex, _model: Model) -> ChunkRetriever:
    return strategies.SimilarityRetriever(**_searching(settings, store, words))


def mmr(settings: Settings, store: ChunkStore, words: WordIndex, _model: Model) -> ChunkRetriever:
    options: dict[str, Any] = {"fetch_k": settings.retrieval.mmr_fetch_k, "weight": settings.retrieval.mmr_lambda}
    return strategies.MmrRetriever(**options, **_searching(settings, store, words))


def compression(settings: Settings, store: ChunkStore, words: WordIndex, model: Model) -> ChunkRetriever:
    """Search by meaning and words, and have the language model shorten what is found."""
    retriever = hybrid(settings, store, words, model)
    prompt = prompts.load("compression", settings.prompt.folder)
    return strategies.CompressionRetriever(retriever=retriever, model=model(), prompt=prompt, **limits(settings))


def _searching(settings: Settings, store: ChunkStore, words: WordIndex) -> dict[str, Any]:
    """Return what every search of the index has. A server does the work itself, for as many questions as there are."""
    executor = None if settings.asks_a_server else half_of_the_cores("search")
    fields = FieldIndex(store)
    return {"store": store, "fields": fields, "executor": executor, **limits(settings)}


def limits(settings: Settings) -> dict[str, Any]:
    retrieval = settings.retrieval
    return {"top_k": retrieval.top_k, "threshold": retrieval.threshold, "link_hosts": settings.link_hosts}
