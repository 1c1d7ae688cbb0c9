"""Measure what a reader gets without a model: `python -m benchmarks.reading [FOLDER] [--sets NAME ...] [--missed]`.

For each question set of `benchmarks.fits.corpora` with facts to check: whether the first statement shown holds the
answer, whether anything shown does, what is answered under High or Medium and right, what is wrong under High, and how
well the confidence tells right from wrong. Rows that were held back while building are counted apart.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wings.offline import OfflineChatModel
from app.wiring import open_service
from app.wiring.models import word_similarity
from benchmarks.figures import report
from benchmarks.fits.corpora import READING, Asked, answered, arguments, asked, holds, kept_vectors, question_sets
from benchmarks.tables import table
from chains.confidence.calibrated import CalibratedConfidence
from chains.state import Answer
from evals.metrics import auroc, calibration_error

HEAD = (
    "set", "questions", "first right", "shown right", "High or Medium", "right of these", "wrong under High",
    "out of scope under High or Medium", "declined", "AUROC", "ECE",
)  # fmt: skip
SURE = frozenset({"high", "medium"})


@dataclass(frozen=True, slots=True)
class Judged:
    """What was shown for a question, and whether it holds the answer."""

    row: Asked
    answer: Answer
    first: bool
    shown: bool

    @property
    def level(self) -> str:
        return (self.answer["confidence"] or {"level": ""})["level"]

    @property
    def score(self) -> float:
        return (self.answer["confidence"] or {"score": 0.0})["score"]


def judge(row: Asked, answer: Answer) -> Judged:
    """Return whether the first statement shown, and all that is shown, hold what a right answer says."""
    closest = [passage["quote"] for passage in answer["closest"]]
    is_told = answer["outcome"] in {"answered", "unsure"} or not closest
    first, shown = answer["answer"] if is_told else closest[0], " ".join([answer["answer"], *closest])
    return Judged(row, answer, holds(first, row), holds(shown, row))


def figures(name: str, judged: Sequence[Judged]) -> list[Any]:
    known = [one for one in judged if one.row.case.in_scope]
    others = [one for one in judged if not one.row.case.in_scope]
    sure = [one for one in known if one.level in SURE]
    high = [one for one in judged if one.level == "high" and not (one.row.case.in_scope and one.first)]
    return [
        name,
        len(judged),
        _share(one.first for one in known),
        _share(one.shown for one in known),
        f"{len(sure)} of {len(known)}",
        _share(one.first for one in sure),
        f"{len(high)} of {sum(one.level == 'high' for one in judged)}",
        f"{sum(one.level in SURE for one in others)} of {len(others)}",
        f"{sum(one.answer['outcome'] in {'declined', 'no_results'} for one in others)} of {len(others)}",
        *_calibration(judged),
    ]


def _share(values: Iterable[bool]) -> str:
    found = list(values)
    return f"{sum(found) / len(found):.2f}" if found else "-"


def _calibration(judged: Sequence[Judged]) -> tuple[str, str]:
    """Return AUROC and expected calibration error of the confidence over all first statements shown."""
    scores = [(one.score, one.row.case.in_scope and one.first) for one in judged]
    ranked, error = auroc(scores), calibration_error(scores)
    return ("-", "-") if ranked is None or error is None else (f"{ranked:.2f}", f"{error:.2f}")


def _is_missed(one: Judged) -> bool:
    is_wrong = not one.first if one.row.case.in_scope else one.level in SURE
    return is_wrong and not one.row.held


def _told(one: Judged) -> str:
    wanted = one.row.any_of or one.row.case.answer_facts or [gold.evidence for gold in one.row.case.gold]
    level = f"{one.answer['outcome']} {one.level} {one.score:.2f}"
    return f"- {one.row.case.question} [{level}] {one.answer['answer'][:300]!r}\n    wants {wanted}"


def main() -> None:
    given = arguments(__doc__, sets=True)
    configure_logs("error")
    services = open_service(load_settings())
    vectors = kept_vectors(services.index.embedder, given.kept)
    model, confidence = OfflineChatModel(embeddings=vectors, similarity=word_similarity()), CalibratedConfidence()
    rows: list[list[Any]] = []
    trades: dict[str, list[Judged]] = {}
    for one in question_sets(given.folder):
        if one.name.startswith("spans") or (given.sets and one.name not in given.sets):
            continue
        known = [row for row in asked(one, kept=given.kept) if row.is_judged]
        judged = [judge(row, answered(row, model, confidence)) for row in known]
        for split in (False, True):
            if some := [other for other in judged if other.row.held == split]:
                rows.append(figures(f"{one.name}, held back" if split else one.name, some))
                print(*rows[-1], sep=" | ", flush=True)
                if one.documents.parent == READING / "corpora":
                    trades.setdefault("all trades, held back" if split else "all trades", []).extend(some)
        if given.missed:
            print("\n".join(map(_told, filter(_is_missed, judged))))
    rows += [figures(name, some) for name, some in trades.items()]
    if not given.sets:
        report("reading", table(HEAD, rows))


if __name__ == "__main__":
    main()
