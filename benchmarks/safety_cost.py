"""Measure what the local checks cost: `python -m benchmarks.safety_cost`.

The time of all checks of a question of 200 characters and of 8,000 characters of passages, the memory that they hold
in a fresh process, and `waypoint ask` in a fresh process with SAFETY_ENABLED on and off, in turns. Where other programs
run at the same time, the shortest of many repeats is nearest to what the checks take; the median stands beside it.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from app.wings.safety.injection import Scanner
from app.wings.safety.pii import redact
from app.wiring import sample_corpus
from benchmarks.figures import write_figures
from chains.safety import sanitize

ROOT = Path(__file__).parents[1]
QUESTION = (
    "How do I ship a container of lithium batteries from Singapore to Jakarta, which permits do I need before the "
    "cut-off on Friday, and who prepares the documents? Please list each with its deadline for us."
)
CONTEXT_CHARACTERS, CHUNK_CHARACTERS = 8000, 800
ROUNDS, ASKED = 301, 7
# Everything that the checks import counts, but not LangChain, which every question needs.
MEMORY = """
import sys
import langchain_core.messages, langchain_core.runnables
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20
before = resident()
from chains.safety import sanitize
from app.wings.safety.injection import Scanner
from app.wings.safety.pii import redact
Scanner().question(redact(sanitize(sys.argv[1])).text)
Scanner().is_suspicious(sys.argv[1] * 40)
print(resident() - before)
"""


def main() -> None:
    """Measure, print, and keep the figures."""
    scanner, chunks = Scanner(), passages()
    found = {
        "question": laps(lambda: check_question(scanner)),
        "passages": laps(lambda: check_passages(scanner, chunks)),
        "memory_mb": round(float(_python(MEMORY, QUESTION)), 1),
        "ask": asked(),
    }
    print(json.dumps(found, indent=2))
    write_figures("safety_cost", found)


def check_question(scanner: Scanner) -> float:
    """Run all local checks of a question."""
    return scanner.question(redact(sanitize(QUESTION)).text)


def check_passages(scanner: Scanner, chunks: Sequence[str]) -> int:
    """Run the check of retrieved passages, as if none had been seen before."""
    return sum(scanner.is_suspicious(chunk) for chunk in chunks)


def passages() -> list[str]:
    """Return 8,000 characters of the sample corpus, in chunks."""
    texts = (file.read_text(encoding="utf-8") for file in sorted(sample_corpus().rglob("*.md")))
    context = "\n".join(texts)[:CONTEXT_CHARACTERS]
    return [context[start : start + CHUNK_CHARACTERS] for start in range(0, CONTEXT_CHARACTERS, CHUNK_CHARACTERS)]


def laps(action: Callable[[], object]) -> dict[str, float]:
    """Return the shortest and the median time of an action, in milliseconds."""
    action()
    return summary([_timed(action) * 1000 for _ in range(ROUNDS)])


def asked() -> dict[str, Any]:
    """Return the seconds of `waypoint ask` in a fresh process, with and without the checks."""
    found: dict[str, list[float]] = {"on": [], "off": []}
    with tempfile.TemporaryDirectory() as folder:
        _ask(folder, "on")  # Builds the index, which is kept.
        for _ in range(ASKED):
            for state, taken in found.items():
                taken.append(_timed(partial(_ask, folder, state)))
    return {state: summary(taken) for state, taken in found.items()}


def summary(values: Sequence[float]) -> dict[str, float]:
    """Return the smallest value and the median."""
    return {"least": round(min(values), 3), "median": round(statistics.median(values), 3)}


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _ask(folder: str, state: str) -> None:
    _python("from app.cli import main; main()", "ask", QUESTION, folder=folder, SAFETY_ENABLED=state)


def _python(code: str, *words: str, folder: str | Path = ROOT, **settings: str) -> str:
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(Path.home()), "PATH": os.defpath, **settings}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
