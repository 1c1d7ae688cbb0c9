"""The shared conformance cases as a whole: each area has a test here, or a reason."""

import re
from pathlib import Path

from tests.contract.recorded import NEEDS_CASES, rows

pytestmark = NEEDS_CASES
NOT_OURS = {
    "analytics": "figures of several users are the analytics service's, which reads the events that this one publishes",
    "compare": "no route asks several models at once; `waypoint eval --report` compares what they answered",
}


def test_each_area_has_a_test_or_a_reason():
    areas = {row["area"] for row in rows()}
    tests = Path(__file__).parent.glob("test_conformance_*.py")
    named = {word for file in tests for word in re.findall(r'"(\w+)"', file.read_text(encoding="utf-8"))}

    assert {area for area in areas if not any(area.startswith(name) for name in named)} == set()
    assert set(NOT_OURS) <= areas
