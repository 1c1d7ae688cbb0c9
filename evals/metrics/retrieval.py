"""Where the gold documents, pages and evidence stand among what was retrieved."""

import re
from collections.abc import Callable, Iterable, Sequence

from evals.metrics.measure import Measure, mean
from evals.questions import Case, Gold
from evals.rows import Pair, Retrieved, Row

CUTS = (1, 3, 5, 10)
SHOWN_CHARACTERS = 4000
GROUP = "retrieval"

_WORD = re.compile(r"\w+")

Rank = Callable[[Case, Row], int | None]


def retrieval(pairs: Sequence[Pair]) -> list[Measure]:
    """Return the measures of documents, pages and evidence among what was retrieved."""
    proven = [case.in_scope and has_evidence(case) for case, _ in pairs]
    shown = [float(evidence_shown(*pair)) if counts else None for pair, counts in zip(pairs, proven, strict=True)]
    return [
        *_ranks("document", pairs, document_rank, lambda case: bool(case.gold)),
        *_ranks("page", pairs, page_rank, has_page),
        *_ranks("evidence chunk", pairs, evidence_rank, has_evidence),
        mean(GROUP, f"evidence in the first {SHOWN_CHARACTERS:,} characters", shown),
    ]


def _ranks(what: str, pairs: Sequence[Pair], rank: Rank, counts: Callable[[Case], bool]) -> list[Measure]:
    counted = [(pair, pair[0].in_scope and counts(pair[0])) for pair in pairs]
    ranks = [(rank(*pair), known) for pair, known in counted]
    hits = [
        mean(GROUP, f"{what} hit@{cut}", [float(hit(found, cut)) if known else None for found, known in ranks])
        for cut in CUTS
    ]
    return [*hits, mean(GROUP, f"{what} MRR@10", [reciprocal(found) if known else None for found, known in ranks])]


def hit_curves(pairs: Sequence[Pair], most: int) -> dict[str, list[tuple[int, float]]]:
    """Return (k, hit@k) up to `most` for documents, pages and evidence, those that some question in scope has."""
    kinds: dict[str, tuple[Rank, Callable[[Case], bool]]] = {
        "document": (document_rank, lambda case: bool(case.gold)),
        "page": (page_rank, has_page),
        "evidence chunk": (evidence_rank, has_evidence),
    }
    found = {}
    for name, (rank, counts) in kinds.items():
        ranks = [rank(case, row) for case, row in pairs if case.in_scope and counts(case)]
        if ranks:
            found[name] = [(k, sum(hit(one, k) for one in ranks) / len(ranks)) for k in range(1, most + 1)]
    return found


def has_page(case: Case) -> bool:
    """Return whether the page of the answer is known."""
    return any(gold.page for gold in case.gold)


def has_evidence(case: Case) -> bool:
    """Return whether the words that prove the answer are known."""
    return any(gold.evidence for gold in case.gold)


def hit(rank: int | None, cut: int) -> bool:
    """Return whether a rank (from 1; None is not found) is within the first `cut`."""
    return rank is not None and rank <= cut


def reciprocal(rank: int | None, cut: int = 10) -> float:
    """Return 1/rank, 0 below the cut or where nothing was found."""
    return 1 / rank if rank is not None and rank <= cut else 0.0


def document_rank(case: Case, row: Row) -> int | None:
    """Return the rank of the first chunk of any gold document."""
    return _first(row["retrieved"], lambda chunk: is_gold(chunk["doc_id"], case))


def page_rank(case: Case, row: Row) -> int | None:
    """Return the rank of the first chunk of a gold document that stands on the page given for it."""
    return _first(row["retrieved"], lambda chunk: any(_on_page(chunk, gold) for gold in case.gold))


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


def _on_page(chunk: Retrieved, gold: Gold) -> bool:
    same = chunk["doc_id"] is not None and _same_document(chunk["doc_id"], gold.doc_id)
    return same and gold.page is not None and chunk["page"] == gold.page


def is_gold(doc_id: str | None, case: Case) -> bool:
    """Return whether the document is one of the case's."""
    return doc_id is not None and any(_same_document(doc_id, gold.doc_id) for gold in case.gold)


def _same_document(doc_id: str, named: str) -> bool:
    # A gold file may be named without its folder.
    return doc_id == named or doc_id.endswith(f"_{named}")


def words(text: str) -> str:
    """Return the words in lower case between single blanks, so that markup and line ends do not matter."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
