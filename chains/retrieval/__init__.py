"""Retrieval: find the passages that may answer a question, best first, each with its cosine similarity.

The strategies are in `chains.retrieval.strategies`. In all of them `score` is the cosine similarity clipped to 0-1, the
threshold applies to `score`, `rank` counts from 1, and the filters of the call apply.
"""

from chains.documents.audience import Audience
from chains.retrieval.filters import Filters, filters_of
from chains.retrieval.passages import Retrieve, Retriever, passage, retrieve
from chains.retrieval.retriever import ChunkRetriever, CurrentRetriever
from chains.retrieval.strategies import (
    CompressionRetriever,
    HybridRetriever,
    MmrRetriever,
    RerankingRetriever,
    SimilarityRetriever,
)

__all__ = [
    "Audience",
    "ChunkRetriever",
    "CompressionRetriever",
    "CurrentRetriever",
    "Filters",
    "HybridRetriever",
    "MmrRetriever",
    "RerankingRetriever",
    "Retrieve",
    "Retriever",
    "SimilarityRetriever",
    "filters_of",
    "passage",
    "retrieve",
]
