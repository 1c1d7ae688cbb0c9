"""Print a table of the citations in recorded answers: `python -m benchmarks.recorded FILE`.

A line of the file holds an answer that a model wrote, and the chunks that it was shown. Each citation is parsed,
matched, verified against the chunk's words, and its section compared with the chunk's own heading; and each answer is
rated by every strategy of confidence, beside the recorded level.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage

from app.adapters.embeddings.onnx.weights import find_weights
from app.adapters.embeddings.onnx.words import WordVectors
from benchmarks.figures import write_figures
from benchmarks.tables import table as markdown
from chains.citations import CiteSources
from chains.citations.references import read_references
from chains.confidence import CalibratedConfidence, CompositeConfidence, ConfidenceStrategy, score_confidence
from chains.state import CitationResult, Confidence, Context, Generated, Passage


def read(path: Path) -> list[dict[str, Any]]:
    """Return the answers that a model wrote."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["llm_called"]]


def passages(row: dict[str, Any]) -> list[Passage]:
    """Return the chunks that the model was shown; a chunk's section is the heading it begins with, if it does."""
    return [_passage(chunk) for chunk in row["retrieved_chunks_reconstructed_exact"]]


def _passage(chunk: dict[str, Any]) -> Passage:
    first = chunk["text"].splitlines()[0]
    recorded = chunk["subsection_header"] or chunk["section_header"]
    section = first.lstrip("# ").strip() if first.startswith("#") else recorded
    metadata = {"title": chunk["title"], "section": section, "doc_id": chunk["doc_id"]}
    return Passage(content=chunk["text"], metadata=metadata, score=chunk["score"])


def cite(row: dict[str, Any]) -> CitationResult:
    """Return what stage 4 makes of a recorded answer."""
    return CiteSources(markers_suffice=True, similarity=WordVectors(find_weights()))(_generated(row))


def rate(row: dict[str, Any]) -> dict[str, Confidence]:
    """Return what stage 5 makes of a recorded answer, by strategy."""
    state: Any = {**_generated(row), **cite(row)}
    strategies: dict[str, ConfidenceStrategy] = {
        "tiered": score_confidence,
        "composite": CompositeConfidence(),
        "calibrated": CalibratedConfidence(),
    }
    return {name: strategy(state) for name, strategy in strategies.items()}


def levels(rows: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Return the level of each answer as it was recorded, and by every strategy."""
    return {
        row["id"]: {"recorded": row["confidence"]["level"]}
        | {name: f"{one['level']} {one['score']:.2f}" for name, one in rate(row).items()}
        for row in rows
    }


def _generated(row: dict[str, Any]) -> Generated:
    shown = passages(row)
    return Generated(
        question=row["query"],
        documents=shown,
        context=Context(text="", passages=shown),
        message=AIMessage(row["answer"]),
        answer=row["answer"],
    )


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the table, a row for each citation that the model wrote, and the sums below it."""
    yield "| answer | citation as written | matched document | section | support |"
    yield "|---|---|---|---|---|"
    marked = [
        (row["id"], citation) for row in rows for citation in cite(row)["citations"] if not citation["attributed"]
    ]
    for name, citation in marked:
        document = citation["doc_id"] if citation["matched"] else ("contradicted" if citation["contradicted"] else "-")
        section = citation["section"] if citation["matched"] else "-"
        yield f"| {name} | `{citation['raw']}` | {document} | {section} | {citation['support']:.2f} |"
    matched = [citation for _, citation in marked if citation["matched"]]
    attributed = sum(citation["attributed"] for row in rows for citation in cite(row)["citations"])
    parsed = sum(len(read_references(row["answer"], passages(row))[0]) for row in rows)
    named = sum(citation["section"] is not None for citation in matched)
    yield ""
    yield (
        f"{parsed} citations parsed in {len(rows)} answers, {len(matched)} matched, {named} of them with a section "
        f"that exists; {attributed} sentences without citation were attributed."
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    rows = read(parser.parse_args().file)
    print("\n".join(table(rows)))
    rated = levels(rows)
    lines = [(name, *cells.values()) for name, cells in rated.items()]
    print(f"\n{markdown(('answer', *rated[rows[0]['id']]), lines)}")
    write_figures("recorded", rated)


if __name__ == "__main__":
    main()
