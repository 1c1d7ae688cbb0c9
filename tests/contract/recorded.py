"""The cases that were recorded from the systems before this one; none where the shared folder is not beside it."""

import json
from typing import Any

import pytest

from tests.conftest import SHARED

REASON = "the shared conformance cases are not beside this checkout"


def rows(*areas: str) -> list[dict[str, Any]]:
    """Return the cases of these areas; of all areas where none is named."""
    files = sorted((SHARED / "conformance").glob("*.jsonl"))
    found = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [row for row in found if not areas or row["area"] in areas]


def recorded(*areas: str, marks: tuple[pytest.MarkDecorator, ...] = ()) -> list[Any]:
    """Return the cases of these areas for `parametrize`, by their ids; one that is skipped where there are none."""
    found = [pytest.param(row, id=row["id"], marks=[pytest.mark.corpus, *marks]) for row in rows(*areas)]
    return found or [pytest.param(None, marks=pytest.mark.skip(REASON))]


# For modules whose tests name their cases.
NEEDS_CASES = [pytest.mark.corpus, pytest.mark.skipif(not rows(), reason=REASON)]
