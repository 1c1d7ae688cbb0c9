"""Hybrid retrieval: chunks close to the question in meaning or in words, ranked by both."""

from typing import Any

import numpy as np
from langchain_core.documents import Document
from pydantic import SkipValidation

from chains.ports import ChunkStore, WordIndex
from chains.retrieval.filters import Filters
from chains.retrieval.fusion import Candidate, rank
from chains.retrieval.retriever import FUSED_SCORE, SCORE, ChunkRetriever, fetched
from chains.vectors import cosines

# From each of the two searches; more found nothing more in the measurements, and cost milliseconds.
CANDIDATES = 50


class HybridRetriever(ChunkRetriever):
    """The `top_k` best chunks of those nearest in meaning and those that share the question's words.

    The order is that of the fused score. The threshold is on the cosine similarity, as in every strategy: a chunk that
    shares words with the question but is about something else is left out, and 0 lets all through.
    """

    store: SkipValidation[ChunkStore]
    words: SkipValidation[WordIndex]
    candidates: int = CANDIDATES

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        """Return the best chunks, the best first, with `score` and `fused_score`."""
        vector = self.store.embeddings.embed_query(query)
        with self.store.reading():
            ranked = rank(*self._candidates(query, vector, max(self.candidates, top_k), filters))
            best = [one for one in ranked if one.candidate.score >= threshold][:top_k]
            return fetched(
                self.store,
                {one.candidate.id: {SCORE: one.candidate.score, FUSED_SCORE: round(one.score, 6)} for one in best},
            )

    def _candidates(
        self, query: str, vector: list[float], limit: int, filters: Filters
    ) -> tuple[list[Candidate], dict[str, float]]:
        where = filters.where()
        scores = self.store.nearest(vector, limit, where)
        bm25 = self.words.search(query, limit, where)
        missing = self.store.vectors([id_ for id_ in bm25 if id_ not in scores])
        scores |= dict(zip(missing, cosines(np.array(list(missing.values())), vector).tolist(), strict=True))
        places = self.words.places(list(scores))
        return [Candidate(id_, score, places.get(id_)) for id_, score in scores.items()], bm25
