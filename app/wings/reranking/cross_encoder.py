"""Rerank with a cross-encoder of sentence-transformers, a model that reads question and passage together."""

from typing import Any

from langchain_classic.retrievers.document_compressors import CrossEncoderReranker
from langchain_classic.retrievers.document_compressors.cross_encoder import BaseCrossEncoder
from sentence_transformers import CrossEncoder

from app.wiring.models import RERANKED

MODEL = "cross-encoder/ettin-reranker-17m-v1"


class SentenceTransformersEncoder(BaseCrossEncoder):
    """A cross-encoder, by its name at the hub or its folder."""

    def __init__(self, name: str) -> None:
        self._model = CrossEncoder(name)

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        return [float(score) for score in self._model.predict(text_pairs, show_progress_bar=False)]


def cross_encoder(_settings: Any, _model: Any, name: str) -> CrossEncoderReranker:
    """Return LangChain's reranker over the model of this name, which the hub gives once."""
    return CrossEncoderReranker(model=SentenceTransformersEncoder(name or MODEL), top_n=RERANKED)
