"""Ask an index of known size, in a process that does nothing else: `python -m benchmarks.scale.questions`.

Standard input has what to ask as JSON; standard output gets what was measured. The process is new, so that its memory
is that of answering.
"""

import gc
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import psutil
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableConfig

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Parts, Services
from benchmarks.scale.chunks import NEIGHBOURS
from chains.ports import ChunkStore
from chains.retrieval import HybridRetriever

ROUNDS = 3
PUBLIC = {"audience": "public"}


@dataclass(frozen=True)
class Asked:
    """What a process found: times in milliseconds, shares of the true neighbours, and its memory in MB."""

    p50_ms: float
    p95_ms: float
    public_p95_ms: float
    recall: float
    public_recall: float
    process_mb: float


class Lookup(Embeddings):
    """The vectors of the questions, made beforehand: the model's own time and memory are not the store's."""

    def __init__(self, vectors: Mapping[str, list[float]]) -> None:
        self._vectors = vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of questions."""
        return [self._vectors[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return self._vectors[text]


def main() -> None:
    """Read what to ask, ask it, and print what was found."""
    configure_logs("error")
    given = json.load(sys.stdin)
    settings = load_settings(_env_file=None, llm_provider="offline", **given["settings"])
    services = Services(settings, parts=Parts(embeddings=Lookup(given["vectors"])))
    json.dump(asdict(asked(services, given["vectors"], given["true"], given["true_public"])), sys.stdout)


def asked(
    services: Services,
    vectors: Mapping[str, list[float]],
    true: Sequence[list[str]],
    true_public: Sequence[list[str]],
) -> Asked:
    """Ask all questions a few times, of those who see everything and of those who see what is public."""
    retriever = HybridRetriever(store=services.store, words=services.words)
    times = _times_ms(retriever, list(vectors), {})
    public_times = _times_ms(retriever, list(vectors), PUBLIC)
    gc.collect()
    return Asked(
        p50_ms=float(np.percentile(times, 50)),
        p95_ms=float(np.percentile(times, 95)),
        public_p95_ms=float(np.percentile(public_times, 95)),
        recall=_recall(services.store, list(vectors.values()), true, {}),
        public_recall=_recall(services.store, list(vectors.values()), true_public, PUBLIC),
        process_mb=psutil.Process().memory_info().rss / 2**20,
    )


def _recall(
    store: ChunkStore, vectors: Sequence[list[float]], true: Sequence[list[str]], where: Mapping[str, str]
) -> float:
    shares = [
        len(set(store.nearest(vector, NEIGHBOURS, where)).intersection(ids)) / len(ids)
        for vector, ids in zip(vectors, true, strict=True)
    ]
    return float(np.mean(shares))


def _times_ms(retriever: HybridRetriever, questions: Sequence[str], caller: Mapping[str, str]) -> list[float]:
    config: RunnableConfig = {"configurable": dict(caller)}
    times = []
    for number, question in enumerate([*questions] * ROUNDS):
        started = time.perf_counter()
        retriever.invoke(question, config)
        if number >= len(questions):  # The first round warms up.
            times.append(1000 * (time.perf_counter() - started))
    return times


if __name__ == "__main__":
    main()
