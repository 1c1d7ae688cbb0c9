"""Read documents, and return all that there is to find in them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from app.settings import Settings
from app.wings.knowledge.conflicts import find_conflicts
from app.wings.knowledge.linted import Document, Finding, read_documents
from app.wings.knowledge.upkeep import (
    find_alike_titles,
    find_boilerplate,
    find_broken_links,
    find_duplicates,
    find_old,
    find_unreachable,
    find_untitled,
    find_versions,
)
from app.wiring.index import Index
from app.wiring.storage import parser
from chains.around.side_steps import side_step
from chains.ingestion.text_files import LOADERS
from chains.ports import Progress

Step = Callable[[Sequence[Document]], Iterable[Finding]]


def read_and_lint(
    paths: Sequence[Path],
    settings: Settings,
    progress: Progress | None = None,
    *,
    endings: set[str] | None = None,
    max_age_days: int = 0,
) -> tuple[list[Document], list[Finding]]:
    """Return the documents below the paths, and what there is to find in them, by file and line.

    Raise IngestionError if a path is neither a folder nor a file that can be read.
    """
    findings: list[Finding] = []
    with closing(parser(settings)) as reader:
        documents = list(read_documents(reader, paths, findings, progress, endings=endings))
    old = partial(find_old, today=datetime.now(UTC).date(), max_age_days=max_age_days)
    steps: dict[str, Step] = {
        "conflicts": find_conflicts,
        "duplicates": find_duplicates,
        "boilerplate": find_boilerplate,
        "old": old,
        "versions": find_versions,
        "untitled": find_untitled,
        "alike titles": find_alike_titles,
        "broken links": find_broken_links,
        "unreachable": find_unreachable,
    }
    findings += [finding for name, step in steps.items() for finding in _found(name, step, documents)]
    return documents, sorted(findings)


def worth_a_look(index: Index, paths: Sequence[str]) -> Iterator[str]:
    """Yield a line about the Markdown and plain text below the paths, for the end of `waypoint ingest`."""
    folders = [Path(path) for path in paths if Path(path).exists()]
    _, findings = read_and_lint(folders, index.settings, endings=set(LOADERS))
    if findings:
        kinds = Counter(finding.kind for finding in findings)
        counts = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items()))
        yield f"Worth a look: {counts}; `waypoint lint {' '.join(paths)}` shows where"


def _found(name: str, step: Step, documents: Sequence[Document]) -> list[Finding]:
    """Return what a step finds; it names the documents that it fails on, and looks at the others without them."""
    with side_step(f"lint: {name}"):
        return list(step(documents))
    if len(documents) == 1:
        return [Finding(documents[0].name, 0, "unreadable", f"the step {name!r} failed on it; the log says where")]
    alone = {document: _found(name, step, [document]) for document in documents}
    failing = {document: some for document, some in alone.items() if any(one.kind == "unreadable" for one in some)}
    named = [finding for some in failing.values() for finding in some]
    rest = [document for document in documents if document not in failing]
    return [*named, *(_found(name, step, rest) if failing and rest else ())]
