"""What the targets of the Makefile would run."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMANDS = ("bench", "load", "soak", "hostile")


def would_run(target: str) -> str:
    command = ["make", "--dry-run", "--directory", str(ROOT), target]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_release_has_to_pass_every_check_and_measurement_and_uploads_nothing():
    steps = would_run("release")

    measured = [rf"benchmarks\.{name} ?$" for name in COMMANDS]
    order = [r"pytest .*--cov=chains", r"\.ci/wheel", *measured]
    places = [re.search(step, steps, re.MULTILINE) for step in order]
    assert None not in places
    assert [place.start() for place in places if place] == sorted(place.start() for place in places if place)
    assert not re.search(r"upload|twine|publish|git push|docker push", steps)


def test_an_environment_that_could_not_be_made_is_not_left_half_made(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\n[ "$1" = -c ] && exit 0\nmkdir -p .venv/bin && touch .venv/bin/python\nexit 1\n')
    python.chmod(0o755)
    command = ["make", f"PYTHON={python}", ".venv/bin/python"]

    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 2
    assert not (tmp_path / ".venv").exists()


def test_every_module_that_a_target_runs_is_there():
    modules = set(re.findall(r"python -m ((?:benchmarks|app|tests)[\w.]*)", (ROOT / "Makefile").read_text()))

    assert len(modules) > 5
    assert [module for module in modules if importlib.util.find_spec(module) is None] == []


def test_the_check_of_ci_runs_all_tests():
    [command] = re.findall(r"/pytest (.*?) &&", would_run("check"))

    assert not {"-m", "-k"} & set(command.split())
    assert "--ignore" not in command
