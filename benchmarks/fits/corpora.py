"""Question sets over documents that are not part of the project, each with what is retrieved for it.

Documents are indexed and questions searched once, with the settings in force; what was found is kept in a folder, so
that a model can be fitted again and again. The sets are looked for in FOLDER: kb/waypoint with eval/waypoint, and
eval/clapnq, eval/mtrag, eval/chunk_spans and eval/tables, each with the documents and the questions that its maker
gives. Beside them stand those of this project: evals/questions.jsonl and evals/reading.
"""

import argparse
import csv
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_classic.storage import LocalFileStore
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from app.settings import load_settings
from app.wings.offline import OfflineChatModel
from app.wiring import open_service, sample_corpus
from app.wiring.models import word_similarity
from benchmarks.figures import ROOT
from benchmarks.offline import QUESTIONS
from chains import build_chain
from chains.citations import CiteSources
from chains.history import turns_of
from chains.ingestion.text_files import load_markdown
from chains.reformulation import standalone
from chains.retrieval.passages import retrieve
from chains.state import Answer, Passage
from evals.questions import Case, Gold, read_questions

SHARED = ROOT.parent / "shared"
READING = ROOT / "evals" / "reading"
LONGEST_PROOF = 300  # Characters of evidence that an answer can quote.
HANDED_OVER = 0.8  # The similarity of a document that comes with its question.
_KINDS = dict.fromkeys(("yesno", "conditions", "premise"), "answerable")
KEPT = Path(tempfile.gettempdir()) / "waypoint-corpora"


def arguments(description: str | None, *, sets: bool = False) -> argparse.Namespace:
    """Return what a command over the question sets is given; with `sets` some of them may be named."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED)
    parser.add_argument("--kept", type=Path, default=KEPT, help="where what was retrieved is kept")
    if sets:
        parser.add_argument("--sets", nargs="*", default=[], help="only these")
        parser.add_argument("--missed", action="store_true", help="print what is not answered rightly")
    return parser.parse_args()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a corpus, what was retrieved for it, and a reference answer where the set gives one.

    `any_of` are strings of which a right answer holds one; `wrong` are some that stand in a wrong one.
    """

    corpus: str
    case: Case
    documents: list[Passage]
    reference: str = ""
    any_of: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    held: bool = False

    @property
    def is_judged(self) -> bool:
        """Return whether it can be told from the words of an answer whether it is right."""
        proofs = [gold.evidence for gold in self.case.gold if gold.evidence and len(gold.evidence) < LONGEST_PROOF]
        return not self.case.in_scope or bool(self.any_of or self.case.answer_facts or proofs)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Documents, and questions about them; `corpus` is a field of a question that tells corpora apart."""

    name: str
    documents: Path
    questions: Path
    corpus: str = ""


def question_sets(folder: Path) -> Iterator[QuestionSet]:
    """Yield the sets that are there, and that of the sample corpus."""
    spans = folder / "eval" / "chunk_spans"
    known = (
        QuestionSet("sample", sample_corpus(), QUESTIONS),
        QuestionSet("freight", folder / "kb" / "waypoint", folder / "eval" / "waypoint" / "questions.jsonl"),
        QuestionSet("clapnq", folder / "eval" / "clapnq" / "corpus", folder / "eval" / "clapnq" / "questions.jsonl"),
        QuestionSet(
            "mtrag", folder / "eval" / "mtrag" / "corpus", folder / "eval" / "mtrag" / "questions.jsonl", "collection"
        ),
        *(QuestionSet(f"spans_{name}", spans / f"{name}.md", spans / "questions.csv")
          for name in ("chatlogs", "finance", "pubmed", "state_of_the_union", "wikitexts")),
        *(QuestionSet(name.stem, READING / "corpora" / name.stem, name.with_suffix(".questions.jsonl"))
          for name in sorted((READING / "corpora").glob("*")) if name.is_dir()),
        QuestionSet("tables", READING / "tables.jsonl", READING / "tables.jsonl"),
        *(QuestionSet(file.stem, file, file, "set") for file in sorted((folder / "eval" / "tables").glob("*.jsonl"))),
    )  # fmt: skip
    return (one for one in known if one.documents.exists() and one.questions.is_file())


def cases_of(one: QuestionSet) -> list[Case]:
    return read_questions(one.questions) if one.questions.suffix == ".jsonl" else [_case(row) for row in _rows(one)]


def asked(one: QuestionSet, *, kept: Path = KEPT) -> list[Asked]:
    """Return the questions of a set with what is retrieved for them, from the folder where it was kept before."""
    file = kept / f"{one.name}.jsonl"
    if not file.is_file():
        kept.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(".part")
        with partial.open("w", encoding="utf-8") as written:
            for row in _search(one, kept / "stores" / one.name):
                written.write(json.dumps(row) + "\n")
        partial.rename(file)
    with file.open(encoding="utf-8") as lines:
        return [_asked(json.loads(line)) for line in lines]


def _search(one: QuestionSet, store: Path) -> Iterator[dict[str, Any]]:
    if one.documents == one.questions:  # Each question brings its document.
        for row in _rows(one):
            metadata = {"doc_id": row["id"], "title": row["title"]}
            text = _as_ingested(row.get("document") or row["text"])
            passage = Passage(content=text, metadata=metadata, score=HANDED_OVER)
            row["gold"] = [{"doc_id": row["id"]}] if row.get("answers") or row.get("answer") else []
            row["kind"] = "answerable" if row["gold"] else "uncovered"
            yield {"corpus": row.get(one.corpus, one.name), "row": row, "documents": [passage]}
        return
    services = open_service(load_settings(chroma_path=store))
    services.index.ingest([one.documents])
    search = retrieve(services.answerer.retriever)
    for row in _rows(one):
        corpus = f"{one.name}_{row[one.corpus]}" if one.corpus else one.name
        asked_for = standalone(row["question"], turns_of(row.get("history") or []))
        row["question"] = asked_for
        yield {"corpus": corpus, "row": row, "documents": search.invoke({"question": asked_for})}


def _as_ingested(text: str) -> str:
    """Return a document as its reader hands it on: a table in HTML becomes one in Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "document.md")
        file.write_text(text, encoding="utf-8")
        return load_markdown(file).text


