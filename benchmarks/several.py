"""Measure messages with several questions: `python -m benchmarks.several [--kept PATH]`.

Each message of evals/parts.jsonl is asked offline over the sample corpus, as it is and with its questions split. A gold
passage is in the context where it is among what the model is shown, in the answer where a citation's passage holds it
(of a numbered answer: one in the question's own paragraph), and reached where the closest passages do.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Services
from benchmarks.corpora import KEPT
from benchmarks.figures import write_figures
from benchmarks.tables import table
from chains.citations.paragraphs import paragraphs
from chains.context import format_context
from chains.reformulation import split_questions
from chains.state import Answer

MESSAGES: Final = Path(__file__).parents[1] / "evals" / "parts.jsonl"


def messages() -> list[dict[str, Any]]:
    """Return the messages, each with the gold passage of each of its questions, None where no document answers it."""
    return [json.loads(line) for line in MESSAGES.read_text(encoding="utf-8").splitlines()]


def reached(answer: Answer, part: int, parts: list[dict[str, str] | None], services: Services) -> dict[str, bool]:
    """Return where the gold passage of a question is found; of one without, whether it is answered."""
    bounds = paragraphs(answer["answer"], len(parts))
    start, end = bounds[part] if len(bounds) > 1 else (0, len(answer["answer"]))
    cited = [one for one in answer["citations"] if one["matched"] and start <= one["start"] < end]
    gold = parts[part]
    if gold is None:
        return {"answered though no document does": bool(cited)}
    tokens = services.tokens
    shown = format_context(answer["documents"], max_tokens=services.settings.prompt.context_tokens, tokens=tokens)
    proven = [
        one["content"]
        for one in shown["passages"]
        if one["metadata"]["doc_id"] == gold["doc_id"] and gold["evidence"] in one["content"]
    ]
    answered = _quoted(cited, proven)
    return {
        "in the context": bool(proven),
        "in the answer": answered,
        "in the answer or closest": answered or _quoted(answer["closest"], proven),
    }


def _quoted(quotes: Iterable[Mapping[str, Any]], passages: list[str]) -> bool:
    return any(one["quote"] in passage for one in quotes for passage in passages)


def measure(kept: Path, reformulation: str) -> dict[str, dict[str, str]]:
    """Return the shares of gold passages found, for messages of one question and of several."""
    folder = kept / "stores" / "sample"
    settings = load_settings(chroma_path=folder, llm_provider="offline", enable_query_reformulation=reformulation)
    services = Services(settings, serving=False)
    services.ingest([])
    found: dict[str, list[dict[str, bool]]] = {"one question": [], "several questions": []}
    for row in messages():
        answer, parts = services.chain.invoke({"question": row["question"]}), row["parts"]
        kind = "several questions" if len(parts) > 1 else "one question"
        found[kind] += [reached(answer, part, parts, services) for part in range(len(parts))]
    return {kind: _shares(rows) for kind, rows in found.items()}


def _shares(rows: list[dict[str, bool]]) -> dict[str, str]:
    names = dict.fromkeys(name for row in sorted(rows, key=len, reverse=True) for name in row)
    counted = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: f"{sum(some)} of {len(some)}" for name, some in counted.items()}


def main() -> None:
    """Print the table, and how many messages are split as they should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, default=KEPT, help="where the sample corpus's index is kept")
    given = parser.parse_args()
    configure_logs("warning")
    rows = messages()
    right = sum(len(split_questions(row["question"])) == len(row["parts"]) for row in rows)
    figures = {
        f"{kind}, {name}": cells
        for name, how in (("as it is", "off"), ("split", "auto"))
        for kind, cells in measure(given.kept, how).items()
    }
    columns = list(dict.fromkeys(name for cells in figures.values() for name in cells))
    shown = {name: {column: cells.get(column, "-") for column in columns} for name, cells in figures.items()}
    print(f"{right} of {len(rows)} messages are split as they should be\n")
    print(table(("messages", *columns), [[name, *cells.values()] for name, cells in shown.items()]))
    write_figures("several", shown)


if __name__ == "__main__":
    main()
