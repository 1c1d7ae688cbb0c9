"""What a language model said about the answers, where it was asked."""

from collections.abc import Sequence

from evals.metrics.measure import Measure, mean
from evals.rows import Judgement, Pair

GROUP = "judge"


def judged(pairs: Sequence[Pair]) -> list[Measure]:
    """Return the faithfulness of the answers judged, and how many judgements could be read; nothing without a judge."""
    found: list[Judgement | None] = [row.get("judgement") for _, row in pairs]
    if not any(found):
        return []
    faithful = [one["faithfulness"] if one else None for one in found]
    readable = [float(one["faithfulness"] is not None) if one else None for one in found]
    return [
        mean(GROUP, "faithfulness, by a model", faithful),
        mean(GROUP, "judgements that could be read", readable),
    ]
