"""Stage 1. A question -> the passages that may hold its answer, best first, each with its cosine similarity.

Four strategies: `HybridRetriever` (meaning and words, the default), `SimilarityRetriever` (meaning alone),
`MmrRetriever` (meaning, with repetitions held back) and `CompressionRetriever` (the passages of another retriever, cut
down to the words that matter). Whatever the strategy, `score` is the cosine similarity clipped to 0-1, the threshold
is on it, `rank` counts from 1, and the filters of the call hold.
"""

from chains.audience import Audience
from chains.retrieval.compression import CompressionRetriever
from chains.retrieval.current import CurrentRetriever
from chains.retrieval.filters import Filters, filters_of
from chains.retrieval.hybrid import HybridRetriever
from chains.retrieval.mmr import MmrRetriever
from chains.retrieval.passages import passage, retrieve
from chains.retrieval.retriever import ChunkRetriever, filter_by_threshold
from chains.retrieval.similarity import SimilarityRetriever

__all__ = [
    "Audience",
    "ChunkRetriever",
    "CompressionRetriever",
    "CurrentRetriever",
    "Filters",
    "HybridRetriever",
    "MmrRetriever",
    "SimilarityRetriever",
    "filter_by_threshold",
    "filters_of",
    "passage",
    "retrieve",
]
