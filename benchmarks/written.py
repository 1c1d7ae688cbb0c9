"""Measure what becomes of answers that language models wrote: `python -m benchmarks.written [FOLDER]`.

Each answer has a developer's label and goes through the chain as if a model had just written it, over what is retrieved
for its question. The table tells under which level the right and the wrong ones are shown; `not shown` are those that
are replaced, because no source supports them. `fluent` are those of evals/reading/answers.jsonl, right ones in other
words than the documents' and wrong ones with one slip; the others small models wrote (tests/evals).
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListChatModel

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wings.offline import OfflineChatModel, quoted_instead
from app.wiring import open_service
from app.wiring.models import word_similarity
from benchmarks.figures import ROOT, report
from benchmarks.fits.corpora import READING, arguments, asked, holds, kept_vectors, question_sets
from benchmarks.tables import table
from chains import build_chain
from chains.citations import CiteSources
from chains.confidence.calibrated import CalibratedConfidence
from chains.retrieval.strategies import cosines
from chains.state import Answer

TESTS = ROOT / "tests" / "evals"
LEVELS: Final = ("high", "medium", "low", "not shown")
HEAD: Final = ("answers", "right", *LEVELS, "wrong", *LEVELS)


class Written(NamedTuple):
    """An answer, with a developer's label, and the documents of its question, each with its similarity."""

    group: str
    question: str
    documents: Sequence[Mapping[str, Any]]
    text: str
    right: bool


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def written(folder: Path, kept: Path, vectors: Embeddings) -> Iterator[Written]:
    """Yield the answers of evals/reading/answers.jsonl, and those of small models."""
    rows = _rows(READING / "answers.jsonl")
    known = {row["corpus"] for row in rows} | {"sample"}
    sets = [one for one in question_sets(folder) if one.name in known]
    cases = {(one.name, row.case.id): row for one in sets for row in asked(one, kept=kept)}
    for row in rows:
        case = cases[row["corpus"], row["question"]]
        group = "fluent, held back" if row.get("split") == "held" else "fluent"
        yield Written(group, case.case.question, case.documents, row["answer"], row["right"])
    for row in _rows(TESTS / "model_replies.jsonl"):
        case = cases["sample", row["id"]]
        right = case.case.in_scope and holds(row["reply"], case)
        yield Written("replies of a small model", case.case.question, case.documents, row["reply"], right)
    passages = _rows(TESTS / "model_passages.jsonl")
    for row in _rows(TESTS / "model_answers.jsonl"):
        shown = [passages[place] for place in row["shown"]]
        texts = np.array(vectors.embed_documents([passage["content"] for passage in shown]))
        near = cosines(texts, vectors.embed_query(row["question"])).tolist()
        shown = [passage | {"score": score} for passage, score in zip(shown, near, strict=True)]
        for one in row["answers"]:
            yield Written("answers of small models", row["question"], shown, one["text"], one["right"])


def main() -> None:
    given = arguments(__doc__)
    configure_logs("error")
    vectors = kept_vectors(open_service(load_settings()).index.embedder, given.kept)
    model = OfflineChatModel(embeddings=vectors, similarity=word_similarity())
    citations = CiteSources(similarity=word_similarity(), reader=partial(quoted_instead, model))

    def answer(one: Written) -> Answer:
        found = [
            Document(each["content"], metadata=each["metadata"] | {"score": each["score"]}) for each in one.documents
        ]
        llm = FakeListChatModel(responses=[one.text])
        stages: dict[str, Any] = {"citations": citations, "confidence": CalibratedConfidence()}
        return build_chain(retriever=lambda _: found, model=llm, **stages).invoke({"question": one.question})

    counts = Counter((one.group, one.right, level(answer(one))) for one in written(given.folder, given.kept, vectors))
    rows: list[list[Any]] = []
    for group in dict.fromkeys(group for group, _, _ in counts):
        right, wrong = ([counts[group, is_right, name] for name in LEVELS] for is_right in (True, False))
        rows.append([group, sum(right), *right, sum(wrong), *wrong])
    report("written", table(HEAD, rows))


def level(answer: Answer) -> str:
    """Return the level under which an answer is shown as its model wrote it; "very low" is low."""
    if answer["outcome"] != "answered" or not answer["confidence"]:
        return "not shown"
    return {"very_low": "low"}.get(answer["confidence"]["level"], answer["confidence"]["level"])


if __name__ == "__main__":
    main()
