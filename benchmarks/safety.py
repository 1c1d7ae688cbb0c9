"""Measure the safety checks: `python -m benchmarks.safety SHARED`, where SHARED holds `eval` and `kb`.

Attacks and personal data on labelled texts; false alarms and chance numbers on clean documents; the time of all checks.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.wiring import sample_corpus
from app.wiring.safety import THRESHOLDS
from benchmarks.figures import write_figures
from chains.safety import sanitize
from chains.safety.injection import Scanner
from chains.safety.links import KnownLinks
from chains.safety.markup import MarkupFilter
from chains.safety.pii import find_entities, redact
from evals.safety import measure_injection, measure_pii, read_labelled, summary

CHARACTERS = 4000
QUESTION = (
    "How do I ship a container of lithium batteries from Singapore to Jakarta, which permits do I need before the "
    "cut-off on Friday, and who prepares the documents? Please list each with its deadline."
)
CONTEXT_CHARACTERS = 8000
ROUNDS = 31


def main(shared: Path) -> None:
    """Measure, print, and keep the figures."""
    scanner = Scanner()
    labelled = shared / "eval" / "injection" / "valid.json", shared / "eval" / "pii" / "generated_large.json"
    found: dict[str, Any] = {
        "injection": measure_injection(
            read_labelled(labelled[0], "prompt", "label"), scanner.question, THRESHOLDS.guard
        ),
        "pii": measure_pii(read_labelled(labelled[1], "full_text", "spans"), find_entities),
    }
    print(summary(found))
    corpora = {
        "kb/waypoint": shared / "kb" / "waypoint",
        "eval/mtrag/corpus": shared / "eval" / "mtrag" / "corpus",
        "eval/clapnq/corpus": shared / "eval" / "clapnq" / "corpus",
        "sample corpus": sample_corpus(),
    }
    found["clean"] = {name: clean(folder, scanner) for name, folder in corpora.items()}
    found["ms"] = times(scanner)
    print(found["clean"], found["ms"], sep="\n")
    write_figures("safety", found)


def clean(folder: Path, scanner: Scanner) -> dict[str, Any]:
    """Return how many stretches of clean documents raise an alarm, and what personal data is found in them."""
    stretches = [part for file in sorted(folder.rglob("*.md")) for part in parts(file.read_text(encoding="utf-8"))]
    kinds = Counter(entity.kind for part in stretches for entity in find_entities(part))
    alarms = sum(scanner.is_suspicious(part) for part in stretches)
    return {"documents": len(stretches), "alarms": alarms, "entities": dict(sorted(kinds.items()))}


def parts(text: str) -> Iterator[str]:
    """Yield a text in stretches of so many characters; a short rest goes with the one before."""
    for start in range(0, max(1, len(text) - CHARACTERS // 2), CHARACTERS):
        yield text[start : start + CHARACTERS]


def times(scanner: Scanner) -> dict[str, float]:
    """Return the milliseconds of all checks of a question, of the passages, and of an answer; medians."""
    file = max(sample_corpus().rglob("*.md"), key=lambda path: path.stat().st_size)
    context = (file.read_text(encoding="utf-8") * 3)[:CONTEXT_CHARACTERS]
    chunks = [context[start : start + 800] for start in range(0, CONTEXT_CHARACTERS, 800)]

    def ask() -> None:
        scanner.question(redact(sanitize(QUESTION)).text)

    def answer() -> None:
        markup = MarkupFilter(KnownLinks([]).allow)
        for start in range(0, 2000, 40):
            markup.feed(context[start : start + 40])
        markup.flush()

    return {
        f"question of {len(QUESTION)} characters": median_ms(ask),
        f"passages of {CONTEXT_CHARACTERS} characters": median_ms(
            lambda: [scanner.is_suspicious(one) for one in chunks]
        ),
        "answer of 2000 characters, in pieces": median_ms(answer),
    }


def median_ms(action: Callable[[], object]) -> float:
    """Return the median time of the action."""
    laps = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        action()
        laps.append(1000 * (time.perf_counter() - started))
    return round(sorted(laps)[ROUNDS // 2], 2)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
