"""Try everything hostile, print what held and what did not, and keep the table of docs/measurements.md."""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from app.observability.logs import configure_logs
from benchmarks.figures import report
from benchmarks.hostile import commands, fuzz, requests
from benchmarks.hostile.trying import Tried
from benchmarks.tables import table

# A kind may write into the empty folder, and returns a row of the table for each thing that it tried.
KINDS: dict[str, Callable[[Path], list[Tried]]] = {
    "commands": commands.attack,
    "fuzz": fuzz.attack,
    "requests": requests.attack,
    "settings": commands.attack_settings,
}


def main() -> None:
    """Try the kinds that are asked for, by default all; exit with 1 where something did not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; by default all")
    chosen = parser.parse_args().kinds
    if unknown := sorted(set(chosen) - set(KINDS)):
        parser.error(f"there is no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    configure_logs("critical")
    tried = [each for kind in chosen or KINDS for each in _tried(kind)]
    print(json.dumps({each.kind: each.failed for each in tried if each.failed}, indent=2))
    if not chosen:
        report("hostile", table(("tried", "cases", "held", "held means"), [each.row() for each in tried]))
    sys.exit(any(each.failed for each in tried))


def _tried(kind: str) -> list[Tried]:
    """Try one kind in a folder of its own, and print what held."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        found = KINDS[kind](Path(folder))
    for each in found:
        print(f"{each.kind}: {each.count - len(each.failed)} of {each.count} held", flush=True)
    print(f"  {kind}: {time.perf_counter() - started:.0f} s", flush=True)
    return found


if __name__ == "__main__":
    main()
