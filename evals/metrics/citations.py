"""Whether the citations that the model marked are of something retrieved, and of gold documents."""

from collections.abc import Sequence

from evals.metrics.measure import Measure, ratio
from evals.metrics.retrieval import is_gold
from evals.rows import Pair

GROUP = "citations"


def citations(pairs: Sequence[Pair]) -> list[Measure]:
    """Return the share of the model's citations that match something retrieved, and of these that of gold documents."""
    marked = [[found for found in row["citations"] if not found.get("attributed")] for _, row in pairs]
    valid = [[found for found in some if found["matched"]] for some in marked]
    judged = [
        [is_gold(found["doc_id"], case) for found in some] if case.gold else []
        for (case, _), some in zip(pairs, valid, strict=True)
    ]
    validity = [_share(len(good), len(every)) for good, every in zip(valid, marked, strict=True)]
    precision = [_share(sum(some), len(some)) for some in judged]
    return [ratio(GROUP, "citation validity", validity), ratio(GROUP, "citation precision", precision)]


def _share(some: int, every: int) -> tuple[float, float] | None:
    return (float(some), float(every)) if every else None
