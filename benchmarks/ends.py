"""Measure how questions end without a model: `python -m benchmarks.ends [FOLDER] [--kept PATH] [--half]`.

An offline question ends answered, unsure (the closest passages and no statement), or declined. The question sets are
those of `benchmarks.corpora`, answered from what is retrieved with default settings; the traps of evals/traps.jsonl are
asked of the whole service over the sample corpus. A trap counts where an answer holds what its row forbids, or anything
at all where the row forbids nothing by name. `--half` takes weights fitted on half of all questions, and measures the
other half.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wings.offline import OfflineChatModel
from app.wiring import Services
from benchmarks.answerer import examples, fit, holds_evidence
from benchmarks.confidence import KeptEmbeddings, KeptPassages
from benchmarks.corpora import Asked, KeptVectors, arguments, asked, question_sets
from benchmarks.figures import write_figures
from benchmarks.tables import table
from chains import build_chain
from chains.citations import CiteSources
from chains.confidence import CalibratedConfidence
from chains.context import FormatContext
from chains.message_metadata import CLOSEST, UNSURE
from chains.state import Answer, Cited, Confidence, Passage
from evals.metrics import is_declined, is_gold, is_right
from evals.rows import row_of

TRAPS: Final = Path(__file__).parents[1] / "evals" / "traps.jsonl"
SURE: Final = frozenset({"high", "medium"})
ENDS: Final = ("answered", "unsure", "declined")
MOST: Final = 3


@dataclass(frozen=True, slots=True)
class Ended:
    """How a question ended, and whether the answer is right and the gold passage is shown."""

    corpus: str
    in_scope: bool
    end: str
    right: bool
    shown: bool
    sure: bool


class Ends:
    """Answers questions from kept passages, and tells how they end."""

    def __init__(self, services: Services, model: OfflineChatModel) -> None:
        self._services, self._model = services, model
        self._state: dict[str, Any] = {}
        self._rate = CalibratedConfidence()

    def __call__(self, row: Asked) -> Ended:
        """Return how a question ends."""
        settings, tokens = self._services.settings, self._services.tokens
        chain = build_chain(
            retriever=KeptPassages(found=row.documents),
            model=self._model,
            context=FormatContext(max_tokens=settings.prompt.context_tokens, tokens=tokens),
            citations=CiteSources(similarity=self._services.word_similarity),
            confidence=self._kept,
        )
        answer = chain.invoke({"question": row.case.question})
        kept, told = row_of(row.case.id, answer), self._state["message"].response_metadata
        end = "answered" if not is_declined(kept) else "unsure" if told.get(UNSURE) else "declined"
        return Ended(
            corpus="spans" if row.corpus.startswith("spans") else row.corpus,
            in_scope=row.case.in_scope,
            end=end,
            right=is_right(row.case, kept) if not row.corpus.startswith("spans") else self._shows(row, answer, told),
            shown=self._shows(row, answer, told),
            sure=_level(answer) in SURE,
        )

    def _kept(self, state: Cited) -> Confidence:
        self._state = dict(state)
        return self._rate(state)

    def _shows(self, row: Asked, answer: Answer, told: dict[str, Any]) -> bool:
        """Return whether the answer quotes a gold passage, or the closest ones hold it."""
        passages = self._state["context"]["passages"]
        quotes = [one["quote"] for one in answer["citations"] if one["matched"]]
        cited = [one for one in passages if any(quote in one["content"] for quote in quotes)]
        closest = [passages[place] for place in told.get(CLOSEST, range(min(MOST, len(passages))))][:MOST]
        return any(_is_gold(one, row) for one in cited or closest)


def _level(answer: Answer) -> str | None:
    return answer["confidence"]["level"] if answer["confidence"] else None


def _is_gold(passage: Passage, row: Asked) -> bool:
    proven = any(gold.evidence for gold in row.case.gold)
    return is_gold(str(passage["metadata"].get("doc_id")), row.case) and (
        not proven or holds_evidence(passage["content"], row.case)
    )


def sprung(services: Services) -> Iterator[dict[str, Any]]:
    """Yield the traps, each with its answer, its confidence and whether it is sprung."""
    for line in TRAPS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answer = services.chain.invoke({"question": row["question"], "history": row.get("history", [])})
        given = answer["outcome"] in {"answered", "degraded"}
        told = [words for words in row.get("never", [""]) if words in answer["answer"]]
        level = _level(answer)
        yield {**row, "answer": answer["answer"], "given": given, "level": level, "told": bool(given and told)}


COLUMNS: Final = (
    "answerable",
    "answered",
    "unsure",
    "declined",
    "gold shown",
    "right of the answers",
    "sure and wrong",
)


def figures(rows: Sequence[Ended]) -> dict[str, str]:
    """Return the cells of a corpus."""
    inside, outside = ([row for row in rows if row.in_scope is kind] for kind in (True, False))
    given = [row for row in rows if row.end == "answered"]
    ends = [f"{sum(row.end == end for row in inside) / max(1, len(inside)):.2f}" for end in ENDS]
    cells = (
        *(str(len(inside)), *ends),
        _share(inside, lambda row: row.shown),
        _share([row for row in given if row.in_scope], lambda row: row.right),
        _share(rows, lambda row: row.sure and row.end == "answered" and not row.right),
    )
    answered = _share(outside, lambda row: row.end == "answered")
    return {**dict(zip(COLUMNS, cells, strict=True)), "other": str(len(outside)), "others answered": answered}


def _share(rows: Sequence[Ended], holds: Callable[[Ended], bool]) -> str:
    return f"{sum(map(holds, rows)) / len(rows):.2f}" if rows else "-"


def measure(folder: Path, kept: Path, *, half: bool) -> Iterable[Ended]:
    """Yield how the questions of all sets end; with `half` those of the half that the weights do not know."""
    services, ranker, known = Services(load_settings()), None, iter(lambda: False, None)
    if half:
        found = list(examples(folder, kept))
        first = np.random.default_rng(0).random(len(found)) < 0.5
        ranker = fit([row for row, fitted in zip(found, first, strict=True) if fitted])
        known = iter(first.tolist())
    vectors = KeptVectors(services.embedder, kept)
    embeddings = KeptEmbeddings(vectors)
    end = Ends(services, OfflineChatModel(embeddings=embeddings, similarity=services.word_similarity, ranker=ranker))
    for one in question_sets(folder):
        yield from (end(row) for row in asked(one, kept=kept) if not next(known))
        vectors.keep()


def main() -> None:
    """Print both tables."""
    parser = arguments(__doc__)
    parser.add_argument("--half", action="store_true", help="measure the half that the weights are not fitted on")
    given = parser.parse_args()
    configure_logs("warning")
    rows = list(measure(given.folder, given.kept, half=given.half))
    found = {
        name: figures([row for row in rows if row.corpus == name]) for name in sorted({row.corpus for row in rows})
    }
    found["all"] = figures(rows)
    print(table(("corpus", *found["all"]), [[name, *cells.values()] for name, cells in found.items()]))
    traps = list(sprung(Services(load_settings(chroma_path=given.kept / "stores" / "sample", llm_provider="offline"))))
    kinds = {kind: [trap for trap in traps if trap["kind"] == kind] for kind in dict.fromkeys(t["kind"] for t in traps)}
    told = {
        kind: {
            "traps": str(len(some)),
            "quoted": str(sum(trap["told"] for trap in some)),
            "under High or Medium": str(sum(trap["told"] and trap["level"] in SURE for trap in some)),
        }
        for kind, some in kinds.items()
    }
    print(table(("traps", *next(iter(told.values()))), [[name, *cells.values()] for name, cells in told.items()]))
    write_figures("ends", found)
    write_figures("traps", told)


if __name__ == "__main__":
    main()
