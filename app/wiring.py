"""Settings -> adapters -> chain: the composition root."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

import prompts
from app.settings import Settings
from chains.citations import CiteSources
from chains.context import FormatContext
from chains.errors import ConfigurationError, VectorStoreError
from chains.pipeline import build_chain
from chains.ports import WordSimilarity
from chains.retrieval import (
    ChunkRetriever,
    CompressionRetriever,
    HybridRetriever,
    MmrRetriever,
    SimilarityRetriever,
)
from chains.scope import SCOPE_FILE, ScopeGate, load_scope
from chains.state import Answer, Question

if TYPE_CHECKING:
    from langchain_core.indexing import RecordManager

    from app.adapters.chroma import DocumentChroma, Server
    from app.adapters.fts import LexicalIndex
    from app.adapters.memory import SavedMemoryStore
    from chains.ingestion import Index, Report
    from chains.ingestion.chunks import Chunker
    from chains.ports import Progress

    Store = DocumentChroma | SavedMemoryStore

ONNX_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True)
class Services:
    """What the commands and the routes work with, each made when it is first asked for."""

    settings: Settings

    @cached_property
    def embeddings(self) -> Embeddings:
        """Return the embedding model."""
        return _embeddings(self.settings)

    def warm(self) -> None:
        """Load the embedding model in the background, while the caller imports and opens the rest."""
        embeddings = self.embeddings
        threading.Thread(target=embeddings.embed_query, args=("",), daemon=True).start()

    @cached_property
    def store(self) -> "Store":
        """Return the vector store, checked against the embedding model, with the word index in line with it."""
        store = _open_store(self.settings, self.embeddings, self.words)
        if store.count() != self.words.count():
            self.words.align(store)
        return store

    @cached_property
    def words(self) -> "LexicalIndex":
        """Return the index of the words that the store holds."""
        from app.adapters.fts import LexicalIndex
        from chains.ingestion.index import indexed_fields

        folder, name = _beside(self.settings)
        return LexicalIndex(folder / f"{name.replace('/', '_')}.words.sqlite3", fields=indexed_fields)

    @cached_property
    def model(self) -> BaseChatModel:
        """Return the chat model: Groq, or the offline answerer."""
        return _model(self.settings, self.embeddings)

    @cached_property
    def retriever(self) -> ChunkRetriever:
        """Return the retriever that RETRIEVER_TYPE names."""
        return _retriever(self.settings, self)

    @cached_property
    def chain(self) -> Runnable[Question, Answer]:
        """Return the pipeline."""
        settings = self.settings
        return build_chain(
            retriever=self.retriever,
            model=self.model,
            system=prompts.load("system" if settings.citation_style == "title" else "system_numbered"),
            context=FormatContext(max_tokens=settings.max_context_tokens, style=settings.citation_style),
            citations=CiteSources(
                style=settings.citation_style,
                min_citations=settings.min_citations,
                repair=settings.citation_repair,
                similarity=_word_similarity(),
            ),
            scope=self.scope,
        )

    @cached_property
    def scope(self) -> ScopeGate | None:
        """Return what declines questions that no document answers; None where it is off or no list of them is there."""
        from app.adapters.remembered import RememberedEmbeddings

        settings = self.settings
        file = settings.scope_file or sample_corpus() / SCOPE_FILE
        if not settings.scope_enabled or not (settings.scope_file or file.is_file()):
            return None
        return ScopeGate(load_scope(file), RememberedEmbeddings(self.embeddings, model=settings.embedding_model))

    def count(self) -> int:
        """Return the number of chunks in the store."""
        return self.store.count()

    def ingest(
        self,
        paths: list[Path],
        *,
        reset: bool = False,
        dry_run: bool = False,
        progress: "Progress | None" = None,
    ) -> "Report":
        """Bring the store in line with the files below `paths`; `reset` rebuilds it from nothing.

        Raises:
            IngestionError: a path does not exist.
            VectorStoreError: another ingestion is at work, or the store cannot be written.
            ConfigurationError: the store was made with another model or distance.
        """
        from chains.ingestion import ingest
        from chains.ingestion.markdown import ENDINGS, load_markdown

        with _alone(_beside(self.settings)[0]):
            if reset and not dry_run:
                self._reset()
            return ingest(
                paths,
                into=self._index(),
                loaders=dict.fromkeys(ENDINGS, load_markdown),
                chunker=_chunker(self.settings),
                progress=progress,
                dry_run=dry_run,
            )

    def _index(self) -> "Index":
        from chains.ingestion import Index

        if self.store.count() == 0:
            self._forget()  # A store that was emptied or deleted holds nothing, whatever the records say.
        return Index(self.store, *self._records())

    def _records(self) -> tuple["RecordManager", "RecordManager"]:
        from app.adapters.records import open_records

        folder, name = _beside(self.settings)
        return open_records(folder, name), open_records(folder, f"{name}/origins")

    def _reset(self) -> None:
        for made in ("store", "retriever", "chain"):
            self.__dict__.pop(made, None)
        _delete_store(self.settings)
        self.words.clear()
        self._forget()

    def _forget(self) -> None:
        for records in self._records():
            if keys := records.list_keys():
                records.delete_keys(keys)


def sample_corpus() -> Path:
    """Return the folder of the sample corpus: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "knowledge_base"
    return inside if inside.is_dir() else package.parent / "knowledge_base"


