"""Measure search by the number of passages, and compare what the stores find: `python -m benchmarks.scale URL`.

The URL is of a PostgreSQL database, in which a schema is made for each size.

Without `--sizes` the project's own questions are asked over the sample corpus in each store, and the ten passages are
compared. With it PostgreSQL is filled with passages made of halves of the sample's, whose vectors lie between
those of three of them, one in a hundred public. A search is that of a question whose vector is known.
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
from numpy.typing import NDArray

from app.ledger.index import Row
from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Service, open_service, sample_corpus
from benchmarks.offline import questions
from benchmarks.tables import laps_ms, table
from chains.ingestion.files import Source
from chains.ingestion.index import Change

AUDIENCES = ("internal", "public")
PUBLIC_EVERY, LONGEST = 100, 25  # Passages of a document.


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="address of a PostgreSQL database")
    parser.add_argument("--sizes", type=int, nargs="+", default=[], help="numbers of passages")
    options = parser.parse_args()
    configure_logs("error")
    asked = questions()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        exact = opened(folder, "memory")
        exact.index.ingest([sample_corpus()])
        if options.sizes:
            # All are filled before one is asked, so that their times are of the same minutes.
            filled = [fill(opened(folder, "postgres", options.url, size), exact) for size in options.sizes]
            rows = [measured(*each, asked) for each in filled]
            print(table(tuple(rows[0]), [tuple(row.values()) for row in rows]))
            return
        for services in (opened(folder, "chroma"), opened(folder, "postgres", options.url)):
            services.index.stored.vectors.serves = True
            services.index.ingest([sample_corpus()])
            for audience in AUDIENCES:
                equal = sum(ids(services, text, audience) == ids(exact, text, audience) for text in asked)
                searched = services.index.current().searched_by()
                print(f"{searched}, {audience}: as exact search for {equal} of {len(asked)} questions")


def opened(folder: Path, kind: str, url: str | None = None, size: int = 0) -> Service:
    """Return services over a store of this kind, in a collection named by its size."""
    places = {"chroma_path": folder / kind, "database_url": url}
    made = {"vector_store_type": kind, "llm_provider": "offline", "collection_name": f"scale_{size}"}
    return open_service(load_settings(_env_file=None, **made, **places))


def ids(services: Service, question: str, audience: str) -> list[str]:
    found = services.answerer.retriever.invoke(question, {"configurable": {"audience": audience}})
    return [str(passage.id) for passage in found]


def fill(services: Service, sample: Service) -> tuple[Service, NDArray[np.float32], float]:
    """Fill an empty index; return it, the vectors and the passages a second."""
    documents, vectors = passages_of(sample)
    made = between(vectors, int(services.settings.store.collection.removeprefix("scale_")))
    began = time.perf_counter()
    with services.index.stored.locked():
        sources = {
            id_: Source(id_, "made", id_) for id_ in (f"d{number}" for number in range(-(-len(made) // LONGEST)))
        }
        services.index.stored.publish(Change(sources=sources), halves(documents, made))
    return services, made, len(made) / (time.perf_counter() - began)


def measured(
    services: Service, made: NDArray[np.float32], filled_a_second: float, questions: list[str]
) -> dict[str, Any]:
    """Return the figures of a filled index."""
    asked = [services.index.embeddings.embed_query(question) for question in questions]
    found = [set(services.index.current().nearest(vector, 10, {})) for vector in asked]
    true = [
        {f"p{place}" for place in np.argsort(-(made @ np.array(vector, dtype=np.float32)))[:10]} for vector in asked
    ]
    laps = {
        audience: laps_ms(partial(ids, services, question, audience) for question in questions * 2)
        for audience in AUDIENCES
    }
    times = {audience: each[len(questions) :] for audience, each in laps.items()}  # The first round warms up.
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
