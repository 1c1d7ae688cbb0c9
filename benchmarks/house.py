"""Compare the size of the code and the way of one question with an older commit: `python -m benchmarks.house PATH`.

PATH is a checkout of that commit with an environment of its own. The table stands in docs/architecture.md; what an
answer takes of the processor is measured by `benchmarks.load --baseline`, the tests by `benchmarks.suite`.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.figures import write_figures
from benchmarks.load.__main__ import provider

ROOT = Path(__file__).parents[1]
PACKAGES = ("chains", "app")


def main() -> None:
    """Measure both and keep the figures for the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    before = parser.parse_args().before.resolve()
    with provider(delay_ms=0) as url:
        found = {
            "before": {**size(before), "hops": hops(str(before / ".venv" / "bin" / "python"), before, url)},
            "now": {**size(ROOT), "hops": hops(sys.executable, ROOT, url)},
        }
    print(json.dumps(found, indent=2))
    write_figures("house", found)


def size(checkout: Path) -> dict[str, int]:
    """Return the lines and files of the program, and the length of a file in the middle."""
    files = [file for name in PACKAGES for file in (checkout / name).rglob("*.py")]
    lengths = [length for file in files if (length := file.read_text(encoding="utf-8").count("\n"))]
    return {"lines": sum(lengths), "files": len(lengths), "median_lines": round(statistics.median(lengths))}


def hops(python: str, checkout: Path, url: str) -> Any:
    """Return the files, functions and calls of one question, counted in a process of that commit."""
    command = [python, str(ROOT / "benchmarks" / "hops.py"), url, "--checkout", str(checkout)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