def _beside(settings: Settings) -> tuple[Path, str]:
    """Return the folder of what stands beside the vectors, and the name of the store in it."""
    if settings.vector_store_type == "memory":
        return settings.memory_store_path.parent, settings.memory_store_path.stem
    name = settings.collection_name
    server = f"{settings.chroma_host}-{settings.chroma_port}/" if settings.chroma_host else ""
    return settings.chroma_path, f"{server}{name}"


def _chroma_place(settings: Settings) -> "Path | Server":
    from app.adapters.chroma import Server

    if settings.chroma_host is None:
        return settings.chroma_path
    key = settings.chroma_api_key.get_secret_value() if settings.chroma_api_key else None
    return Server(settings.chroma_host, settings.chroma_port, settings.chroma_ssl, key)


def _open_store(settings: Settings, embeddings: Embeddings, words: "LexicalIndex") -> "Store":
    from chains.ingestion.index import indexed_text

    model = settings.embedding_model
    if settings.vector_store_type == "memory":
        from app.adapters.memory import SavedMemoryStore

        path = settings.memory_store_path
        return SavedMemoryStore(path, embeddings, embedding_model=model, indexed_text=indexed_text, words=words)
    from app.adapters.chroma import open_chroma

    return open_chroma(
        _chroma_place(settings),
        settings.collection_name,
        embeddings,
        embedding_model=model,
        indexed_text=indexed_text,
        words=words,
    )


def _delete_store(settings: Settings) -> None:
    if settings.vector_store_type == "memory":
        settings.memory_store_path.unlink(missing_ok=True)
        return
    from app.adapters.chroma import delete_collection

    delete_collection(_chroma_place(settings), settings.collection_name)


def _retriever(settings: Settings, services: "Services") -> ChunkRetriever:
    limits: dict[str, Any] = {"top_k": settings.retrieval_top_k, "threshold": settings.relevance_threshold}
    match settings.retriever_type:
        case "similarity":
            return SimilarityRetriever(store=services.store, **limits)
        case "mmr":
            options: dict[str, Any] = {"fetch_k": settings.mmr_fetch_k, "weight": settings.mmr_lambda}
            return MmrRetriever(store=services.store, **options, **limits)
    hybrid = HybridRetriever(store=services.store, words=services.words, **limits)
    if settings.retriever_type == "compression":
        return CompressionRetriever(retriever=hybrid, model=services.model, **limits)
    return hybrid


def _chunker(settings: Settings) -> "Chunker":
    from chains.ingestion.chunks import Chunker

    # A short part is one chunk with its subsections: it answers more questions than its pieces.
    size = settings.chunk_size
    return Chunker(size=size, overlap=settings.chunk_overlap, join=size * 3 // 4)


def _embeddings(settings: Settings) -> Embeddings:
    if settings.embedding_provider == "openai-compatible":
        from app.adapters.openai_compatible import HttpEmbeddings

        base_url, key = settings.embedding_base_url or "", settings.embedding_api_key
        return HttpEmbeddings(base_url=base_url, model=settings.embedding_model, api_key=key)
    if settings.embedding_backend == "torch":
        from app.adapters.huggingface import torch_embeddings

        return torch_embeddings(settings.embedding_model)
    if settings.embedding_model != ONNX_MODEL:
        model = settings.embedding_model
        msg = f"EMBEDDING_BACKEND=onnx runs {ONNX_MODEL!r} only; for {model!r} set EMBEDDING_BACKEND=torch"
        raise ConfigurationError(msg)
    from app.adapters.onnx import OnnxEmbeddings

    return OnnxEmbeddings()


def _word_similarity() -> WordSimilarity:
    from app.adapters.onnx.weights import find_weights
    from app.adapters.onnx.words import WordVectors

    return WordVectors(find_weights())


def _model(settings: Settings, embeddings: Embeddings) -> BaseChatModel:
    if settings.provider == "offline" or settings.llm_api_key is None:
        from app.adapters.offline import OfflineChatModel

        return OfflineChatModel(embeddings=embeddings)
    from app.adapters.groq import groq_model

    return groq_model(
        api_key=settings.llm_api_key,
        model=settings.llm_model,
        base_url=settings.llm_base_url,
        temperature=settings.llm_temperature,
        max_tokens=settings.llm_max_tokens,
        timeout_s=settings.llm_timeout_s,
        max_retries=settings.llm_max_retries,
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "ingest.lock", timeout=0):
            yield
    except Timeout as error:
        msg = "another ingestion into the same store is at work; wait until it is done"
        raise VectorStoreError(msg) from error
    except OSError as error:
        msg = (
            f"the vector store in {str(folder)!r} cannot be written ({error.strerror}); check CHROMA_PATH and the disk"
        )
        raise VectorStoreError(msg) from error
