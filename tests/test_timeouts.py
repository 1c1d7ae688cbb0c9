"""The limit of a test's time: it fails that test by its name, and the run goes on."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = """
import time

def test_hangs():
    time.sleep(60)

def test_is_reported_slowly():
    pass

def test_passes():
    pass
"""
SLOW_REPORTS = """
import time

def pytest_runtest_makereport(item):
    if "slowly" in item.name:
        time.sleep(0.7)  # As the traceback of a long test on a busy machine.
"""


def test_a_test_that_takes_too_long_is_named_and_the_others_run(tmp_path):
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]
    (tmp_path / "test_slow.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text(SLOW_REPORTS)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\ntimeout_func_only = {options['timeout_func_only']}\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "--timeout", "0.5", "-ra", "test_slow.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert "FAILED test_slow.py::test_hangs - Failed: Timeout" in done.stdout
    assert "1 failed, 2 passed" in done.stdout
