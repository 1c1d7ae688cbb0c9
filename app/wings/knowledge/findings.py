"""Read documents, and return all that there is to find in them."""

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from app.wings.knowledge.conflicts import find_conflicts
from app.wings.knowledge.duplicates import find_boilerplate, find_duplicates
from app.wings.knowledge.linted import Document, Finding, Reading
from app.wings.knowledge.settings import LintSettings
from app.wings.knowledge.upkeep import find_broken_links, find_old, find_unreachable, find_untitled
from app.wiring.storage import parser

if TYPE_CHECKING:
    from app.settings import Settings
    from chains.ports import Progress


def read_and_lint(
    paths: Sequence[Path],
    settings: "Settings",
    progress: "Progress | None" = None,
    *,
    endings: set[str] | None = None,
) -> tuple[list[Document], list[Finding]]:
    """Return the documents below the paths, and what there is to find in them, by file and line.

    Raises:
        IngestionError: a path is neither a folder nor a file that can be read.
    """
    with closing(parser(settings)) as reader:
        reading = Reading(reader, endings or reader.endings)
        documents = list(reading.documents(paths, progress))
    found = findings_of(documents, max_age_days=settings.wing(LintSettings).max_age_days)
    return documents, sorted([*reading.findings, *found])


def findings_of(documents: Sequence[Document], *, max_age_days: int = 0) -> list[Finding]:
    """Return what there is to find in documents that were read."""
    return [
        *find_conflicts(documents),
        *find_duplicates(documents),
        *find_boilerplate(documents),
        *find_old(documents, datetime.now(UTC).date(), max_age_days),
        *find_untitled(documents),
        *find_broken_links(documents),
        *find_unreachable(documents),
    ]
