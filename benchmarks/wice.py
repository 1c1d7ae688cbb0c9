"""Measure how well `support` ranks claims that people have judged: `python -m benchmarks.wice FILE [--write]`.

Each row of the table is scored by weights fitted on other documents (ten folds over the documents, three times). Which
features a model has, and how strongly its weights are held to 0, is chosen within the folds. `--write` keeps the
exponents fitted on all claims as the packaged ones.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np

from app.adapters.embeddings.onnx.weights import find_weights
from app.adapters.embeddings.onnx.words import WordVectors
from benchmarks.claims import GRADES, Claim, Numbers, aurocs, cells, documents, folds, read_claims
from benchmarks.figures import write_figures
from benchmarks.lexical import FEATURES, lexical
from benchmarks.tables import table
from chains.citations.evidence import Evidence, from_sentences
from chains.citations.losses import FILE, HALF, MOST, Losses, missing
from chains.citations.support import Support, align, match, support, weigh
from chains.ports import WordSimilarity
from chains.text.tokens import tokens
from evals.logistic import logistic

PLACE: Final = Path(__file__).parents[1] / "chains" / "citations" / FILE
HEAD: Final = ("supported", "supported or partially", "ms a claim")
FOLDS, INNER, REPEATS = 10, 5, 3
STRENGTHS: Final = (0.5, 2.0, 8.0)
LEAST: Final = 0.1  # Aligned shares below this are all as good as nothing; their logarithms would rule the fit.


Score = Callable[[Numbers, Numbers], Numbers]
Target = Callable[[Numbers], Numbers]


@dataclass(frozen=True, slots=True)
class Model:
    """A table of features, the choices of those beside the first, features -> scores, and grades -> what is fitted."""

    values: Numbers
    choices: Sequence[Sequence[int]]
    score: Score
    target: Target


def wholly(grades: Numbers) -> Numbers:
    """Return 1 for a claim that is supported, 0 for another."""
    return np.asarray(grades == GRADES.index("supported"), dtype=np.float64)


def by_degree(grades: Numbers) -> Numbers:
    """Return 1 for a claim that is supported, a half for one supported partially."""
    return grades / GRADES.index("supported")


def linear(values: Numbers, weights: Numbers) -> Numbers:
    """Return the weighted sums."""
    return np.asarray(values @ weights, dtype=np.float64)


def damped(values: Numbers, weights: Numbers) -> Numbers:
    """Return the scores as `support` reckons them: the first feature is the logarithm of the aligned share."""
    aligned, kept = np.exp(values[:, 0]), np.exp(np.minimum(0.0, values[:, 1:] @ (weights[1:] / weights[0])))
    loss = np.clip(1 - kept, 0.0, MOST) * np.maximum(0.0, aligned - HALF) / HALF
    return np.asarray(aligned - loss, dtype=np.float64)


def weigh_features(values: Numbers, target: Numbers, strength: float) -> Numbers:
    """Return the weight of each feature in a logistic regression."""
    scales = np.maximum(values.std(axis=0), 1e-9)
    rows, columns = values.shape
    design = np.column_stack([np.ones(rows), values / scales])
    held = np.array([0.01, *[strength] * columns])
    found = logistic(design, target, np.ones(rows), np.zeros(columns + 1), held)
    return np.asarray(found[1:] / scales, dtype=np.float64)


def chosen(model: Model, grades: Numbers, groups: Numbers) -> tuple[list[int], Numbers]:
    """Return the features that rank claims of other folds best, and their weights."""

    def worth(choice: tuple[Sequence[int], float]) -> float:
        values, scores = model.values[:, [0, *choice[0]]], np.zeros(len(grades))
        for held in folds(groups.tolist(), INNER, 1):
            weights = weigh_features(values[~held], model.target(grades[~held]), choice[1])
            scores[held] = model.score(values[held], weights)
        supported, partially = aurocs(grades, scores)
        return supported + partially

    columns, strength = max(product(model.choices, STRENGTHS), key=worth)
    return [0, *columns], weigh_features(model.values[:, [0, *columns]], model.target(grades), strength)


def cross_validated(model: Model, claims: Sequence[Claim]) -> Numbers:
    """Return the mean score of each claim by models that were chosen and fitted on other documents."""
    grades, groups = np.array([float(claim.grade) for claim in claims]), np.array(documents(claims), dtype=np.float64)
    scores = np.zeros((REPEATS, len(claims)))
    for seed in range(REPEATS):
        for held in folds(groups.tolist(), FOLDS, seed):
            some = replace(model, values=model.values[~held])
            columns, weights = chosen(some, grades[~held], groups[~held])
            scores[seed, held] = model.score(model.values[held][:, columns], weights)
    return np.asarray(scores.mean(axis=0), dtype=np.float64)


def parts(claim: str, evidence: Evidence, similarity: WordSimilarity | None) -> list[float]:
    """Return what `support` is made of: the aligned share, and the missing numbers and names, as logarithms."""
    words = [word for word in tokens(claim) if word.weight > 0]
    strengths = match(words, evidence, similarity)
    lacking = missing(words, strengths, evidence)
    aligned = min(1.0, align(strengths, weigh(words, evidence)))
    return [float(np.log(max(LEAST, aligned))), float(np.log1p(lacking.numbers)), float(np.log1p(lacking.names))]


def fit(values: Numbers, claims: Sequence[Claim]) -> Losses:
    """Return the exponents fitted on all claims: the weights in proportion to that of the aligned share."""
    grades, groups = np.array([float(claim.grade) for claim in claims]), np.array(documents(claims), dtype=np.float64)
    _, weights = chosen(Model(values, [range(1, values.shape[1])], damped, wholly), grades, groups)
    numbers, names = np.maximum(0.0, -weights[1:] / weights[0]).round(4).tolist()
    return Losses(numbers, names, f"{len(claims)} claims of {len(set(documents(claims)))} documents")


def measure(claims: Sequence[Claim], similarity: WordSimilarity | None) -> tuple[list[Support], float]:
    """Return the supports and the milliseconds per claim."""
    evidence = [from_sentences(claim.evidence) for claim in claims]
    started = time.perf_counter()
    results = [support(claim.text, found, similarity=similarity) for claim, found in zip(claims, evidence, strict=True)]
    return results, 1000 * (time.perf_counter() - started) / len(claims)


def main() -> None:
    """Print both AUROCs of each model with their intervals, and keep the exponents where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="claims in WiCE's format: claim, evidence, label")
    parser.add_argument("--write", action="store_true", help="keep the exponents fitted on all claims")
    given = parser.parse_args()
    claims = read_claims(given.file)
    evidence = [from_sentences(claim.evidence) for claim in claims]
    pairs = list(zip([claim.text for claim in claims], evidence, strict=True))
    plain = np.array([lexical(*pair) for pair in pairs])
    every = Model(plain, [range(1, len(FEATURES))], linear, by_degree)
    found = {"ten plain features": row(claims, cross_validated(every, claims))}
    for name, similarity in {"stems": None, "stems and word vectors": WordVectors(find_weights())}.items():
        values = np.array([parts(*pair, similarity) for pair in pairs])
        found |= rows(name, values, plain, claims)
        found[f"`support`, {name}"]["ms a claim"] = f"{measure(claims, similarity)[1]:.1f}"
        if given.write and similarity:
            PLACE.write_text(fit(values, claims).text(), encoding="utf-8")
    print(table(("scored by", *HEAD), [[name, *told.values()] for name, told in found.items()]))
    write_figures("wice", found)


def row(claims: Sequence[Claim], scores: Numbers) -> dict[str, str]:
    """Return the cells of one row of the table."""
    return dict(zip(HEAD, (*cells(claims, scores), "-"), strict=True))


def rows(name: str, values: Numbers, plain: Numbers, claims: Sequence[Claim]) -> dict[str, dict[str, str]]:
    """Return the rows of the table for one way to match words."""
    both = range(1, values.shape[1])
    more = range(values.shape[1], values.shape[1] + plain.shape[1])
    choices = [(), *[[one] for one in both], both, *[[*both, one] for one in more]]
    wider = Model(np.column_stack([values, plain]), choices, damped, wholly)
    scored = {
        f"aligned words, {name}": values[:, 0],
        f"`support`, {name}": cross_validated(Model(values, [both], damped, wholly), claims),
        f"features chosen, {name}": cross_validated(wider, claims),
    }
    return {told: row(claims, scores) for told, scores in scored.items()}


if __name__ == "__main__":
    main()
