"""Metrics of an evaluation: retrieval, answers, declines, citations, confidence, latency."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from evals.questions import Case, Gold
from evals.rows import Retrieved, Row

CUTS = (1, 3, 5, 10)
SHOWN_CHARACTERS = 4000
BINS = 10
ANSWERED = frozenset({"answered", "degraded"})

Pair = tuple[Case, Row]

_WORD = re.compile(r"\w+")
_BLANK = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure, of how many questions (or citations) it is, and the group it belongs to; None where there are none."""

    group: str
    name: str
    value: float | None
    count: int


def evaluate(cases: Sequence[Case], rows: Sequence[Row]) -> list[Metric]:
    """Return every metric, in the order of the report."""
    pairs = pairs_of(cases, rows)
    return [*retrieval(pairs), *answers(pairs), *citations(pairs), *confidence(pairs), *latency(pairs)]


def pairs_of(cases: Sequence[Case], rows: Sequence[Row]) -> list[Pair]:
    """Return each case with its row, matched by id; a case without one is left out."""
    by_id = {row["id"]: row for row in rows}
    return [(case, by_id[case.id]) for case in cases if case.id in by_id]


def retrieval(pairs: Sequence[Pair]) -> list[Metric]:
    """Return where the gold documents, and the chunks with the gold evidence, stand among what was retrieved."""
    documents = [document_rank(case, row) for case, row in pairs if case.in_scope and case.gold]
    proven = [(case, row) for case, row in pairs if case.in_scope and any(gold.evidence for gold in case.gold)]
    chunks = [evidence_rank(case, row) for case, row in proven]
    shown = [float(evidence_shown(case, row)) for case, row in proven]
    return [
        *_ranks("document", documents),
        *_ranks("evidence chunk", chunks),
        _mean("retrieval", f"evidence in the first {SHOWN_CHARACTERS:,} characters", shown),
    ]


def _ranks(what: str, ranks: Sequence[int | None]) -> list[Metric]:
    hits = [_mean("retrieval", f"{what} hit@{cut}", [float(hit(rank, cut)) for rank in ranks]) for cut in CUTS]
    return [*hits, _mean("retrieval", f"{what} MRR@10", [reciprocal(rank) for rank in ranks])]


def hit(rank: int | None, cut: int) -> bool:
    """Return whether a rank (from 1; None is not found) is within the first `cut`."""
    return rank is not None and rank <= cut


def reciprocal(rank: int | None, cut: int = 10) -> float:
    """Return 1/rank, 0 below the cut or where nothing was found."""
    return 1 / rank if rank is not None and rank <= cut else 0.0


def document_rank(case: Case, row: Row) -> int | None:
    """Return the rank of the first chunk of any gold document."""
    return _first(row["retrieved"], lambda chunk: is_gold(chunk["doc_id"], case))


def evidence_rank(case: Case, row: Row) -> int | None:
    """Return the rank of the first chunk of a gold document that holds the evidence given for it."""
    return _first(row["retrieved"], lambda chunk: any(_proves(chunk, gold) for gold in case.gold))


def evidence_shown(case: Case, row: Row) -> bool:
    """Return whether some evidence stands within the first 4,000 retrieved characters."""
    left = SHOWN_CHARACTERS
    for chunk in row["retrieved"]:
        content = chunk["content"][:left]
        if any(_proves({**chunk, "content": content}, gold) for gold in case.gold):
            return True
        left -= len(content)
    return False


def _first(chunks: Iterable[Retrieved], fits: Callable[[Retrieved], bool]) -> int | None:
    return next((rank for rank, chunk in enumerate(chunks, start=1) if fits(chunk)), None)


def _proves(chunk: Retrieved, gold: Gold) -> bool:
    same = chunk["doc_id"] is not None and _same_document(chunk["doc_id"], gold.doc_id)
    return same and bool(gold.evidence) and words(gold.evidence or "") in words(chunk["content"])


def is_gold(doc_id: str | None, case: Case) -> bool:
    """Return whether the document is one of the case's."""
    return doc_id is not None and any(_same_document(doc_id, gold.doc_id) for gold in case.gold)


def _same_document(doc_id: str, named: str) -> bool:
    # A gold file may be named without its folder.
    return doc_id == named or doc_id.endswith(f"_{named}")


