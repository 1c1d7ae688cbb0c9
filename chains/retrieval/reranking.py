"""Reranking: another retriever's chunks in the order that a LangChain document compressor puts them in."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cached_property
from typing import Any

from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import SkipValidation

from chains.callbacks import check_time
from chains.logs import get_logger
from chains.retrieval.filters import Filters
from chains.retrieval.retriever import ChunkRetriever, with_metadata

log = get_logger(__name__)

RERANK_SCORE = "rerank_score"
# Where rerankers write their score.
GIVEN_SCORE = "relevance_score"
# A reranker that hangs keeps its thread.
THREADS = 4


class RerankingRetriever(ChunkRetriever):
    """The `top_k` best of the `candidates` that `retriever` finds, in the order of `compressor`.

    Only the order is the compressor's: chunks keep their words and their `score`, and what it leaves out comes behind.
    `rerank_score` is what it gives as `relevance_score`. Where it fails, or takes longer than `timeout_s` seconds, the
    order of the retriever stands.
    """

    retriever: ChunkRetriever
    compressor: SkipValidation[BaseDocumentCompressor]
    candidates: int = 30
    timeout_s: float = 5.0

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        wanted = max(top_k, self.candidates)
        found = self.retriever.find(query, top_k=wanted, threshold=threshold, filters=filters, callbacks=callbacks)
        if len(found) < 2:  # noqa: PLR2004 - one chunk has one order.
            return found
        limit_s = min(self.timeout_s, check_time(callbacks))
        task = self._threads.submit(
            copy_context().run, self.compressor.compress_documents, found, query, callbacks=callbacks
        )
        try:
            return list(_reordered(found, task.result(limit_s)))[:top_k]
        except Exception as error:  # A worse order is better than no answer.
            task.cancel()
            log.warning("reranking_failed", reranker=type(self.compressor).__name__, error=type(error).__name__)
            return found[:top_k]

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(THREADS, thread_name_prefix="rerank")


def _reordered(found: Sequence[Document], chosen: Sequence[Document]) -> Iterator[Document]:
    """Yield each found chunk once: those that were chosen, in their order, then the others."""
    left = {_key(document): document for document in found}
    for one in chosen:
        if document := left.pop(_key(one), None):
            score = one.metadata.get(GIVEN_SCORE)
            known = isinstance(score, float) and math.isfinite(score)
            yield with_metadata(document, {RERANK_SCORE: score}) if known else document
    yield from left.values()


def _key(document: Document) -> str:
    return document.id or document.page_content
