"""Measure the injection classifier: `python -m benchmarks.injection SHARED [--write]`, where SHARED holds `eval`.

The phrases alone, the classifier alone, and both together: on our own texts, each by a classifier that was fitted
without the family of the text, and again without its language; on documents of ours with an order between two
paragraphs; and on the half of a public set that no threshold was chosen on. `--write` keeps a classifier fitted on all
our texts as the packaged one, before it measures.
"""

import argparse
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from app.wings.safety.injection import DOCUMENT_THRESHOLD, Scanner
from app.wings.safety.injection.classifier import Classifier, packaged_classifier
from app.wings.safety.injection.folding import views
from app.wiring.safety import THRESHOLDS
from benchmarks.figures import write_figures
from benchmarks.injection.fitting import fit, left_out
from benchmarks.injection.texts import PROSE_OF, Labelled, prose, templated
from benchmarks.safety import parts_of
from evals.safety import Row, measure_injection, read_labelled

FILE = Path(__file__).parents[2] / "chains" / "safety" / "injection" / "classifier.json"
PROSE = 1500
CLEAN = ("kb/waypoint", "eval/mtrag/corpus", "eval/clapnq/corpus", "eval/chunk_spans")
CERTAIN = (0.7, 0.8, 0.9, 0.95)
# Families of attacks that come in documents.
IN_DOCUMENTS = {"note in a document", "orders in mails", "exfiltration", "tool hijack", "forced reply", "system tags"}
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
        **unseen_families(texts),
        "language": unseen_languages(texts),
        "clean": clean_alarms(options.shared),
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


def unseen_families(texts: Sequence[Labelled]) -> dict[str, Any]:
    """Return what is found in all texts, and in documents with an order, by classifiers fitted without the family."""
    questions, documents = Risks(), Risks()
    paragraphs = [text.text for text in texts if text.family.startswith(PROSE_OF)]
    for classifier, held in left_out(texts, [f"{text.is_attack} {text.family}" for text in texts]):
        for name, scanner in scanners(classifier).items():
            questions.add(name, held, scanner.question)
        held_documents = within(paragraphs, held)
        documents.add("phrases", held_documents, Scanner(classifier=None).document)
        documents.add("classifier", held_documents, partial(risk_by, classifier))
    return {"family": questions.measured(THRESHOLDS.guard), "document": documents.measured(DOCUMENT_THRESHOLD)}


def risk_by(classifier: Classifier, text: str) -> float:
    """Return what the classifier alone says of a text."""
    return classifier.risk(views(text))


def clean_alarms(shared: Path) -> dict[str, Any]:
    """Return how many stretches of clean documents the classifier alone would take for an attack, by threshold."""
    stretches = [part for name in CLEAN for part in parts_of(shared / name)]
    risks = [risk_by(packaged_classifier(), stretch) for stretch in stretches]
    curve = [{"threshold": at, "alarms": sum(risk >= at for risk in risks)} for at in CERTAIN]
    return {"documents": len(stretches), "curve": curve}


def unseen_languages(texts: Sequence[Labelled]) -> dict[str, Any]:
    """Return what is found in texts that are not English, by classifiers fitted without the language."""
    risks = Risks()
    for classifier, held in left_out(texts, [text.language for text in texts]):
        foreign = [text for text in held if text.language != "en"]
        for name, scanner in scanners(classifier).items():
            risks.add(name, foreign, scanner.question)
    return risks.measured(THRESHOLDS.guard)


def within(paragraphs: Sequence[str], texts: Sequence[Labelled]) -> list[Labelled]:
    """Return documents of two paragraphs: those with orders to a model between them, and as many without."""
    orders = [text for text in texts if text.is_attack and text.family in IN_DOCUMENTS]
    rng = random.Random(SEED)  # noqa: S311 Not for secrets.
    pairs = [rng.sample(paragraphs, 2) for _ in range(2 * len(orders))]
    poisoned = [
        replace(text, text="\n\n".join((first, text.text, last)))
        for text, (first, last) in zip(orders, pairs, strict=False)
    ]
    return poisoned + [Labelled("\n\n".join(pair), is_attack=False, family="clean") for pair in pairs[len(orders) :]]


class Risks:
    """What scanners say of texts, by the scanner's name."""

    def __init__(self) -> None:
        self._rows: dict[str, list[tuple[Labelled, float]]] = {}

    def add(self, name: str, texts: Iterable[Labelled], risk: Callable[[str], float]) -> None:
        """Take the risk of each text."""
        self._rows.setdefault(name, []).extend((text, risk(text.text)) for text in texts)

    def measured(self, threshold: float) -> dict[str, Any]:
        """Return the shares of harmless texts that pass and of attacks that are caught, by scanner."""
        return {name: _measured(found, threshold) for name, found in self._rows.items()}


def _measured(found: Sequence[tuple[Labelled, float]], threshold: float) -> dict[str, Any]:
    rows = [{"prompt": str(place), "label": text.is_attack} for place, (text, _) in enumerate(found)]
    return measure_injection(rows, lambda place: found[int(place)][1], threshold)


def other_half(rows: Sequence[Row]) -> list[Row]:
    """Return the half of the rows that the share of attacks in `fitting` was not chosen on."""
    shuffled = list(rows)
    random.Random(SEED).shuffle(shuffled)  # noqa: S311 Not for secrets.
    return shuffled[len(shuffled) // 2 :]


if __name__ == "__main__":
    main()
