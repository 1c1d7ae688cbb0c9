"""Measure the safety checks: `python -m benchmarks.safety SHARED`, where SHARED holds `eval` and `kb`.

Attacks and personal data on labelled texts; false alarms and chance numbers on clean documents.
What the checks cost is measured by `benchmarks.safety_cost`.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.wings.safety.injection import Scanner
from app.wings.safety.pii import find_entities
from app.wiring import sample_corpus
from app.wiring.safety import THRESHOLDS
from benchmarks.figures import write_figures
from evals.safety import measure_injection, measure_pii, read_labelled, summary

CHARACTERS = 4000


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
        "eval/chunk_spans": shared / "eval" / "chunk_spans",
        "sample corpus": sample_corpus(),
    }
    found["clean"] = {name: clean(folder, scanner) for name, folder in corpora.items()}
    print(found["clean"])
    write_figures("safety", found)


def clean(folder: Path, scanner: Scanner) -> dict[str, Any]:
    """Return how many stretches of clean documents raise an alarm, and what personal data is found in them."""
    stretches = parts_of(folder)
    kinds = Counter(entity.kind for part in stretches for entity in find_entities(part))
    alarms = sum(scanner.is_suspicious(part) for part in stretches)
    return {"documents": len(stretches), "alarms": alarms, "entities": dict(sorted(kinds.items()))}


def parts_of(folder: Path) -> list[str]:
    """Return the documents of a folder, in stretches."""
    return [part for file in sorted(folder.rglob("*.md")) for part in parts(file.read_text(encoding="utf-8"))]


def parts(text: str) -> Iterator[str]:
    """Yield a text in stretches of so many characters; a short rest goes with the one before."""
    for start in range(0, max(1, len(text) - CHARACTERS // 2), CHARACTERS):
        yield text[start : start + CHARACTERS]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
