"""Claims that people have judged against evidence, and figures of scores for them, by documents and not by rows.

The file is WiCE's (Kamoi et al. 2023): one claim of Wikipedia a line, its evidence in sentences, and whether they
support it. Claims of one article, or with a long sentence of evidence in common, belong to one document.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evals.metrics import auroc

Numbers = NDArray[np.float64]
GRADES: Final = ("not_supported", "partially_supported", "supported")
LONG: Final = 120  # Characters; shorter sentences may stand on many pages.
SAMPLES: Final = 1000


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence, its evidence, its grade (0 not supported, 1 partially, 2 supported), and its article."""

    text: str
    evidence: Sequence[str]
    grade: int
    article: str


def read_claims(path: Path) -> list[Claim]:
    """Return the claims of a file."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        Claim(row["claim"], row["evidence"], GRADES.index(row["label"]), row["meta"]["claim_title"]) for row in rows
    ]


def documents(claims: Sequence[Claim]) -> list[int]:
    """Return for each claim the number of its document."""
    found = list(range(len(claims)))
    seen: dict[str, int] = {}
    for place, claim in enumerate(claims):
        for key in (claim.article, *(sentence for sentence in claim.evidence if len(sentence) > LONG)):
            if key in seen:
                other, own = found[seen[key]], found[place]
                found = [other if number == own else number for number in found]
            seen[key] = place
    return found


def folds(groups: Sequence[int], count: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Yield which rows each fold holds out; the rows of a group stay together."""
    order = np.random.default_rng(seed).permutation(np.unique(groups))
    return (np.isin(groups, part) for part in np.array_split(order, count))


def aurocs(grades: Sequence[int] | Numbers, scores: Numbers) -> tuple[float, float]:
    """Return how well scores tell supported claims from others, and claims supported at least partially."""
    return _auroc(np.asarray(grades) == GRADES.index("supported"), scores), _auroc(np.asarray(grades) > 0, scores)


def _auroc(positive: NDArray[np.bool_], scores: Numbers) -> float:
    found = auroc(np.column_stack([scores, positive]))
    return float("nan") if found is None else found


def cells(claims: Sequence[Claim], scores: Numbers) -> tuple[str, str]:
    """Return both AUROCs, each with its 95 % interval by bootstrap over the documents."""
    grades, groups = np.array([float(claim.grade) for claim in claims]), np.array(documents(claims))
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    random = np.random.default_rng(0)
    drawn = []
    for _ in range(SAMPLES):
        rows = np.concatenate([members[pick] for pick in random.integers(0, len(members), len(members))])
        drawn.append(aurocs(grades[rows], scores[rows]))
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    first, second = aurocs(grades, scores)
    return f"{first:.3f} ({low[0]:.3f}-{high[0]:.3f})", f"{second:.3f} ({low[1]:.3f}-{high[1]:.3f})"
