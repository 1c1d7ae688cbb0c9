"""Compare the size of the code and the way of one question with an older commit: `python -m benchmarks.house PATH`.

PATH is a checkout of that commit; it is run by its own environment where it has one. The table stands in
docs/architecture.md; what an answer takes of the processor is measured by `benchmarks.load --baseline`, the tests by
`benchmarks.suite`.
"""

import argparse
import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.figures import write_figures
from benchmarks.load.loading import provider
from tests.processes import python_of

ROOT = Path(__file__).parents[1]
PACKAGES = ("chains", "app")


def main() -> None:
    """Measure both and keep the figures for the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    before = parser.parse_args().before.resolve()
    with provider(delay_ms=0) as url:
        found = {
            name: {**size(checkout), "tests": tests(checkout), "hops": hops(checkout, url)}
            for name, checkout in (("before", before), ("now", ROOT))
        }
    print(json.dumps(found, indent=2))
    write_figures("house", found)


def size(checkout: Path) -> dict[str, int]:
    """Return the lines and files of the program, and the length of a file in the middle."""
    files = [file for name in PACKAGES for file in (checkout / name).rglob("*.py")]
    lengths = [length for file in files if (length := file.read_text(encoding="utf-8").count("\n"))]
    return {"lines": sum(lengths), "files": len(lengths), "median_lines": round(statistics.median(lengths))}


def tests(checkout: Path) -> int:
    """Return how many tests there are."""
    told = _run(checkout, "-m", "pytest", "--collect-only", "--quiet")
    return int(told.splitlines()[-1].split()[0])  # "2885 tests collected in 10.66s"


def hops(checkout: Path, url: str) -> Any:
    """Return the files, functions and calls of one question, counted in a process of that commit."""
    told = _run(checkout, str(ROOT / "benchmarks" / "hops.py"), url, "--checkout", str(checkout))
    return json.loads(told.splitlines()[-1])


def _run(checkout: Path, *words: str) -> str:
    command = [python_of(checkout), *words]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
