"""What `make scale` measured, as a table and as pictures of its growth."""

from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.figures import read_figures
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
    kept = read_figures()["scale"]
    rows = kept["values"]
    lines = [table(HEAD, [_cells(name, row) for name, row in rows.items()]), ""]
    for store in dict.fromkeys(name.rpartition(": ")[0] for name in rows):
        few, *_, many = sorted(_of(store, rows), key=lambda row: row["chunks"])
        growth = many["p95_ms"] / few["p95_ms"]
        lines.append(f"{store}: p95 grew {growth:.1f} times from {few['chunks']:,} to {many['chunks']:,} chunks.  ")
    return "\n".join([*lines, "", f"Measured on {kept['date']} by `{kept['command']}`."])


def _of(store: str, rows: Mapping[str, dict[str, Any]]) -> Iterable[dict[str, Any]]:
    return (row for name, row in rows.items() if name.rpartition(": ")[0] == store)


def _cells(name: str, row: Mapping[str, Any]) -> list[str]:
    return [
        name.rpartition(": ")[0],
        f"{row['chunks']:,}",
        f"{row['p50_ms']:.1f} / {row['p95_ms']:.1f}",
        f"{row['public_p95_ms']:.1f}",
        f"{row['recall']:.3f}",
        f"{row['public_recall']:.3f}",
        f"{row['process_mb']:.0f} + {row['server_mb']:.0f}",
        f"{row['disk_mb']:.0f}",
        f"{row['chunks_per_s']:.0f}",
        f"{row['deletion_s']:.2f}",
    ]
