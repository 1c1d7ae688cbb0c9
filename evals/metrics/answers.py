"""Whether what became of a question is right: answers that are founded and complete, declines that are due."""

import re
from collections.abc import Callable, Sequence

from evals.metrics.measure import Measure, mean, ratio
from evals.metrics.retrieval import is_gold
from evals.questions import OUT_OF_SCOPE, Case
from evals.rows import FAILED, Judgement, Pair, Row

GROUP, RIGHT = "answers", "right"
ANSWERED = frozenset({"answered", "degraded"})
FOUNDED = "in scope, answered with a citation of a gold document"
UNFOUNDED = "answers given, not founded"
CORRECT_DECLINES, FALSE_DECLINES, FALSE_ANSWERS = "correct declines", "false declines", "false-answer rate"

_BLANK = re.compile(r"\s+")
_MARKER = re.compile(r"\[[^\[\]]*\]")


def answers(pairs: Sequence[Pair]) -> list[Measure]:
    """Return how complete and well-founded the answers are, and which questions were declined."""

    def over(
        name: str, counts: Callable[[Case, Row], bool], value: Callable[[Case, Row], float], **how: bool
    ) -> Measure:
        return mean(GROUP, name, [float(value(*pair)) if counts(*pair) else None for pair in pairs], **how)

    return [
        over("answer-fact coverage", lambda case, _: case.in_scope and bool(case.answer_facts), fact_coverage),
        over(FOUNDED, lambda case, _: case.in_scope and bool(case.gold), is_founded),
        over(UNFOUNDED, _is_given_and_judged, lambda case, row: not _is_answer_founded(case, row), less_is_better=True),
        over(CORRECT_DECLINES, lambda case, _: case.kind in OUT_OF_SCOPE, lambda _, row: _is_refusal(row)),
        over(FALSE_DECLINES, lambda case, _: case.in_scope, lambda _, row: is_declined(row), less_is_better=True),
        over(
            FALSE_ANSWERS,
            lambda case, _: case.kind in OUT_OF_SCOPE,
            lambda _, row: not is_declined(row),
            less_is_better=True,
        ),
    ]


def rightness(pairs: Sequence[Pair]) -> list[Measure]:
    """Return the share that is right of all questions, of each kind, and of each form of question.

    Every question that can be judged is in the first figure and in that of its kind.
    """
    right = [float(is_right(*pair)) if is_judged(pair[0]) else None for pair in pairs]
    kinds = dict.fromkeys(case.kind for case, _ in pairs)
    forms = dict.fromkeys(case.form for case, _ in pairs if case.form)
    by_kind = [_where(f"right, {kind}", right, [case.kind == kind for case, _ in pairs]) for kind in kinds]
    by_form = [_where(f"right, form {form}", right, [case.form == form for case, _ in pairs]) for form in forms]
    return [mean(RIGHT, "right, all kinds", right), *by_kind, *by_form]


def _where(name: str, values: Sequence[float | None], holds: Sequence[bool]) -> Measure:
    return mean(RIGHT, name, [value if counts else None for value, counts in zip(values, holds, strict=True)])


def fact_coverage(case: Case, row: Row) -> float:
    """Return the share of the case's facts that an answer contains, blanks and case apart; 0 where it was declined."""
    if is_declined(row):
        return 0.0
    answer = _BLANK.sub("", row["answer"].lower())
    return sum(_BLANK.sub("", fact.lower()) in answer for fact in case.answer_facts) / len(case.answer_facts)


def _is_refusal(row: Row) -> bool:
    """Return whether the user was told that there is no answer; a question that failed is never right."""
    return is_declined(row) and row["outcome"] != FAILED


def is_declined(row: Row) -> bool:
    """Return whether the user got no answer, for whatever reason."""
    return row["outcome"] not in ANSWERED


def asks_back(row: Row) -> bool:
    """Return whether the answer, markers of citations apart, ends in a question to the user."""
    return _MARKER.sub("", row["answer"]).rstrip(" \n.*_)").endswith("?")


def is_founded(case: Case, row: Row) -> bool:
    """Return whether the question was answered with a valid citation of a gold document."""
    cited = [citation["doc_id"] for citation in row["citations"] if citation["matched"]]
    return not is_declined(row) and any(is_gold(doc_id, case) for doc_id in cited)


def is_cited(row: Row) -> bool:
    """Return whether the question was answered with any valid citation."""
    return not is_declined(row) and any(citation["matched"] for citation in row["citations"])


def is_judged(case: Case) -> bool:
    """Return whether the answer can be judged: in scope that takes gold documents or facts."""
    return not case.in_scope or bool(case.gold or case.answer_facts)


def is_right(case: Case, row: Row) -> bool:
    """Return whether the outcome is right, as far as it can be judged.

    In scope: answered, founded (without gold documents: cited at all), and with every fact. Underspecified: declined,
    or asked back. Else: declined.
    """
    if case.in_scope:
        rests = is_founded(case, row) if case.gold else is_cited(row)
        return rests and (not case.answer_facts or fact_coverage(case, row) == 1)
    return _is_refusal(row) or (case.kind == "underspecified" and asks_back(row))


def _is_given_and_judged(case: Case, row: Row) -> bool:
    return not is_declined(row) and bool(case.gold or not case.in_scope)


def _is_answer_founded(case: Case, row: Row) -> bool:
    return is_founded(case, row) if case.in_scope else is_right(case, row)


def citations(pairs: Sequence[Pair]) -> list[Measure]:
    """Return the share of the model's citations that match something retrieved, and of these that of gold documents."""
    validity, precision = [valid_of(row) for _, row in pairs], [gold_of(*pair) for pair in pairs]
    return [ratio("citations", "citation validity", validity), ratio("citations", "citation precision", precision)]


def valid_of(row: Row) -> tuple[float, float] | None:
    """Return how many of the model's own citations match something retrieved, and how many there are; None for none."""
    marked = [citation["matched"] for citation in row["citations"] if not citation.get("attributed")]
    return (float(sum(marked)), float(len(marked))) if marked else None


def gold_of(case: Case, row: Row) -> tuple[float, float] | None:
    """Return how many of these that match are of gold documents, and how many match."""
    valid = [one["doc_id"] for one in row["citations"] if one["matched"] and not one.get("attributed")]
    return (float(sum(is_gold(one, case) for one in valid)), float(len(valid))) if valid and case.gold else None


def judged(pairs: Sequence[Pair]) -> list[Measure]:
    """Return the faithfulness of the answers judged, and how many judgements could be read; nothing without a judge."""
    found: list[Judgement | None] = [row.get("judgement") for _, row in pairs]
    if not any(found):
        return []
    faithful = [one["faithfulness"] if one else None for one in found]
    readable = [float(one["faithfulness"] is not None) if one else None for one in found]
    return [
        mean("judge", "faithfulness, by a model", faithful),
        mean("judge", "judgements that could be read", readable),
    ]
