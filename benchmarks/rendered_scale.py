"""What `make scale` and `make load WORKERS=n` measured, as tables."""

from collections.abc import Mapping
from typing import Any

from benchmarks.figures import read_figures, told
from benchmarks.tables import table

HEAD = (
    "store",
    "chunks",
    "p50 / p95, ms",
    "p95, public, ms",
    "recall@10",
    "recall@10, public",
    "process + server, MB",
    "disk, MB",
    "chunks/s in",
    "document out, s",
)


def scale_table() -> str:
    """Return a row for each store and size, then how p95 grew from the smallest to the largest size."""
    rows = read_figures()["scale"]["values"]
    lines = [table(HEAD, [_cells(name, row) for name, row in rows.items()]), ""]
    for store in dict.fromkeys(map(_store, rows)):
        sizes = sorted((row for name, row in rows.items() if _store(name) == store), key=lambda row: row["chunks"])
        few, many = sizes[0], sizes[-1]
        growth = f"{many['p95_ms'] / few['p95_ms']:.1f} times as long"
        lines.append(f"- {store}: p95 is {growth} with {many['chunks']:,} chunks as with {few['chunks']:,}.")
    return "\n".join([*lines, "", told("scale")])


def workers_table() -> str:
    """Return a row for each store and number of workers."""
    return "\n".join([*read_figures()["load_workers"]["values"]["table"], "", told("load_workers")])


def growth_of(column: str) -> dict[str, list[tuple[float, float]]]:
    """Return the (chunks, value) points of one column for each store."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, row in read_figures()["scale"]["values"].items():
        lines.setdefault(_store(name), []).append((row["chunks"], row[column]))
    return lines


def _store(name: str) -> str:
    return name.rpartition(": ")[0]


def _cells(name: str, row: Mapping[str, Any]) -> list[str]:
    return [
        _store(name),
        f"{row['chunks']:,}",
        f"{row['p50_ms']:.1f} / {row['p95_ms']:.1f}",
        f"{row['public_p95_ms']:.1f}",
        f"{row['recall']:.3f}",
        f"{row['public_recall']:.3f}",
        f"{row['process_mb']:.0f} + {row['server_mb']:.0f}",
        f"{row['disk_mb']:.0f}",
        f"{row['chunks_per_s']:.0f}" if row["chunks_per_s"] else "-",
        f"{row['deletion_s']:.2f}",
    ]
