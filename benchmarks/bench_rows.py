"""Rows of `make bench`: an ingestion beside the bare model, a repeated question by caches, and what citing costs."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage

from app.adapters.embeddings.onnx.weights import find_weights
from app.adapters.embeddings.onnx.words import WordVectors
from app.ledger.passages import Passages
from app.settings import load_settings
from app.wiring import Parts, Service, open_service, sample_corpus
from chains.citations import CiteSources
from chains.citations.numbering import number_markers
from chains.citations.references import read_references
from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.index import indexed_text
from chains.state import Context, Generated, Passage, Question

Row = tuple[str, str, str]

RUNS = 3


def all_chunks(passages: Passages) -> list[Document]:
    """Return the chunks of an index, document by document."""
    ids = [id_ for held in passages.documents() for id_ in passages.chunks_of(held.doc_id)]
    return passages.get_by_ids(ids)


class Cost(NamedTuple):
    """Seconds on the clock, and of the processor."""

    wall: float
    processor: float


def ingestion(services: Service, corpus: Path, folder: Path) -> Row:
    """Time an ingestion from nothing against the bare model on the same texts, in turn."""
    services.index.embeddings.embed_query("")  # The model is opened.
    ours, bare = [], []
    texts: list[str] = []
    for number in range(RUNS):
        settings = services.settings.replace(chroma_path=folder / f"{corpus.name}-{number}")
        fresh = open_service(settings, parts=Parts(embeddings=services.index.embeddings))
        ours.append(_cost(partial(fresh.index.ingest, [corpus])))
        texts = [indexed_text(chunk) for chunk in all_chunks(fresh.index.current())]
        bare.append(_cost(partial(services.index.embeddings.embed_documents, texts)))
    speed, limit = (len(texts) / statistics.median(cost.wall for cost in costs) for costs in (ours, bare))
    pairs = list(zip(ours, bare, strict=True))
    wall = statistics.median(theirs.wall / mine.wall for mine, theirs in pairs)
    processor = statistics.median(theirs.processor / mine.processor for mine, theirs in pairs)
    name = f"ingestion of {len(texts)} chunks of {corpus.name}, chunks/s, the bare model in turn, ratio, of processor"
    return name, f"{speed:.0f}, {limit:.0f}, {wall:.2f}, {processor:.2f}", ">= 0.90"


def _cost(action: Callable[[], object]) -> Cost:
    wall, processor = time.perf_counter(), time.process_time()
    action()
    return Cost(time.perf_counter() - wall, time.process_time() - processor)


ASKED = Question(question="Which permits for cosmetics to Indonesia?")
TIMES = 300


class Outside(BaseCallbackHandler):
    """Counts searches and generations; the cache itself counts embeddings."""

    run_inline = True  # Counting is not worth a thread for each event.
    calls = 0

    def on_retriever_start(self, *args: Any, **kwargs: Any) -> None:
        self.calls += 1

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self.calls += 1


def cache_rows() -> Iterator[Row]:
    """Yield what a repeated question takes from memory, and from the ledger."""
    for backend in ("memory", "ledger"):
        with tempfile.TemporaryDirectory() as folder:
            store: dict[str, Any] = {"memory_store_path": Path(folder) / "store.json", "vector_store_type": "memory"}
            cache: dict[str, Any] = {"cache_enabled": True, "cache_backend": backend, "llm_provider": "offline"}
            services = open_service(load_settings(_env_file=None, **store, **cache))
            services.index.ingest([sample_corpus()])
            name = f"a question asked before, answer from {backend}, p50 / p95 / processor, calls outside"
            yield name, asyncio.run(_measured(services)), "<= 4 ms, 0"


async def _measured(services: Service) -> str:
    outside, times = Outside(), []
    async with services.running():
        await services.chain.ainvoke(ASKED)
        embedded, processor = _embedded(services), time.process_time()
        for _ in range(TIMES):
            started = time.perf_counter()
            await services.chain.ainvoke(ASKED, {"callbacks": [outside]})
            times.append(1000 * (time.perf_counter() - started))
        used = 1000 * (time.process_time() - processor) / TIMES
    calls = outside.calls + _embedded(services) - embedded
    return "{:.1f} / {:.1f} / {:.1f} ms, {}".format(*np.percentile(times, [50, 95]), used, calls)


def _embedded(services: Service) -> int:
    return sum(services.index.caches.stats.of("embedding", event) for event in ("hits", "misses"))


CHUNKS = 10
ANSWER_CHARACTERS = 2_000  # 500 tokens at four characters a token.
HOSTILE_CHARACTERS = 200_000


def citation_rows() -> Iterator[Row]:
    """Yield what stage 4 costs: by shared stems, with word vectors, and to parse 200 kB of brackets."""
    state = usual_answer()
    vectors = WordVectors(find_weights())
    lexical, full = CiteSources(), CiteSources(similarity=vectors)
    name = f"stage 4 on a 500-token answer and {CHUNKS} chunks, median"
    yield f"{name}, no embeddings", f"{_median_ms(lambda: lexical(state)):.1f} ms", "<= 3 ms"
    yield f"{name}, word vectors", f"{_median_ms(lambda: full(state)):.1f} ms", "<= 10 ms"
    slowest = max(_hostile_seconds(unit, state) for unit in ("[", "[a > b]", "[1, ", "[1](", "` [", "[[a]]"))
    yield "200 kB of brackets, parsed, slowest of six kinds", f"{slowest:.2f} s", "< 1 s"


def usual_answer() -> Generated:
    """Return an answer made of the corpus's own sentences, a third of them cited, as a model would write it."""
    file = sorted(sample_corpus().glob("01_regulatory/*.md"))[0]
    chunks = Chunker().split_markdown(file.read_text(encoding="utf-8"))[:CHUNKS]
    shown = [_passage(chunk) for chunk in chunks]
    lines: list[str] = []
    while sum(map(len, lines)) < ANSWER_CHARACTERS:
        chunk = chunks[len(lines) % CHUNKS]
        sentence = " ".join(chunk.text.split("\n")[-1].split()[:18])
        lines.append(f"{sentence} [The Guide > {chunk.section}]." if len(lines) % 3 == 0 else f"{sentence}.")
    answer = "\n".join(lines)[:ANSWER_CHARACTERS]
    context = Context(text="", passages=shown)
    return Generated(question="Q?", documents=shown, context=context, message=AIMessage(answer), answer=answer)


def _passage(chunk: Chunk) -> Passage:
    metadata = {"title": "The Guide", "section": chunk.section, "doc_id": "guide"}
    return Passage(content=chunk.text, metadata=metadata, score=0.5)


def _median_ms(action: Callable[[], object]) -> float:
    times = []
    for _ in range(31):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return 1000 * sorted(times)[len(times) // 2]


def _hostile_seconds(unit: str, state: Generated) -> float:
    text, shown = unit * (HOSTILE_CHARACTERS // len(unit)), state["context"]["passages"]
    started = time.perf_counter()
    read_references(text, shown)
    middle = time.perf_counter()
    number_markers(text, shown)
    return max(middle - started, time.perf_counter() - middle)
