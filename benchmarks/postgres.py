"""Compare PostgreSQL with Chroma and SQLite on the same questions and vectors: `python -m benchmarks.postgres`.

Each corpus is indexed in a Chroma folder and copied to PostgreSQL with `waypoint copy`, so that only the stores differ.
The server is the one of the tests. The larger sets are looked for in FOLDER, by default `shared` beside the checkout.
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Services
from app.wiring.copying import copy_index
from benchmarks.corpora import SHARED, QuestionSet, cases_of, question_sets
from benchmarks.figures import write_figures
from evals.compare import compare
from evals.questions import Case
from evals.rows import Row, ask_all
from tests.postgres import server

SETS = ("sample", "freight", "spans_wikitexts", "spans_state_of_the_union")
FIGURES = ("document hit@1", "document hit@3", "document hit@10", "evidence chunk hit@5", "evidence chunk hit@10")


def main() -> None:
    """Print a line for each set and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=SHARED)
    sets = [one for one in question_sets(parser.parse_args().folder) if one.name in SETS]
    configure_logs("error")
    with server() as running, running.database() as url, tempfile.TemporaryDirectory() as folder:
        values = {one.name: measure(one, Path(folder) / one.name, url) for one in sets}
    write_figures("postgres", values)


def measure(one: QuestionSet, folder: Path, url: str) -> dict[str, Any]:
    """Return the figures of a set in both stores."""
    options: dict[str, Any] = {"llm_provider": "offline", "chroma_path": folder, "collection_name": one.name}
    chroma = load_settings(**options)
    postgres = load_settings(**options, vector_store_type="postgres", database_url=url)
    Services(chroma).ingest([one.documents])
    chunks = copy_index(chroma, postgres, replace=False, progress=lambda *_: None)
    cases = cases_of(one)
    before, after = rows_of(Services(chroma), cases), rows_of(Services(postgres), cases)
    found = {"chunks": chunks, "questions": len(cases), **compared(cases, before, after)}
    print(one.name, found, flush=True)
    return found


def rows_of(services: Services, cases: Sequence[Case]) -> list[Row]:
    """Return the row of each question; the first one is asked twice, so that nothing is loaded in its time."""
    services.chain.invoke({"question": cases[0].question})
    return list(ask_all(services.chain, cases))


def compared(cases: Sequence[Case], before: Sequence[Row], after: Sequence[Row]) -> dict[str, Any]:
    """Return both values of each figure, the share of equal rankings, and the times of a retrieval."""
    changes = {change.name: (change.before, change.after) for change in compare(cases, before, after).changes}
    same = [_ids(old) == _ids(new) for old, new in zip(before, after, strict=True)]
    return {
        "figures": {name: changes[name] for name in FIGURES if changes.get(name, (None,))[0] is not None},
        "equal_rankings": sum(same) / len(same),
        "retrieval_ms": [_times(before), _times(after)],
    }


def _ids(row: Row) -> list[str | None]:
    return [one["chunk_id"] for one in row["retrieved"]]


def _times(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the median and the 95th percentile, in milliseconds."""
    cuts = quantiles([row["timings_ms"].get("retrieval", 0.0) for row in rows], n=20)
    return round(cuts[9], 1), round(cuts[18], 1)


if __name__ == "__main__":
    main()
