"""The questions that went wrong, the most harmful first, each with the reason and the evidence."""

from collections.abc import Sequence
from html import escape

from evals.metrics import (
    evidence_rank,
    fact_coverage,
    is_declined,
    is_founded,
    is_judged,
    is_right,
)
from evals.questions import Case
from evals.rows import Pair, Row, score_of

WORST = 20
QUOTED_CHARACTERS = 300


def worst(pairs: Sequence[Pair], most: int = WORST) -> list[Pair]:
    """Return the wrong ones: answers from the most to the least confident, then what was declined and need not be."""
    wrong = [(case, row) for case, row in pairs if is_judged(case) and not is_right(case, row)]
    return sorted(wrong, key=lambda pair: (is_declined(pair[1]), -score_of(pair[1])))[:most]


def reason(case: Case, row: Row) -> str:
    """Say in words what is wrong."""
    if not case.in_scope:
        due = "a question back or no answer" if case.kind == "underspecified" else "no answer"
        return f"answered, where {due} is right"
    if is_declined(row):
        return f"not answered ({row['outcome']}), although the documents hold it"
    if case.gold and not is_founded(case, row):
        return "answered without a citation of a gold document"
    if case.answer_facts and fact_coverage(case, row) < 1:
        return f"the answer lacks {', '.join(repr(fact) for fact in missing_facts(case, row))}"
    return "answered without a valid citation"


def missing_facts(case: Case, row: Row) -> list[str]:
    """Return the facts that the answer does not contain, blanks and case apart."""
    answer = "".join(row["answer"].lower().split())
    return [fact for fact in case.answer_facts if "".join(fact.lower().split()) not in answer]


def worst_rows(pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
    """Return the cells of the table of the worst: question, reason, confidence, answer, evidence."""
    return [
        (
            f"{escape(case.question)}<br><small>{escape(case.id)}, {case.kind}</small>",
            escape(reason(case, row)),
            f"{score_of(row):.2f}",
            f'<div class="long">{escape(_cut(row["answer"]))}</div>',
            "".join(f"<p>{line}</p>" for line in _evidence(case, row)),
        )
        for case, row in worst(pairs)
    ]


def _evidence(case: Case, row: Row) -> list[str]:
    """Return the lines on what proves the answer, where it was found, and what was cited instead."""
    gold = [f"<b>gold</b> {escape(one.doc_id)}: {escape(_cut(one.evidence or ''))}" for one in case.gold]
    rank = evidence_rank(case, row)
    found = f"<b>found</b> at rank {rank}" if rank else "<b>not found</b> among what was retrieved"
    cited = [
        f"<b>cited</b> {escape(str(citation['doc_id']))}: {escape(_cut(citation['quote']))}"
        for citation in row["citations"]
        if citation["matched"]
    ]
    return [*gold, *([found] if any(one.evidence for one in case.gold) else []), *cited]


def _cut(text: str) -> str:
    """Return the beginning of a text, on one line."""
    joined = " ".join(text.split())
    return joined if len(joined) <= QUOTED_CHARACTERS else f"{joined[:QUOTED_CHARACTERS]} ..."
