"""Rules that the tests themselves keep."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
# Waiting has a limit, and a moment to kill at is taken within a run.
MAY_READ_A_CLOCK = {"waiting.py", "app/test_interruption.py"}
CLOCKS = re.compile(r"\b(?:perf_counter|monotonic|process_time|thread_time|time\.time)(?:_ns)?\(")


def files() -> dict[str, str]:
    return {path.relative_to(TESTS).as_posix(): path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}


def test_no_test_reads_a_clock():
    assert {name for name, text in files().items() if CLOCKS.search(text)} - MAY_READ_A_CLOCK == set()
