"""Compare the ways to find passages on every question set: `python -m benchmarks.ways FOLDER`.

Each row is a way on a set: how often the evidence (else the page, else the document) is first, among five and among
ten, by how much that differs from the first way with its 95 % interval (paired bootstrap), and what it costs. Questions
go through the same reformulation as in an answer. Each corpus is indexed once; `benchmarks.fits.corpora` says which are
part of the project. `--model` asks a model of docs/models.md where a deployment with a language model would.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, cast

import numpy as np
from langchain_core.runnables.base import coerce_to_runnable

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Service, open_service, sample_corpus
from app.wiring.models import retriever_of
from benchmarks.fits.corpora import KEPT, READING, SHARED, QuestionSet, cases_of, question_sets
from benchmarks.models.weights import MODELS, model_server
from benchmarks.tables import table
from chains.retrieval.passages import retrieve
from chains.state import Passage, Question, Searching
from evals.metrics.measure import SAMPLES, Numbers, interval, resamples
from evals.metrics.retrieval import document_rank, evidence_rank, has_evidence, has_page, hit, page_rank
from evals.questions import Case
from evals.rows import Row, retrieved_of

EVALS = Path(__file__).parents[1] / "evals"
OWN = {
    "follow-ups": "followups",
    "hard follow-ups": "followups_hard",
    "changes of topic": "topics",
    "languages": "languages",
}
CUTS = (1, 5, 10)
HEADS = ("set", "way", "n", "@1", "@5", "@10", "change @1", "change @5", "ms", "MB", "ingestion s")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a way finds, 1 or 0 by question and cut, shape (questions, cuts), and what it costs."""

    hits: Numbers
    ms: float
    megabytes: float
    ingestion_s: float


WAYS: dict[str, dict[str, Any]] = {
    "hybrid": {},
    "hybrid, follow-ups as typed": {"enable_query_reformulation": "off"},
    "similarity": {"retriever_type": "similarity"},
    "mmr": {"retriever_type": "mmr"},
}
"""The ways by name: the settings in which they differ from the default. The others are compared with the first."""


def main() -> None:
    configure_logs("error")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED)
    parser.add_argument("--kept", type=Path, default=KEPT / "ways", help="where the indexes are kept")
    parser.add_argument("--sets", nargs="*", help="only these")
    parser.add_argument("--model", choices=MODELS, help="asked for follow-ups and translations; by default none is")
    given = parser.parse_args()
    print(table(HEADS, ()), flush=True)
    pooled: dict[str, list[Measured]] = {}
    with asked_model(given.model) as model:
        for one in sets(given.folder):
            if given.sets and one.name not in given.sets:
                continue
            cases = [case for case in cases_of(one) if case.in_scope and case.gold]
            found = {way: measure(one, cases, model | settings, given.kept) for way, settings in WAYS.items()}
            for way, measured in found.items():
                pooled.setdefault(way, []).append(measured)
            print(lines(one.name, found), flush=True)
    print(lines("all", {way: together(parts) for way, parts in pooled.items()}))


@contextmanager
def asked_model(name: str | None) -> Iterator[dict[str, Any]]:
    """Yield the settings of the language model, its server running; without a name those of none.

    Raises:
        WeightsError: the model is not on this machine.
    """
    if name is None:
        yield {"llm_provider": "offline"}
        return
    with model_server(MODELS[name]) as server:
        yield {"llm_provider": "llama-cpp", "llm_base_url": server.url, "llm_model": server.model}


def sets(folder: Path) -> Iterator[QuestionSet]:
    # Those of reading name facts and no evidence; the others bring the document with the question.
    yield from (
        one for one in question_sets(folder) if one.documents != one.questions and READING not in one.documents.parents
    )
    for name, file in OWN.items():
        yield QuestionSet(name, sample_corpus(), EVALS / f"{file}.jsonl")
    more = (
        QuestionSet("freight follow-ups", folder / "kb" / "waypoint", EVALS / "followups_waypoint.jsonl"),
        QuestionSet("freight topics", folder / "kb" / "waypoint", EVALS / "topics_waypoint.jsonl"),
        QuestionSet("filings", folder / "eval" / "finance" / "corpus", folder / "eval" / "finance" / "questions.jsonl"),
    )
    yield from (one for one in more if one.documents.exists() and one.questions.is_file())


def measure(one: QuestionSet, cases: Sequence[Case], way: Mapping[str, Any], kept: Path) -> Measured:
    """Return what a way finds for the questions of a set; the documents are indexed where that was not done yet."""
    place = kept / f"{one.documents.parent.name}_{one.documents.stem}"
    services = open_service(load_settings(_env_file=None, chroma_path=place, **way))
    seconds = place / "ingestion_s"
    if not seconds.is_file():
        started = time.perf_counter()
        services.index.ingest([one.documents])
        seconds.write_text(f"{time.perf_counter() - started:.0f}", encoding="utf-8")
    ask = asking(services)
    ask(cases[0])  # What is loaded for the first question is no time of its own.
    hits, laps = [], []
    for case in cases:
        started = time.perf_counter()
        found = ask(case)
        laps.append(1000 * (time.perf_counter() - started))
        hits.append([float(hit(gold_rank(case, found), cut)) for cut in CUTS])
    size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
    return Measured(np.array(hits), median(laps), size / 1e6, float(seconds.read_text(encoding="utf-8")))


def asking(services: Service) -> Callable[[Case], list[Passage]]:
    """Return what finds the passages of a question, caches and scope gate apart."""
    settings, index = services.settings, services.index.current()
    search = retrieve(retriever_of(settings, store=index, words=index, model=services.answerer.model))

    def ask(case: Case) -> list[Passage]:
        state = Question(question=case.question, history=list(case.history))
        reformulated = coerce_to_runnable(services.answerer.reformulation).invoke(state)
        return search.invoke(cast("Searching", {**state, **reformulated}))

    return ask


def gold_rank(case: Case, passages: Sequence[Passage]) -> int | None:
    """Return the rank of the first passage with the evidence; of the page or the document where no more is known."""
    rank = evidence_rank if has_evidence(case) else page_rank if has_page(case) else document_rank
    return rank(case, cast("Row", {"retrieved": retrieved_of(passages)}))


def together(parts: Sequence[Measured]) -> Measured:
    size, seconds = (sum(getattr(one, name) for one in parts) for name in ("megabytes", "ingestion_s"))
    return Measured(np.concatenate([one.hits for one in parts]), median(one.ms for one in parts), size, seconds)


def lines(name: str, found: Mapping[str, Measured]) -> str:
    """Return the rows of a set; the first way is the one that the others are compared with."""
    first = next(iter(found.values()))
    rows = []
    for way, one in found.items():
        shares = [f"{share:.2f}" for share in one.hits.mean(axis=0)]
        changes = ["", ""] if one is first else [change(one.hits[:, cut] - first.hits[:, cut]) for cut in (0, 1)]
        costs = (f"{one.ms:.1f}", f"{one.megabytes:.1f}", f"{one.ingestion_s:.0f}")
        rows.append((name, way, len(one.hits), *shares, *changes, *costs))
    return "\n".join(table(HEADS, rows).splitlines()[2:])


def change(by: Numbers) -> str:
    low, high = interval(by[resamples(len(by), SAMPLES, seed=0)].mean(axis=1)) or (0.0, 0.0)
    return f"{by.mean():+.3f} ({low:+.3f} to {high:+.3f})"


if __name__ == "__main__":
    main()