def _rows(one: QuestionSet) -> Iterator[dict[str, Any]]:
    if one.questions.suffix == ".jsonl":
        with one.questions.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines)
        return
    csv.field_size_limit(2**24)
    with one.questions.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            if row["corpus_id"] == one.documents.stem:
                found = [reference["content"] for reference in json.loads(row["references"])]
                gold = [{"doc_id": one.documents.stem, "evidence": text} for text in found]
                yield {"id": str(number), "question": row["question"], "kind": "answerable", "gold": gold}


def kept_vectors(embeddings: Embeddings, kept: Path) -> CacheBackedEmbeddings:
    """Return the embeddings; vectors of texts that were embedded before come from files."""
    return CacheBackedEmbeddings.from_bytes_store(
        embeddings, LocalFileStore(kept / "vectors"), query_embedding_cache=True, key_encoder="sha256"
    )


def answered(row: Asked, model: OfflineChatModel, confidence: Any, **stages: Any) -> Answer:
    """Return the answer to a question from the passages that were retrieved for it."""
    found = [Document(one["content"], metadata=one["metadata"] | {"score": one["score"]}) for one in row.documents]
    citations = CiteSources(similarity=word_similarity())
    chain = build_chain(retriever=lambda _: found, model=model, citations=citations, confidence=confidence, **stages)
    return chain.invoke({"question": row.case.question})


def holds(text: str, row: Asked) -> bool:
    """Return whether a text holds one of the strings that answer, or all facts; else half of some evidence's words."""
    said = _plain(text)
    if row.any_of:
        return any(_plain(answer) in said for answer in row.any_of)
    if row.case.answer_facts:
        return all(_plain(fact) in said for fact in row.case.answer_facts)
    return any(_plain(gold.evidence) in said for gold in row.case.gold if gold.evidence)


def _plain(text: str | None) -> str:
    return "".join(letter for letter in (text or "").lower() if letter.isalnum() or letter in "%.$£€")


def _asked(kept: dict[str, Any]) -> Asked:
    row = kept["row"]
    answer = [row["answer"]] if row.get("answer") else []
    return Asked(
        kept["corpus"],
        _case(row),
        kept["documents"],
        row.get("reference") or "",
        tuple(row.get("answers") or answer),
        tuple(row.get("wrong") or ()),
        row.get("split") == "held",
    )


def _case(row: dict[str, Any]) -> Case:
    return Case(
        id=row["id"],
        question=row["question"],
        kind=_KINDS.get(row["kind"], row["kind"]),
        gold=tuple(
            Gold(gold.get("doc_id") or Path(gold["file"]).stem, gold.get("section"), gold.get("evidence"))
            for gold in row.get("gold") or ()
        ),
        answer_facts=tuple(row.get("answer_facts") or row.get("facts") or ()),
    )
