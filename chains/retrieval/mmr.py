"""MMR: chunks close to the question and unlike one another (Carbonell and Goldstein, 1998)."""

from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.vectorstores.utils import maximal_marginal_relevance
from pydantic import SkipValidation

from chains.ports import ChunkStore
from chains.retrieval.filters import Filters
from chains.retrieval.retriever import SCORE, ChunkRetriever, fetched

FETCHED_PER_RESULT = 2


class MmrRetriever(ChunkRetriever):
    """The `top_k` of the `fetch_k` nearest chunks that say the most together; 1 as `weight` is plain similarity.

    `fetch_k` is twice `top_k` where it is not given. The scores stay the chunks' own cosine similarities, so they need
    not fall from rank to rank.
    """

    store: SkipValidation[ChunkStore]
    fetch_k: int | None = None
    weight: float = 0.5

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        """Return the chosen chunks, in the order of choice."""
        vector = self.store.embeddings.embed_query(query)
        wanted = max(top_k, self.fetch_k or FETCHED_PER_RESULT * top_k)
        with self.store.reading():
            scores = self.store.nearest(vector, wanted, filters.where())
            near = [id_ for id_, score in scores.items() if score >= threshold]
            chosen = self._choose(vector, near, top_k)
            return fetched(self.store, {id_: {SCORE: scores[id_]} for id_ in chosen})

    def _choose(self, vector: list[float], near: list[str], top_k: int) -> list[str]:
        vectors = self.store.vectors(near)
        ids = [id_ for id_ in near if id_ in vectors]
        if not ids:
            return []
        rows = [vectors[id_].tolist() for id_ in ids]
        chosen = maximal_marginal_relevance(np.array(vector), rows, lambda_mult=self.weight, k=top_k)
        return [ids[place] for place in chosen]
