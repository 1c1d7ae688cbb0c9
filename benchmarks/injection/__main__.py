"""Measure the injection classifier: `python -m benchmarks.injection SHARED [--write]`, where SHARED holds `eval`.

The phrases alone, the classifier alone, and both together: on our own texts, each by a classifier that was fitted
without the family of the text, and again without its language; and on the half of a public set that no threshold was
chosen on. `--write` keeps a classifier fitted on all our texts as the packaged one, before it measures.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from app.wiring.safety import THRESHOLDS
from benchmarks.figures import write_figures
from benchmarks.injection.fitting import fit, left_out
from benchmarks.injection.texts import Labelled, prose, templated
from chains.safety.injection import Scanner
from chains.safety.injection.classifier import Classifier, packaged_classifier
from evals.safety import Row, measure_injection, read_labelled

FILE = Path(__file__).parents[2] / "chains" / "safety" / "injection" / "classifier.json"
PROSE = 1500
SEED = 0


def main() -> None:
    """Measure, print, and keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.injection")
    parser.add_argument("shared", type=Path)
    parser.add_argument("--write", action="store_true", help="keep the classifier fitted on all our texts")
    options = parser.parse_args()
    texts = templated() + prose(most=PROSE)
    if options.write:
        FILE.write_text(fit(texts).text(), encoding="utf-8")
    rows = read_labelled(options.shared / "eval" / "injection" / "valid.json", "prompt", "label")
    found = {
        "texts": {"attacks": sum(text.is_attack for text in texts), "all": len(texts)},
        "family": unseen(texts, lambda text: f"{text.is_attack} {text.family}"),
        "language": unseen(texts, lambda text: text.language, measured=lambda text: text.language != "en"),
        "public": by_scanner(other_half(rows), scanners(packaged_classifier())),
    }
    print(found)
    write_figures("injection", found)


def scanners(classifier: Classifier) -> dict[str, Scanner]:
    """Return the phrases alone, the classifier alone, and both."""
    return {
        "phrases": Scanner(classifier=None),
        "classifier": Scanner((), classifier),
        "both": Scanner(classifier=classifier),
    }


def by_scanner(rows: Sequence[Row], found: dict[str, Scanner]) -> dict[str, Any]:
    """Return what each of the scanners finds in the rows."""
    return {name: measure_injection(rows, scanner.question, THRESHOLDS.guard) for name, scanner in found.items()}


def unseen(
    texts: Sequence[Labelled],
    group: Callable[[Labelled], str],
    measured: Callable[[Labelled], bool] = lambda text: True,
) -> dict[str, Any]:
    """Return what is found in the texts that are measured, each by a classifier fitted without its group."""
    risks: dict[str, dict[str, float]] = {}
    for classifier, held in left_out(texts, [group(text) for text in texts]):
        for name, scanner in scanners(classifier).items():
            risks.setdefault(name, {}).update({text.text: scanner.question(text.text) for text in held})
    rows = [{"prompt": text.text, "label": text.is_attack} for text in texts if measured(text)]
    return {name: measure_injection(rows, found.__getitem__, THRESHOLDS.guard) for name, found in risks.items()}


def other_half(rows: Sequence[Row]) -> list[Row]:
    """Return the half of the rows that the share of attacks in `fitting` was not chosen on."""
    shuffled = list(rows)
    random.Random(SEED).shuffle(shuffled)  # noqa: S311 Not for secrets.
    return shuffled[len(shuffled) // 2 :]


if __name__ == "__main__":
    main()