def words(text: str) -> str:
    """Return the words in lower case between single blanks, so that markup and line ends do not matter."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def answers(pairs: Sequence[Pair]) -> list[Metric]:
    """Return how complete and well-founded the answers are, and which questions were declined."""
    inside = [(case, row) for case, row in pairs if case.in_scope]
    outside = [(case, row) for case, row in pairs if not case.in_scope]
    stated = [fact_coverage(case, row) for case, row in inside if case.answer_facts]
    founded = [float(is_founded(case, row)) for case, row in inside if case.gold]
    return [
        _mean("answers", "answer-fact coverage", stated),
        _mean("answers", "in scope, answered with a citation of a gold document", founded),
        _mean("answers", "correct declines", [float(is_declined(row)) for _, row in outside]),
        _mean("answers", "false declines", [float(is_declined(row)) for _, row in inside]),
    ]


def fact_coverage(case: Case, row: Row) -> float:
    """Return the share of the case's facts that an answer contains, blanks and case apart; 0 where it was declined."""
    if is_declined(row):
        return 0.0
    answer = _BLANK.sub("", row["answer"].lower())
    return sum(_BLANK.sub("", fact.lower()) in answer for fact in case.answer_facts) / len(case.answer_facts)


def is_declined(row: Row) -> bool:
    """Return whether the user got no answer, for whatever reason."""
    return row["outcome"] not in ANSWERED


def is_founded(case: Case, row: Row) -> bool:
    """Return whether the question was answered with a valid citation of a gold document."""
    cited = [citation["doc_id"] for citation in row["citations"] if citation["matched"]]
    return not is_declined(row) and any(is_gold(doc_id, case) for doc_id in cited)


def is_right(case: Case, row: Row) -> bool:
    """Return whether an answer is right as far as can be told: in scope, founded, and with every fact."""
    return case.in_scope and is_founded(case, row) and (not case.answer_facts or fact_coverage(case, row) == 1)


def citations(pairs: Sequence[Pair]) -> list[Metric]:
    """Return the share of the model's citations that match something retrieved, and of these that of gold documents."""
    every = [(case, found) for case, row in pairs for found in row["citations"] if not found.get("attributed")]
    valid = [(case, citation) for case, citation in every if citation["matched"]]
    judged = [float(is_gold(citation["doc_id"], case)) for case, citation in valid if case.gold]
    return [
        _mean("citations", "citation validity", [float(citation["matched"]) for _, citation in every]),
        _mean("citations", "citation precision", judged),
    ]


def confidence(pairs: Sequence[Pair]) -> list[Metric]:
    """Return how well the confidence of the answers given tells the right ones from the others."""
    judged = judgements(pairs)
    figures = (("ECE", calibration_error(judged)), ("Brier score", brier(judged)), ("AUROC", auroc(judged)))
    return [Metric("confidence", name, value, len(judged)) for name, value in figures]


Judged = Sequence[tuple[float, bool]]


def judgements(pairs: Sequence[Pair]) -> Judged:
    """Return the confidence of each answer given, and whether it is right."""
    return [(row["confidence"]["score"], is_right(case, row)) for case, row in pairs if not is_declined(row)]


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers of similar confidence: their number, mean confidence, and the share that is right."""

    count: int
    confidence: float
    right: float


def reliability(judged: Judged, bins: int = BINS) -> list[Bin]:
    """Return the answers in bins of equal width, those that hold any."""
    held: dict[int, list[tuple[float, bool]]] = {}
    for score, right in judged:
        held.setdefault(min(int(score * bins), bins - 1), []).append((score, right))
    return [
        Bin(len(some), sum(s for s, _ in some) / len(some), sum(r for _, r in some) / len(some))
        for _, some in sorted(held.items())
    ]


def calibration_error(judged: Judged) -> float | None:
    """Return the expected calibration error (Guo et al. 2017), ten bins of equal width."""
    if not judged:
        return None
    return sum(bin_.count * abs(bin_.confidence - bin_.right) for bin_ in reliability(judged)) / len(judged)


def brier(judged: Judged) -> float | None:
    """Return the mean squared difference of confidence and truth."""
    return sum((score - right) ** 2 for score, right in judged) / len(judged) if judged else None


def auroc(judged: Judged) -> float | None:
    """Return the chance that a right answer has more confidence than a wrong one, ties half; None without both."""
    right = [score for score, truth in judged if truth]
    wrong = [score for score, truth in judged if not truth]
    if not right or not wrong:
        return None
    return sum((a > b) + (a == b) / 2 for a in right for b in wrong) / (len(right) * len(wrong))


def latency(pairs: Sequence[Pair]) -> list[Metric]:
    """Return the median and the 95th percentile of each stage and of the whole, in milliseconds."""
    timings = [row["timings_ms"] for _, row in pairs]
    stages = {stage: [timing[stage] for timing in timings if stage in timing] for timing in timings for stage in timing}
    stages["all stages"] = [sum(timing.values()) for timing in timings]
    return [
        Metric("latency", f"{stage} p{percent} (ms)", percentile(times, percent), len(times))
        for stage, times in stages.items()
        for percent in (50, 95)
    ]


def percentile(values: Sequence[float], percent: int) -> float | None:
    """Return the nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)] if ordered else None


def _mean(group: str, name: str, values: Sequence[float]) -> Metric:
    return Metric(group, name, sum(values) / len(values) if values else None, len(values))
