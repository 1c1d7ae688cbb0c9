"""Fit the injection classifier to this project's own texts and keep it: `python -m benchmarks.fits.injection`.

All templates are written for this project: none is taken from a set that the classifier may be measured on. The prose
is that of the sample corpus and of the documentation, without the pages about attacks.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from app.wings.safety.injection import classifier
from app.wings.safety.injection.classifier import Classifier, features, stretches
from app.wings.safety.injection.folding import fold
from evals.logistic import Numbers, logistic

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
COPIES = 4
PROSE_OF = "prose of "
ABOUT_ATTACKS = {"safety", "security", "decisions"}
LEAST_PROSE = 80
_SLOT = re.compile(r"\{([A-Za-z]\w*)\}")
_LANGUAGE = re.compile(r"([a-z]{2})\| ")


@dataclass(frozen=True)
class Labelled:
    """A text, whether it is an attack, the family of its template, and its language."""

    text: str
    is_attack: bool
    family: str
    language: str = "en"


def templated(*, copies: int = COPIES, seed: int = 0) -> list[Labelled]:
    """Return the texts of all templates, each filled so many times; equal ones once."""
    rng = random.Random(seed)  # noqa: S311 Not for secrets.
    slots = _slots()
    found = [
        Labelled(_filled(template, slots, rng), is_attack, family, language)
        for name, is_attack in (("attacks", True), ("harmless", False))
        for family, language, template in _templates(FOLDER / f"{name}.txt")
        for _ in range(copies)
    ]
    return list(dict.fromkeys(found))


def prose(*, most: int, seed: int = 0) -> list[Labelled]:
    """Return at most so many paragraphs of our own documents, by their folder."""
    paragraphs = [
        Labelled(paragraph, is_attack=False, family=f"{PROSE_OF}{file.parent.relative_to(ROOT)}")
        for folder in ("knowledge_base", "docs")
        for file in sorted((ROOT / folder).rglob("*.md"))
        if file.stem not in ABOUT_ATTACKS
        for paragraph in file.read_text("utf-8").split("\n\n")
        if len(paragraph) >= LEAST_PROSE
    ]
    return random.Random(seed).sample(paragraphs, min(most, len(paragraphs)))  # noqa: S311 Not for secrets.


def _templates(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield family, language and text of each template; `## ` begins a family, `de| ` a text that is not English."""
    family = ""
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("## "):
            family = line[3:]
        else:
            language = _LANGUAGE.match(line)
            yield family, language[1] if language else "en", _LANGUAGE.sub("", line, count=1)


def _slots() -> dict[str, list[str]]:
    lines = (line.split(": ", 1) for line in (FOLDER / "slots.txt").read_text("utf-8").splitlines())
    return {name: values.split(" | ") for name, values in lines}


def _filled(template: str, slots: dict[str, list[str]], rng: random.Random) -> str:
    """Return the template with a value for each slot; a slot with a capital gives its value one."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name.lower() not in slots:
            return found[0]  # Braces of the text itself.
        chosen = rng.choice(slots[name.lower()])
        return chosen[0].upper() + chosen[1:] if name[0].isupper() else chosen

    return _SLOT.sub(value, template)


FILE: Final = Path(classifier.__file__).with_name("classifier.json")
PARAGRAPHS: Final = 1500  # Of our own documents.
# In how many families a feature has to stand: what one family says alone tells its templates, not attacks.
LEAST_FAMILIES: Final = 4
STRENGTH: Final = 3.0
# The share of attacks that the probabilities are meant for. It sets how many harmless texts pass at 0.5.
ATTACKS: Final = 0.22


def main() -> None:
    fitted = fit(templated() + prose(most=PARAGRAPHS))
    weights = {name: round(weight, 3) for name, weight in sorted(fitted.weights.items())}
    kept = {"fitted_on": fitted.fitted_on, "intercept": round(fitted.intercept, 3), "weights": weights}
    FILE.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


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
