"""Measure search in PostgreSQL by the number of passages: `python -m benchmarks.scale URL --sizes 1000 1000000`.

The URL is of a PostgreSQL database, in which a schema is made for each size. It is filled with passages made of halves
of the sample's, whose vectors lie between those of three of them, one in a hundred public. A search is that of a
question of the project's own, whose vector is known.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig
from numpy.typing import NDArray

from app.ledger.index import Row
from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Service, open_service
from benchmarks.offline import offline
from benchmarks.offline import questions as own_questions
from benchmarks.tables import laps_ms, table
from chains.ingestion.files import Source
from chains.ingestion.index import Change

PUBLIC_EVERY, LONGEST = 100, 25  # Passages of a document.


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="address of a PostgreSQL database")
    parser.add_argument("--sizes", type=int, nargs="+", required=True, help="numbers of passages")
    options = parser.parse_args()
    configure_logs("error")
    with tempfile.TemporaryDirectory() as folder:
        documents, vectors = passages_of(offline(Path(folder)))
    # All are filled before one is asked, so that their times are of the same minutes.
    filled = [fill(options.url, documents, between(vectors, size)) for size in options.sizes]
    rows = [measured(*each) for each in filled]
    print(table(tuple(rows[0]), [tuple(row.values()) for row in rows]))


def fill(url: str, documents: list[Document], made: NDArray[np.float32]) -> tuple[Service, NDArray[np.float32], float]:
    """Fill an empty index, in a collection named by its size; return it, the vectors and the passages a second."""
    place: dict[str, Any] = {"vector_store_type": "postgres", "database_url": url, "llm_provider": "offline"}
    services = open_service(load_settings(_env_file=None, **place, collection_name=f"scale_{len(made)}"))
    began = time.perf_counter()
    with services.index.stored.locked():
        sources = {
            id_: Source(id_, "made", id_) for id_ in (f"d{number}" for number in range(-(-len(made) // LONGEST)))
        }
        services.index.stored.publish(Change(sources=sources), halves(documents, made))
    return services, made, len(made) / (time.perf_counter() - began)


def measured(services: Service, made: NDArray[np.float32], filled_a_second: float) -> dict[str, str]:
    """Return the figures of a filled index."""
    questions = own_questions()
    asked = [services.index.embeddings.embed_query(question) for question in questions]
    found = [set(services.index.current().nearest(vector, 10, {})) for vector in asked]
    true = [
        {f"p{place}" for place in np.argsort(-(made @ np.array(vector, dtype=np.float32)))[:10]} for vector in asked
    ]
    times = {}
    for audience in ("internal", "public"):
        config: RunnableConfig = {"configurable": {"audience": audience}}
        laps = laps_ms(partial(services.answerer.retriever.invoke, question, config) for question in questions * 2)
        times[audience] = laps[len(questions) :]  # The first round warms up.
    return {
        "passages": f"{len(made):,}",
        "p50 / p95, ms": f"{np.percentile(times['internal'], 50):.1f} / {np.percentile(times['internal'], 95):.1f}",
        "p95, public, ms": f"{np.percentile(times['public'], 95):.1f}",
        "recall@10": f"{sum(len(a & b) for a, b in zip(found, true, strict=True)) / (10 * len(asked)):.3f}",
        "passages a second in": f"{filled_a_second:.0f}",
    }


def passages_of(sample: Service) -> tuple[list[Document], NDArray[np.float32]]:
    store = sample.index.current()
    names = [id_ for document in store.documents() for id_ in store.chunks_of(document.doc_id)]
    vectors = store.vectors(names)
    return store.get_by_ids(names), np.array([vectors[str(each.id)] for each in store.get_by_ids(names)])


def between(vectors: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """Return unit vectors, each between three of the given ones and a little aside."""
    chance = np.random.default_rng(7)
    made = np.empty((size, vectors.shape[1]), dtype=np.float32)
    for start in range(0, size, 10_000):
        count = min(10_000, size - start)
        weights = chance.dirichlet([0.5] * 3, count).astype(np.float32)
        part = np.einsum("ij,ijk->ik", weights, vectors[chance.integers(len(vectors), size=(count, 3))])
        part += chance.normal(0, 0.015, part.shape).astype(np.float32)
        made[start : start + count] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return made


def halves(documents: list[Document], vectors: NDArray[np.float32]) -> Iterator[Row]:
    """Yield a passage for each vector, whose text is the halves of two."""
    chance = np.random.default_rng(8)
    for number, vector in enumerate(vectors):
        first, second = (documents[place] for place in chance.integers(len(documents), size=2))
        text = first.page_content[: len(first.page_content) // 2] + second.page_content[len(second.page_content) // 2 :]
        audience = "internal" if number % PUBLIC_EVERY else "public"
        names = {"doc_id": f"d{number // LONGEST}", "chunk_index": number % LONGEST, "audience": audience}
        yield Row(f"p{number}", Document(text, id=f"p{number}", metadata=first.metadata | names), vector)


if __name__ == "__main__":
    main()
