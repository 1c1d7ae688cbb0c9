"""Ask README's first question on a fresh index and keep what is printed: part of `make docs`."""

import re
import subprocess
import sys
import tempfile

from benchmarks.figures import write_figures
from benchmarks.processes import PROGRAM, environment

QUESTION = "What documents do I need to ship sea freight from Singapore to Indonesia?"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, *PROGRAM, "ask", QUESTION]
        done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=True)
    write_figures("first_answer", {"question": QUESTION, "output": done.stdout.strip()})


def without_times(text: str) -> str:
    """Return the output as it is in every run."""
    return re.sub(r"\d+ ms", "... ms", text.strip())


if __name__ == "__main__":
    main()
