"""Check the scope gate: leave out each example of a scope file in turn and classify it by the others.

Run it as `python -m benchmarks.scope [FILE]`.

The table shows, for several thresholds, how many in-scope examples would be declined (they never should be), how many
of those to decline would be recognised, and how many of these would be sent to their own team. Below it stand the
in-scope examples that the file's own threshold would decline: each asks for more examples like it.
"""

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import open_index, sample_corpus
from benchmarks.tables import table
from chains.scope import SCOPE_FILE, ScopeGate, load_scope, ridge

THRESHOLDS = (0.30, 0.36, 0.42, 0.48, 0.54)
HEAD = ("threshold", "in scope, declined", "to decline, recognised", "of these to the right team")


def main() -> None:
    configure_logs("warning")
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else sample_corpus() / SCOPE_FILE
    scope = load_scope(path)
    rows = leave_one_out(ScopeGate(scope, open_index(load_settings()).embeddings))
    print(table(HEAD, [counts(rows, threshold) for threshold in sorted({*THRESHOLDS, scope.threshold})]))
    for row in rows:
        if row.intent is None and row.is_declined(scope.threshold):
            told = f"{row.text!r} (score {row.score:.2f}, {row.predicted})"
            print(f"declined at {scope.threshold}, though in scope: {told}")


class HeldOut(NamedTuple):
    """An example, its intent (None is in scope), and what a classifier of the other examples makes of it."""

    text: str
    intent: str | None
    score: float
    predicted: str | None  # None where the nearest of the others is in scope: then it is not declined.

    def is_declined(self, threshold: float) -> bool:
        return self.predicted is not None and self.score > threshold


def leave_one_out(gate: ScopeGate) -> list[HeldOut]:
    """Return what the others make of each example, in the order of the file."""
    classifier, targets = gate.fitted(), gate.targets()
    similarities = classifier.vectors @ classifier.vectors.T
    inverse = np.linalg.inv(ridge(similarities, classifier.declines))
    scores = targets - (inverse @ targets) / np.diag(inverse)[:, None]  # Exact for ridge regression.
    np.fill_diagonal(similarities, -1.0)
    nearest = classifier.declines[similarities.argmax(axis=1)]
    names = list(gate.scope.intents)
    predicted = [names[int(row[1:].argmax())] if near else None for row, near in zip(scores, nearest, strict=True)]
    return [
        HeldOut(text, names[place] if place is not None else None, float(row[0]), name)
        for (text, place), row, name in zip(gate.examples(), scores, predicted, strict=True)
    ]


def counts(rows: list[HeldOut], threshold: float) -> list[str]:
    """Return the row of a threshold."""
    known = [row.is_declined(threshold) for row in rows if row.intent is None]
    others = [row for row in rows if row.intent is not None]
    caught = [row for row in others if row.is_declined(threshold)]
    right = sum(row.predicted == row.intent for row in caught)
    pairs = ((sum(known), len(known)), (len(caught), len(others)), (right, len(caught)))
    return [f"{threshold:.2f}", *(f"{part} of {whole}" for part, whole in pairs)]


if __name__ == "__main__":
    main()
