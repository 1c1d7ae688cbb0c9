"""Fill stores with more and more chunks, ask them, delete a document, and print the table: `make scale`.

The vectors of the first 20,000 chunks are the model's, of windows over the documents of FOLDER; those beyond are drawn
around them (`benchmarks.scale.chunks`). Vectors are made beforehand, so times are those of the stores, not the model's.
Questions are the project's own; a process of its own asks them at each size. `--work` keeps the real vectors; several
runs over one such folder, each of other stores, fill at the same time and measure one at a time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from app.adapters.stores.index import StoredIndex
from app.cli.rendering import progress_bar
from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Parts, Services
from benchmarks.figures import read_figures, write_figures
from benchmarks.places import PLACES, Place, emptied
from benchmarks.rendered_scale import growth_of, scale_table
from benchmarks.scale.chunks import CHUNKS_A_DOCUMENT, ScaledChunks, true_neighbours, windows
from benchmarks.scale.plot import growth_plot
from benchmarks.scale.turns import Turns

ROOT = Path(__file__).parents[2]
FOLDER = ROOT.parent / "shared"
QUESTIONS = ROOT / "evals" / "questions.jsonl"
SIZES = (1_000, 10_000, 100_000)
PICTURES = {
    "p95_ms": "Hybrid retrieval, 95th percentile, ms",
    "disk_mb": "Size on disk, MB",
    "deletion_s": "Deletion of one document, s",
}
REAL, MOST_QUESTIONS, BATCH = 20_000, 60, 1_000


@dataclass(frozen=True)
class Questions:
    """The questions' vectors by their words, and the true neighbours of each at one size."""

    vectors: dict[str, list[float]]
    true: list[list[str]]
    true_public: list[list[str]]


def main() -> None:
    """Measure the stores and sizes that are asked for; print the table, and keep it for the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER, help="documents in Markdown, any number")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="thousands of chunks, ascending")
    parser.add_argument("--stores", nargs="+", choices=PLACES, default=list(PLACES))
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "waypoint-scale")
    given = parser.parse_args()
    configure_logs("error")
    model = Services(load_settings(_env_file=None, llm_provider="offline")).embedder
    chunks = _chunks(model, given.folder, given.work)
    asked = {size: _questions(model, chunks, size) for size in given.sizes}
    turns = Turns(given.work)
    for name in given.stores:
        with PLACES[name](emptied(given.work / name)) as place:
            for row in _grown(place, chunks, asked, turns):
                _keep(name, row)
        emptied(given.work / name)
    for column, title in PICTURES.items():
        lines = growth_of(column)
        (ROOT / "docs" / "pictures" / f"scale_{column}.svg").write_text(
            growth_plot(lines, title=title), encoding="utf-8"
        )
    print(scale_table())


def _keep(store: str, row: dict[str, float]) -> None:
    known = (read_figures().get("scale") or {}).get("values") or {}
    write_figures("scale", {**known, f"{store}: {row['chunks']}": row})


def _chunks(model: Embeddings, folder: Path, work: Path) -> ScaledChunks:
    """Return the chunks; the model embeds the real ones once for a work folder."""
    texts, kept = windows(folder, REAL), work / "vectors.npy"
    work.mkdir(parents=True, exist_ok=True)
    if not kept.is_file() or len(np.load(kept, mmap_mode="r")) != len(texts):
        print(f"Embedding {len(texts):,} texts ...", file=sys.stderr)
        np.save(kept, np.asarray(model.embed_documents(texts), dtype=np.float32))
    return ScaledChunks(model, texts, np.load(kept))


def _questions(model: Embeddings, chunks: ScaledChunks, size: int) -> Questions:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    texts = [row["question"] for row in rows if row["kind"] == "answerable"][:MOST_QUESTIONS]
    vectors = np.asarray(model.embed_documents(texts), dtype=np.float32)
    true, public = (true_neighbours(chunks, size, vectors, public=public) for public in (False, True))
    return Questions(dict(zip(texts, vectors.tolist(), strict=True)), true, public)


def _grown(place: Place, chunks: ScaledChunks, asked: dict[int, Questions], turns: Turns) -> Iterator[dict[str, float]]:
    """Yield what is measured at each size of one store, which is filled anew each time."""
    for size, questions in sorted(asked.items()):
        print(f"{size:,} chunks: {place.settings}", file=sys.stderr)
        settings = load_settings(_env_file=None, llm_provider="offline", **place.settings)
        index = Services(settings, parts=Parts(embeddings=chunks)).stored
        seconds = _filled(index, chunks, range(0, size, BATCH), turns)
        with turns.measuring():
            measured = _asked_elsewhere(place, questions)
            yield {
                "chunks": size,
                "chunks_per_s": size / seconds,
                "deletion_s": _replaced_document(index, chunks, size - CHUNKS_A_DOCUMENT),
                "server_mb": place.server_mb(),
                "disk_mb": place.disk_mb(),
                **measured,
            }


def _filled(index: StoredIndex, chunks: ScaledChunks, starts: range, turns: Turns) -> float:
    """Fill the index anew, a batch from each start; return the seconds that it took."""
    seconds = 0.0

    @contextmanager
    def timed() -> Iterator[None]:
        nonlocal seconds
        with turns.filling():
            started = time.perf_counter()
            yield
            seconds += time.perf_counter() - started

    with index.locked(), progress_bar("Filling") as progress:
        with timed():
            change = index.change(reset=True)
            store = cast("VectorStore", change.writable().store)
        for start in starts:
            with timed():
                documents = chunks.documents(start, starts.step)
                store.add_documents(documents, ids=[str(document.id) for document in documents])
            progress(start + starts.step, starts.stop, "chunks")
        with timed():
            change.publish()
    return seconds


def _replaced_document(index: StoredIndex, chunks: ScaledChunks, start: int) -> float:
    """Delete a document in a change of its own, and return the seconds; then put it back."""
    documents = chunks.documents(start, CHUNKS_A_DOCUMENT)
    ids = [str(document.id) for document in documents]
    started = time.perf_counter()
    with index.locked():
        change = index.change(reset=False)
        cast("VectorStore", change.writable().store).delete(ids)
        change.publish()
    seconds = time.perf_counter() - started
    with index.locked():
        change = index.change(reset=False)
        cast("VectorStore", change.writable().store).add_documents(documents, ids=ids)
        change.publish()
    return seconds


def _asked_elsewhere(place: Place, questions: Questions) -> dict[str, float]:
    given = json.dumps({"settings": place.settings, **asdict(questions)})
    command = [sys.executable, "-m", "benchmarks.scale.questions"]
    done = subprocess.run(command, cwd=ROOT, input=given, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
