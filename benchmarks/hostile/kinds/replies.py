"""Replies of a language model that no client expects: cut, endless, unreadable, huge, with a status of any kind."""

from pathlib import Path

from benchmarks.hostile.tried import Tried
from tests.service.fault_table import run

EXPECTED = ("answered", "degraded", "unsure", "no_results", "declined", "ungrounded")


def attack(folder: Path) -> list[Tried]:
    """Ask a provider with each fault, for a whole answer and for a stream, with a fallback and without."""
    tried = Tried("replies of a provider", "an answer, or an error other than 500")
    for row in run(folder):
        for name, result in (("with a fallback", row.fallback), ("without one", row.alone)):
            held = result.told.startswith(EXPECTED) or (result.told.isdigit() and result.told != "500")
            tried.add(f"{row.fault}, {row.way}, {name}: {result.told}", held=held)
    return [tried]
