"""Measure hybrid retrieval at 1,000 and at 100,000 chunks: part of `make bench`.

The texts are made of the corpus's words; the vectors are real embeddings of 2,000 stretches of it, repeated with noise.
Chunks are made, embedded and indexed a batch at a time, so memory holds one batch and what the stores keep.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import psutil
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from app.adapters.stores.chroma import open_chroma
from app.adapters.stores.fts import LexicalIndex
from chains.ingestion.index import indexed_fields, indexed_text
from chains.retrieval import HybridRetriever

Row = tuple[str, str, str]

SMALL, LARGE, BATCH = 1_000, 100_000, 1_000
STRETCHES, WORDS_IN_STRETCH, WORDS_IN_CHUNK = 2_000, 60, 110
NOISE = 0.5  # Of a vector's length, before it is made unit length again: neighbours stay neighbours, none is a copy.


class NoisyEmbeddings(Embeddings):
    """Real vectors for questions; for chunks the prepared ones in turn, each with noise of its own."""

    def __init__(self, model: Embeddings, stretches: Sequence[str]) -> None:
        self._model = model
        self._vectors = np.array(model.embed_documents(list(stretches)), dtype=np.float32)
        self._random = np.random.default_rng(7)
        self._made = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the next vectors, whatever the texts."""
        places = np.arange(self._made, self._made + len(texts)) % len(self._vectors)
        self._made += len(texts)
        noise = self._random.normal(size=(len(texts), self._vectors.shape[1]))
        noisy = self._vectors[places] + NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
        unit: list[list[float]] = (noisy / np.linalg.norm(noisy, axis=1, keepdims=True)).tolist()
        return unit

    def embed_query(self, text: str) -> list[float]:
        """Return the model's vector."""
        return self._model.embed_query(text)


def measure(folder: Path, corpus: Path, model: Embeddings, questions: Sequence[str]) -> Iterator[Row]:
    """Time both sizes, and the indexing of the larger."""
    words = " ".join(path.read_text(encoding="utf-8") for path in sorted(corpus.rglob("*.md"))).split()
    starts = np.linspace(0, len(words) - WORDS_IN_STRETCH, STRETCHES).astype(int)
    embeddings = NoisyEmbeddings(model, [" ".join(words[start : start + WORDS_IN_STRETCH]) for start in starts])
    small, _ = _indexed(folder / "small", SMALL, words, embeddings)
    started = time.perf_counter()
    large, peak_mb = _indexed(folder / "large", LARGE, words, embeddings)
    seconds = time.perf_counter() - started
    few, many = (_times_ms(retriever.invoke, questions) for retriever in (small, large))
    yield (
        f"hybrid retrieval p50 / p95, {SMALL:,} synthetic chunks",
        f"{np.percentile(few, 50):.1f} / {np.percentile(few, 95):.1f} ms",
        "",
    )
    yield (
        f"hybrid retrieval p50 / p95, {LARGE:,} synthetic chunks",
        f"{np.percentile(many, 50):.1f} / {np.percentile(many, 95):.1f} ms",
        "",
    )
    yield "ratio of the p95s", f"{np.percentile(many, 95) / np.percentile(few, 95):.1f}", "<= 4"
    yield (
        f"indexing {LARGE:,} chunks without embedding, peak resident memory",
        f"{LARGE / seconds:.0f} chunks/s, {peak_mb:.0f} MB",
        "bounded",
    )


def _indexed(folder: Path, size: int, words: Sequence[str], embeddings: Embeddings) -> tuple[HybridRetriever, float]:
    lexical = LexicalIndex(folder / "words.sqlite3", fields=indexed_fields)
    store = open_chroma(folder, "scale", embeddings, embedding_model="noisy", indexed_text=indexed_text, words=lexical)
    draw, process, peak = random.Random(7), psutil.Process(), 0  # noqa: S311 - texts, not secrets.
    for start in range(0, size, BATCH):
        numbers = range(start, start + BATCH)
        store.add_documents([_chunk(number, words, draw) for number in numbers], ids=[f"{n:064d}" for n in numbers])
        peak = max(peak, process.memory_info().rss)
    return HybridRetriever(store=store, words=lexical), peak / 2**20


def _chunk(number: int, words: Sequence[str], draw: random.Random) -> Document:
    starts = [draw.randrange(len(words)) for _ in range(2)]
    text = " ".join(" ".join(words[start : start + WORDS_IN_CHUNK // 2]) for start in starts)
    document, place = divmod(number, 25)
    metadata = {
        "doc_id": f"document_{document}",
        "title": f"Document {document}",
        "section": f"Section {place}",
        "section_path": f'["Section {place}"]',
        "chunk_index": place,
        "start_char": 800 * place,
        "end_char": 800 * place + len(text),
        "audience": "public",
        "category": "regulatory",
        "jurisdiction": "SG",
        "source_urls": '["https://example.org/a", "https://example.org/b"]',
        "source_org": "Customs",
        "last_updated": "2026-01-31",
    }
    return Document(text, metadata=metadata)


def _times_ms(ask: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    for question in questions:
        ask(question)
    times = []
    for question in [*questions] * 3:
        started = time.perf_counter()
        ask(question)
        times.append(1000 * (time.perf_counter() - started))
    return times
