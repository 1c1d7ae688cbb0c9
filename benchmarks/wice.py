"""Measure how well `support` ranks claims that people have judged: `python -m benchmarks.wice FILE`.

The file is WiCE's (Kamoi et al. 2023): one claim a line, its evidence in sentences, and whether they support it.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.adapters.embeddings.onnx.weights import find_weights
from app.adapters.embeddings.onnx.words import WordVectors
from chains.citations.evidence import from_sentences
from chains.citations.support import Support, support
from chains.ports import WordSimilarity


def auroc(positive: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the chance that a positive outscores a negative, ties half (Mann-Whitney; Hanley and McNeil 1982)."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    hits, misses = int(positive.sum()), int((~positive).sum())
    return float((ranks[positive].sum() - hits * (hits + 1) / 2) / (hits * misses))


def bootstrap(positive: NDArray[np.bool_], scores: NDArray[np.float64], *, draws: int = 1000) -> tuple[float, float]:
    """Return the 95 % interval of the AUROC over resampled claims."""
    random = np.random.default_rng(0)
    picks = (random.integers(0, len(scores), len(scores)) for _ in range(draws))
    low, high = np.percentile([auroc(positive[pick], scores[pick]) for pick in picks], [2.5, 97.5])
    return float(low), float(high)


def measure(path: Path, similarity: WordSimilarity | None) -> tuple[list[str], list[Support], float]:
    """Return labels, supports and milliseconds per claim."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    started = time.perf_counter()
    results = [support(row["claim"], from_sentences(row["evidence"]), similarity=similarity) for row in rows]
    return [row["label"] for row in rows], results, 1000 * (time.perf_counter() - started) / len(rows)


def main() -> None:
    """Print both AUROCs with their intervals, by shared stems alone and with word vectors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="claims in WiCE's format: claim, evidence, label")
    path = parser.parse_args().file
    print("| words match by | claims | supported | supported or partially | contradicted | ms a claim |")
    print("|---|---|---|---|---|---|")
    for name, similarity in {"stems": None, "stems and word vectors": WordVectors(find_weights())}.items():
        print(row(name, path, similarity))


def row(name: str, path: Path, similarity: WordSimilarity | None) -> str:
    """Return one row of the table: AUROCs with their 95 % intervals."""
    labels, results, spent_ms = measure(path, similarity)
    scores = np.array([result.score for result in results])
    cells = []
    for wanted in (["supported"], ["supported", "partially_supported"]):
        positive = np.array([label in wanted for label in labels])
        low, high = bootstrap(positive, scores)
        cells.append(f"{auroc(positive, scores):.3f} ({low:.3f}-{high:.3f})")
    clashes = sum(result.contradicted for result in results)
    return f"| {name} | {len(labels)} | {' | '.join(cells)} | {clashes} | {spent_ms:.1f} |"


if __name__ == "__main__":
    main()
