"""Fit the injection classifier to this project's own texts and keep it: `python -m benchmarks.fits.injection`."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from app.wings.safety.injection import classifier
from app.wings.safety.injection.classifier import Classifier, features, stretches
from app.wings.safety.injection.folding import fold
from benchmarks.fits.injection_texts import Labelled, prose, templated
from evals.logistic import Numbers, logistic

FILE: Final = Path(classifier.__file__).with_name("classifier.json")
PARAGRAPHS: Final = 1500  # Of our own documents.
# In how many families a feature has to stand: what one family says alone tells its templates, not attacks.
LEAST_FAMILIES: Final = 4
STRENGTH: Final = 3.0
# The share of attacks that the probabilities are meant for. It sets how many harmless texts pass at 0.5.
ATTACKS: Final = 0.22


def main() -> None:
    """Fit the classifier to all texts and keep it."""
    FILE.write_text(fit(templated() + prose(most=PARAGRAPHS)).text(), encoding="utf-8")


def fit(texts: Sequence[Labelled]) -> Classifier:
    """Return the classifier of the texts: a logistic regression whose weights are held to zero."""
    rows = [(features(stretch), text) for text in texts for stretch in stretches(fold(text.text))]
    names = _names(rows)
    design = _design([found for found, _ in rows], names)
    is_attack = np.array([text.is_attack for _, text in rows], dtype=np.float64)
    held = np.full(design.shape[1], STRENGTH)
    held[0] = 0.01  # The intercept is free.
    found = logistic(design, is_attack, _weights(is_attack), np.zeros(design.shape[1]), held)
    attacks = sum(text.is_attack for text in texts)
    told = f"{attacks} attacks and {len(texts) - attacks} harmless texts, all of this project"
    return Classifier(float(found[0]), dict(zip(names, found[1:].tolist(), strict=True)), told)


def _names(rows: Sequence[tuple[set[str], Labelled]]) -> list[str]:
    families: dict[str, set[tuple[bool, str]]] = defaultdict(set)
    for found, text in rows:
        for name in found:
            families[name].add((text.is_attack, text.family))
    return sorted(name for name, seen in families.items() if len(seen) >= LEAST_FAMILIES)


def _design(rows: Sequence[set[str]], names: Sequence[str]) -> Numbers:
    """Return 1 for each feature that a row has; the first column is that of the intercept."""
    columns = {name: column for column, name in enumerate(names, start=1)}
    design = np.zeros((len(rows), len(names) + 1))
    design[:, 0] = 1
    for row, found in enumerate(rows):
        design[row, [columns[name] for name in found if name in columns]] = 1
    return design


def _weights(is_attack: Numbers) -> Numbers:
    share = float(is_attack.mean())
    return np.where(is_attack == 1, ATTACKS / share, (1 - ATTACKS) / (1 - share))


if __name__ == "__main__":
    main()
