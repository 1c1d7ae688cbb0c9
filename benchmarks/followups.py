"""Compare what is searched for in a conversation: the last turn as it is, all turns joined, and our search query.

Run it as `python -m benchmarks.followups [FOLDER] [--indexes PATH]`. The sample corpus and its follow-ups are part of
the project; FOLDER, by default `shared` beside the checkout, may hold kb/waypoint and eval/mtrag, whose rows are left
out where they are missing. Each corpus is indexed once, below PATH. No language model is called.

A question set counts where the words that prove the answer are found (evidence), or, where a set has none, the gold
passage. The intervals are of the difference, by paired bootstrap over the questions. The row `stand alone` asks each
question of the sample's set behind an answered question on something else: it must lose nothing.
"""

import argparse
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import thread_time
from typing import Any, cast

import numpy as np

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Services, sample_corpus
from benchmarks.figures import write_figures
from benchmarks.tables import table
from chains.history import turns_of
from chains.reformulation import standalone
from chains.reformulation.terms import terms
from chains.retrieval import passage
from chains.text.tokens import tokens
from evals.metrics.measure import SAMPLES, interval, resamples
from evals.metrics.retrieval import document_rank, evidence_rank
from evals.questions import PACKAGED, Case, read_questions
from evals.rows import Row, retrieved_of

ROOT = Path(__file__).parents[1]
EVALS = ROOT / "evals"
WAYS = ("last turn", "turns joined", "ours")
HEAD = ("questions", "", "n", *WAYS, "ours - last turn", "ours - joined")
CUTS = (1, 5)
OWN = "own follow-ups"


def main() -> None:
    """Measure, print the table, and keep it for docs/conversation.md."""
    configure_logs("warning")
    options = _options()
    sets = list(_question_sets(options.folder))
    ranks = {name: _ranks(cases, _indexed(options.indexes / corpus.name, corpus)) for name, cases, corpus in sets}
    ranks[f"all {OWN}"] = np.hstack([found for name, found in ranks.items() if name.endswith(OWN)])
    rows = [_line(name, cut, found <= cut) for name, found in ranks.items() for cut in CUTS]
    values = {"rows": rows, "cost_ms": _cost_ms([case for _, cases, _ in sets for case in cases])}
    print(table(HEAD, rows), f"\n\n{values['cost_ms']}")
    write_figures("followups", values)


def _options() -> Any:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--indexes", type=Path, default=Path(tempfile.gettempdir()) / "waypoint-followups")
    return parser.parse_args()


def _question_sets(folder: Path) -> Iterable[tuple[str, list[Case], Path]]:
    """Yield the name of each set, its follow-ups, and its corpus."""
    questions = read_questions(PACKAGED["sample"])
    yield "sample, own follow-ups", _followups(EVALS / "followups.jsonl"), sample_corpus()
    yield "sample, of its question set", [case for case in questions if case.kind == "followup"], sample_corpus()
    yield (
        "sample, stand alone",
        _behind_another([case for case in questions if case.kind == "answerable"]),
        sample_corpus(),
    )
    waypoint, mtrag = folder / "kb" / "waypoint", folder / "eval" / "mtrag"
    if waypoint.is_dir():
        yield "freight desk, own follow-ups", _followups(EVALS / "followups_waypoint.jsonl"), waypoint
    if mtrag.is_dir():
        yield "mtrag", _followups(mtrag / "questions.jsonl"), mtrag / "corpus"


def _followups(path: Path) -> list[Case]:
    return [case for case in read_questions(path) if case.kind == "followup" and case.history]


def _behind_another(cases: Sequence[Case]) -> list[Case]:
    """Return each question behind another one, halfway through the set, and its answer."""
    others = [*cases[len(cases) // 2 :], *cases[: len(cases) // 2]]
    return [replace(case, history=_exchange(other)) for case, other in zip(cases, others, strict=True)]


def _exchange(case: Case) -> tuple[dict[str, str], ...]:
    answer = case.gold[0].evidence or "That is written in the guide."
    return {"role": "user", "content": case.question}, {"role": "assistant", "content": answer}


def _indexed(index: Path, corpus: Path) -> Services:
    services = Services(load_settings(_env_file=None, chroma_path=index))
    services.ingest([corpus])
    return services


def _ranks(cases: Sequence[Case], services: Services) -> Any:
    """Return the rank of each question in each way, shape (ways, questions)."""
    ways = (_last_turn, _joined, partial(_ours, services))
    return np.array([[_rank(case, services, way(case)) for case in cases] for way in ways])


def _line(name: str, cut: int, hits: Any) -> Sequence[str]:
    """Return the share of hits in each way, and how far ours is ahead."""
    *others, ours = hits.astype(float)
    ahead = [_difference(ours - other) for other in others]
    return [name, f"hit@{cut}", str(len(ours)), *(f"{one.mean():.2f}" for one in (*others, ours)), *ahead]


def _difference(values: Any) -> str:
    picks = resamples(len(values), SAMPLES, seed=0)
    low, high = interval(values[picks].mean(axis=1)) or (0.0, 0.0)
    return f"{values.mean():+.2f} ({low:+.2f} to {high:+.2f})"


def _rank(case: Case, services: Services, query: str) -> float:
    """Return the rank of what proves the answer, infinity where it was not found."""
    found = services.retriever.invoke(query, top_k=10)
    row = cast("Row", {"retrieved": retrieved_of([passage(document) for document in found])})
    rank = evidence_rank if any(gold.evidence for gold in case.gold) else document_rank
    return rank(case, row) or float("inf")


def _last_turn(case: Case) -> str:
    return case.question


def _joined(case: Case) -> str:
    return " ".join([*(turn.text for turn in turns_of(case.history) if turn.role == "user"), case.question])


def _ours(services: Services, case: Case) -> str:
    return standalone(case.question, turns_of(case.history), services.word_similarity)


def _cost_ms(cases: Sequence[Case]) -> dict[str, float]:
    """Return the median and the 95th percentile of the rule's processor time over conversations that it reads anew."""
    similarity = Services(load_settings(_env_file=None)).word_similarity
    times = []
    for _ in range(2):
        times = [_timed(case, similarity) for case in cases]
    return {"p50": round(float(np.percentile(times, 50)), 2), "p95": round(float(np.percentile(times, 95)), 2)}


def _timed(case: Case, similarity: Any) -> float:
    tokens.cache_clear()
    terms.cache_clear()
    started = thread_time()
    standalone(case.question, turns_of(case.history), similarity)
    return 1000 * (thread_time() - started)


if __name__ == "__main__":
    main()
