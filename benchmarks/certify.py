"""Count how often a certified high confidence breaks its promise: `python -m benchmarks.certify [FOLDER]`.

The question sets are answered offline once. The answers given are then taken for all that will ever be asked: from them
1,000 samples are drawn with replacement, a threshold is certified on each, and the promise is broken where more of all
answers that reach the threshold are wrong than it allows. FOLDER is that of `benchmarks.fits.corpora`; without it only
the sample corpus is asked.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fits.corpora import QuestionSet, question_sets
from benchmarks.offline import offline, report
from evals.certify import certify
from evals.logistic import Numbers
from evals.metrics import judgements
from evals.questions import read_questions
from evals.rows import ask_all, pairs_of

SETS = ("sample", "clapnq")
SAMPLES = 1000
TIMES = (1, 4)  # How large a sample is, in answers of its set.
WRONG_AT_MOST = (0.1, 0.2)
COLUMNS = ("questions", "answers, right", "at most wrong", "sample", "certified", "promise broken", "answers then high")


def main() -> None:
    """Print the table, and keep it in docs/figures.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path())
    parser.add_argument("--kept", type=Path, help="folder where the answers' scores are kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        kept = given.kept or Path(place)
        rows = [row for one in question_sets(given.folder) if one.name in SETS for row in _rows(one, kept)]
    report("certify", COLUMNS, rows, columns=COLUMNS)


def _rows(one: QuestionSet, kept: Path) -> Iterator[tuple[Any, ...]]:
    answers = _judged(one, kept)
    right = f"{len(answers)}, {int(answers[:, 1].sum())}"
    for wrong_at_most in WRONG_AT_MOST:
        for times in TIMES:
            size = times * len(answers)
            yield one.name, right, f"{100 * wrong_at_most:.0f} %", size, *_tried(answers, size, wrong_at_most)


def _judged(one: QuestionSet, kept: Path) -> Numbers:
    """Return the score of each answer given, and whether it is right; from the folder where they were kept before."""
    file = kept / f"{one.name}.json"
    if not file.is_file():
        services, cases = offline(kept / one.name, one.documents), read_questions(one.questions)
        file.write_text(json.dumps(judgements(pairs_of(cases, list(ask_all(services.chain, cases))))), encoding="utf-8")
    return np.asarray(json.loads(file.read_text(encoding="utf-8")), dtype=np.float64)


def _tried(answers: Numbers, size: int, wrong_at_most: float) -> tuple[str, str, str]:
    """Return the share of samples that certify, of those that break the promise, and the mean share of high answers."""
    rng = np.random.default_rng(0)
    broken, high = 0, []
    for _ in range(SAMPLES):
        found = certify(answers[rng.integers(0, len(answers), size)], wrong_at_most=wrong_at_most)
        if found:
            reaching = answers[answers[:, 0] >= found.threshold]
            broken += 1 - reaching[:, 1].mean() > wrong_at_most
            high.append(len(reaching) / len(answers))
    shares = (len(high) / SAMPLES, broken / SAMPLES, float(np.mean(high)) if high else 0.0)
    return f"{100 * shares[0]:.1f} %", f"{100 * shares[1]:.1f} %", f"{100 * shares[2]:.0f} %"


if __name__ == "__main__":
    main()
