"""Measure speed, memory and size, and print them as one table: `make bench`.

Every figure is of this run on this machine. Ratios are of two commands run in turn, so that a noisy machine bothers
both alike.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage

from app.adapters.embeddings.onnx import WordVectors, find_weights
from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Parts, Service, open_index, open_service, sample_corpus
from benchmarks.figures import ROOT, report
from benchmarks.house import installed
from benchmarks.offline import questions
from benchmarks.processes import service
from benchmarks.tables import laps_ms, table
from chains.citations import CiteSources
from chains.citations.numbering import number_markers
from chains.citations.references import read_references
from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.index import indexed_text
from chains.retrieval.strategies import HybridRetriever, SimilarityRetriever
from chains.state import Context, Generated, Passage, Question

REAL_CORPUS = ROOT.parent / "shared" / "kb" / "waypoint"
FEW = 5
RUNS = 3
Row = tuple[str, str, str]
Cost = tuple[float, float]


def main() -> None:
    """Run every measurement, print the table and keep it; with --quick run what takes seconds, and keep nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few questions, and the sample corpus")
    is_quick = parser.parse_args().quick
    configure_logs("warning")
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(_env_file=None, chroma_path=Path(folder) / "store", llm_provider="offline")
        # Without the memory of questions: the same ones are asked again, and each is embedded anew.
        services = open_service(settings, parts=Parts(embeddings=open_index(settings).embedder))
        corpus = REAL_CORPUS if REAL_CORPUS.is_dir() and not is_quick else sample_corpus()
        services.index.ingest([corpus])
        slow = [] if is_quick else [ingestion(services, corpus, Path(folder)), *cache_rows()]
        asked = questions()[:FEW] if is_quick else questions()
        rows = [
            *slow,
            *index_rows(services, corpus, asked),
            serve_memory(Path(folder), asked),
            installed_size(),
            *citation_rows(),
        ]
    report("bench", table(("what", "measured", "aim"), rows), is_kept=not is_quick)


def index_rows(services: Service, corpus: Path, asked: list[str]) -> Iterator[Row]:
    """Yield what an ingestion takes that changes nothing, and what searches take once they are warm."""
    index = services.index.current()
    seconds = statistics.median(laps_ms([partial(services.index.ingest, [corpus])] * 3)) / 1000
    yield f"ingestion of {index.count()} chunks that are in the index", f"{seconds:.2f} s", ""
    similarity, hybrid = SimilarityRetriever(store=index), HybridRetriever(store=index, words=index)
    for strategy, retriever, aim in (("similarity", similarity, 5), ("hybrid", hybrid, 8)):
        for question in asked[:FEW]:
            retriever.invoke(question)
        times = laps_ms(partial(retriever.invoke, question) for question in asked)
        name = f"warm {strategy} retrieval p50 / p95, {index.count()} chunks of {corpus.name}"
        yield name, "{:.1f} / {:.1f} ms".format(*np.percentile(times, [50, 95])), f"p50 <= {aim} ms"


def serve_memory(folder: Path, asked: list[str]) -> Row:
    """Return the resident memory of a service that has answered the questions."""
    with service(folder, CHROMA_PATH=str(folder / "store"), LLM_PROVIDER="offline") as running:
        for question in asked:
            httpx.post(f"{running.url}/api/query", json={"query": question}, timeout=60).raise_for_status()
        resident = psutil.Process(running.process.pid).memory_info().rss / 2**20
    return "resident memory of a warm `waypoint serve`", f"{resident:.0f} MB", "< 450 MB"


def installed_size() -> Row:
    """Return what the distributions of requirements.lock take on disk, as installed here."""
    torch = "without" if find_spec("torch") is None else "with"
    size = f"{installed()['MB of a base installation']} MB, {torch} torch"
    return "installed size of the base environment", size, "< 600 MB, no torch"


def ingestion(services: Service, corpus: Path, folder: Path) -> Row:
    """Time an ingestion from nothing against the bare model on the same texts, in turn."""
    services.index.embeddings.embed_query("")  # The model is opened.
    ours, bare, texts = list[Cost](), list[Cost](), list[str]()
    for number in range(RUNS):
        settings = services.settings.replace(chroma_path=folder / f"{corpus.name}-{number}")
        fresh = open_service(settings, parts=Parts(embeddings=services.index.embeddings))
        ours.append(_cost(partial(fresh.index.ingest, [corpus])))
        index = fresh.index.current()
        ids = [id_ for held in index.documents() for id_ in index.chunks_of(held.doc_id)]
        texts = [indexed_text(chunk) for chunk in index.get_by_ids(ids)]
        bare.append(_cost(partial(services.index.embeddings.embed_documents, texts)))
    speed, limit = (len(texts) / statistics.median(wall for wall, _ in costs) for costs in (ours, bare))
    ratios = [np.divide(theirs, mine) for mine, theirs in zip(ours, bare, strict=True)]
    wall, processor = np.median(ratios, axis=0)
    name = f"ingestion of {len(texts)} chunks of {corpus.name}, chunks/s, the bare model in turn, ratio, of processor"
    return name, f"{speed:.0f}, {limit:.0f}, {wall:.2f}, {processor:.2f}", ">= 0.90"


def _cost(action: Callable[[], object]) -> Cost:
    """Return the seconds that an action takes on the clock, and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - processor


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
            store: dict[str, Any] = {"chroma_path": Path(folder), "vector_store_type": "memory"}
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
    for how, cite, aim in (("no embeddings", lexical, "<= 3 ms"), ("word vectors", full, "<= 10 ms")):
        yield f"{name}, {how}", f"{statistics.median(laps_ms([partial(cite, state)] * 31)):.1f} ms", aim
    shown, units = state["context"]["passages"], ("[", "[a > b]", "[1, ", "[1](", "` [", "[[a]]")
    hostile = (unit * (HOSTILE_CHARACTERS // len(unit)) for unit in units)
    read = (partial(parse, text, shown) for text in hostile for parse in (read_references, number_markers))
    yield "200 kB of brackets, parsed, slowest of six kinds", f"{max(laps_ms(read)) / 1000:.2f} s", "< 1 s"


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


if __name__ == "__main__":
    main()
