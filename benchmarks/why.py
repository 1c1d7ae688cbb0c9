"""Lose documents on purpose, and count how often `waypoint why` names the place: `python -m benchmarks.why`.

The questions of evals/questions.jsonl that one document answers are asked offline over the sample corpus. Where the
answer cites that document, one fault is injected at a time: the document is missing from the index, is internal, is of
another jurisdiction, holds other words, is below the threshold, or the answer is withheld. Of the document that the
search found next, two are injected: too few passages are asked for, or too few fit into the prompt.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from app.wings.knowledge.why import Place, why
from app.wiring import Services, sample_corpus
from benchmarks.offline import QUESTIONS, offline, report
from evals.questions import read_questions


class Asked(NamedTuple):
    """A question, and the document that its answer cites."""

    question: str
    doc_id: str


class Fault(NamedTuple):
    """A fault that was injected, and the place that was named."""

    injected: Place
    named: Place


def main() -> None:
    """Inject the faults, print the table, and keep it in docs/figures.json."""
    with tempfile.TemporaryDirectory() as place:
        faults = list(_faults(Path(place)))
    right = Counter(fault.injected for fault in faults if fault.named == fault.injected)
    every = Counter(fault.injected for fault in faults)
    rows = [(injected, number, right[injected], _instead(faults, injected)) for injected, number in every.items()]
    counts = {"injected": len(faults), "named": sum(right.values())}
    report("why", ("fault", "injected", "named", "named instead"), rows, **counts)
    share = sum(right.values()) / len(faults)
    print(f"named: {sum(right.values())} of {len(faults)} ({share:.3f})")


def _instead(faults: list[Fault], injected: Place) -> str:
    others = Counter(fault.named for fault in faults if fault.injected == injected != fault.named)
    return ", ".join(f"{place} {number}" for place, number in others.most_common())


def _faults(place: Path) -> Iterator[Fault]:
    whole = offline(place / "whole", sample_corpus())
    asked = [one for one in _single(whole) if why(*one, whole).place == "cited"]
    without = {doc_id: offline(place / f"without-{doc_id}", _corpus(place, doc_id, "")) for doc_id in _few(asked)}
    empty = "Ferrets sleep for eighteen hours each day."
    wordless = {doc_id: offline(place / f"words-{doc_id}", _corpus(place, doc_id, empty)) for doc_id in _few(asked)}
    high, strict = _with(whole, relevance_threshold=0.97), _with(whole, min_citations=20)
    short = _with(whole, max_context_tokens=60)
    for question, doc_id in asked:
        if doc_id in without:
            yield Fault("not read", why(question, doc_id, without[doc_id]).place)
            yield Fault("no passage", why(question, doc_id, wordless[doc_id]).place)
        if whole.library.catalogue().entries[doc_id].audience == "internal":
            yield Fault("audience", why(question, doc_id, whole, audience="public").place)
        yield Fault("jurisdiction", why(question, doc_id, whole, jurisdiction="Atlantis").place)
        if _best(whole, question, doc_id) < 0.97:
            yield Fault("threshold", why(question, doc_id, high).place)
        yield Fault("withheld", why(question, doc_id, strict).place)
        for other, rank in _later(whole, question):
            yield Fault("outranked", why(question, other, whole, top_k=rank - 1).place)
            yield Fault("cut", why(question, other, short).place)


def _with(services: Services, **settings: Any) -> Services:
    return Services(services.settings.replace(**settings), serving=False)


def _single(services: Services) -> Iterator[Asked]:
    """Yield the questions that one document answers."""
    entries = services.library.catalogue().entries
    for row in read_questions(QUESTIONS):
        documents = {gold.doc_id for gold in row.gold}
        if len(documents) == 1 and not row.history and documents <= entries.keys():
            yield Asked(row.question, documents.pop())


def _few(asked: list[Asked]) -> list[str]:
    """Return the documents that are asked for most."""
    return [doc_id for doc_id, _ in Counter(one.doc_id for one in asked).most_common(3)]


def _corpus(place: Path, doc_id: str, text: str) -> Path:
    """Return a copy of the sample corpus with a document that says something else, or without it."""
    corpus = place / f"corpus-{doc_id}-{bool(text)}" / sample_corpus().name
    shutil.copytree(sample_corpus(), corpus)
    file = next(one for one in corpus.rglob("*.md") if f"{one.parent.name}_{one.stem}" == doc_id)
    file.unlink()
    if text:
        file.write_text(f"# Ferrets\n\n{text}\n", encoding="utf-8")
    return corpus


def _later(services: Services, question: str) -> list[tuple[str, int]]:
    """Return the second document of a search, which others hide when there is less room, and its rank."""
    found = services.chain.invoke({"question": question})["documents"]
    ranks: dict[str, int] = {}
    for rank, one in enumerate(found, 1):
        ranks.setdefault(str(one["metadata"]["doc_id"]), rank)
    return list(ranks.items())[1:2]


def _best(services: Services, question: str, doc_id: str) -> float:
    found = services.chain.invoke({"question": question})["documents"]
    return max((one["score"] or 0 for one in found if one["metadata"].get("doc_id") == doc_id), default=1)


if __name__ == "__main__":
    main()
