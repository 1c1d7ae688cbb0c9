"""The commands of `make release`, each with a few questions: that they run to their end, whatever they measure."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LIMIT_S = 300


def run(module: str, *options: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", f"benchmarks.{module}", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def test_a_soak_of_few_questions_holds_all_but_memory_which_is_still_growing_then():
    done = run("soak", "--questions", "20", "--warm-up", "20", "--at-once", "5")

    claims = [line for line in done.stdout.splitlines() if line.endswith((" held |", " missed |"))]
    assert len(claims) == 10, done.stderr
    assert [line for line in claims if line.endswith(" missed |") and not line.startswith("| memory")] == []


def test_a_load_of_few_users_prints_its_tables():
    done = run("load", "--seconds", "0.5", "--warm-s", "0.1", "--users", "1", "2", "3")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("| `/api/query` |") == 3
    assert "| 2 users: no error | 0 | held |" in done.stdout


def test_what_is_quick_of_the_benchmarks_prints_its_table():
    done = run("bench", "--quick")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("| what | measured | aim |")
    assert "resident memory of a warm `waypoint serve`" in done.stdout


def test_hostile_settings_and_requests_hold():
    done = run("hostile", "settings", "requests")

    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.rstrip().endswith("{}")
