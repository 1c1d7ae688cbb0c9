"""Settings -> adapters -> chain: the composition root."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from app.settings import Settings
from chains.context import FormatContext
from chains.errors import ConfigurationError, VectorStoreError
from chains.pipeline import build_chain
from chains.retrieval import SimilarityRetriever
from chains.state import Answer, Question

if TYPE_CHECKING:
    from langchain_chroma import Chroma

    from chains.ingestion import Index, Report
    from chains.ingestion.source import Loader
    from chains.ports import Progress

ONNX_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True)
class Services:
    """What the commands and the routes work with, each made when it is first asked for."""

    settings: Settings

    @cached_property
    def embeddings(self) -> Embeddings:
        """Return the embedding model."""
        return _embeddings(self.settings)

    @cached_property
    def store(self) -> "Chroma":
        """Return the vector store, checked against the embedding model."""
        from app.adapters.chroma import open_chroma
        from chains.ingestion.index import indexed_text

        settings = self.settings
        return open_chroma(
            settings.chroma_path,
            settings.collection_name,
            self.embeddings,
            embedding_model=settings.embedding_model,
            indexed_text=indexed_text,
        )

    @cached_property
    def model(self) -> BaseChatModel:
        """Return the chat model: Groq, or the offline answerer."""
        return _model(self.settings, self.embeddings)

    @cached_property
    def chain(self) -> Runnable[Question, Answer]:
        """Return the pipeline."""
        settings = self.settings
        return build_chain(
            retriever=SimilarityRetriever(
                store=self.store, top_k=settings.retrieval_top_k, threshold=settings.relevance_threshold
            ),
            model=self.model,
            context=FormatContext(max_tokens=settings.max_context_tokens),
        )

    def count(self) -> int:
        """Return the number of chunks in the store."""
        from app.adapters.chroma import count

        return count(self.store)

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
        from chains.ingestion.chunks import Chunker

        with _alone(self.settings.chroma_path):
            if reset and not dry_run:
                self._reset()
            return ingest(
                paths,
                into=self._index(),
                loaders=loaders(),
                chunker=Chunker(
                    size=self.settings.chunk_size,
                    overlap=self.settings.chunk_overlap,
                    join=min(600, self.settings.chunk_size * 3 // 4),
                ),
                progress=progress,
                dry_run=dry_run,
                min_chunks=self.settings.min_chunks,
            )

    def _index(self) -> "Index":
        from app.adapters.chroma import chunk_ids
        from app.adapters.records import open_records
        from chains.ingestion import Index

        folder, name = self.settings.chroma_path, self.settings.collection_name
        records, origins = open_records(folder, name), open_records(folder, f"{name}/origins")
        return Index(self.store, records, origins, partial(chunk_ids, self.store))

    def _reset(self) -> None:
        from app.adapters.chroma import delete_collection
        from app.adapters.records import open_records

        self.__dict__.pop("store", None)
        folder, name = self.settings.chroma_path, self.settings.collection_name
        delete_collection(folder, name)
        for records in (open_records(folder, name), open_records(folder, f"{name}/origins")):
            if keys := records.list_keys():
                records.delete_keys(keys)


def sample_corpus() -> Path:
    """Return the folder of the sample corpus: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "knowledge_base"
    return inside if inside.is_dir() else package.parent / "knowledge_base"


def loaders() -> "dict[str, Loader]":
    """Return how to read a file, by its ending."""
    from app.adapters.formats import LOADERS
    from chains.ingestion import markdown, plain

    return {
        **dict.fromkeys(markdown.ENDINGS, markdown.load_markdown),
        **dict.fromkeys(plain.ENDINGS, plain.load_plain),
        **LOADERS,
    }


def _embeddings(settings: Settings) -> Embeddings:
    if settings.embedding_backend == "torch":
        from app.adapters.huggingface import torch_embeddings

        return torch_embeddings(settings.embedding_model)
    if settings.embedding_model != ONNX_MODEL:
        model = settings.embedding_model
        msg = f"EMBEDDING_BACKEND=onnx runs {ONNX_MODEL!r} only; for {model!r} set EMBEDDING_BACKEND=torch"
        raise ConfigurationError(msg)
    from app.adapters.onnx import OnnxEmbeddings

    return OnnxEmbeddings()


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
