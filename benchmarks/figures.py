"""Keep measured figures in docs/figures.json, each group with its date, its commit and the command that measured it."""

import json
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "figures.json"
# What is measured; docs may change without a figure being of other code.
MEASURED = ("app", "chains", "prompts", "evals", "benchmarks", "tests")


def write_figures(group: str, values: dict[str, Any], *, file: Path = FILE) -> None:
    """Replace the figures of a group; README and docs show them after `make docs`."""
    kept = read_figures(file=file)
    date = datetime.now(UTC).date().isoformat()
    kept[group] = {"date": date, "commit": commit(), "command": command(), "values": values}
    file.write_text(json.dumps(dict(sorted(kept.items())), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def report(group: str, *tables: str, is_kept: bool = True) -> None:
    """Print what was measured as docs show it, and keep it as the figures of a group."""
    print(*tables, sep="\n\n")
    if is_kept:
        write_figures(group, {"tables": [text.splitlines() for text in tables]})


def read_figures(*, file: Path = FILE) -> dict[str, Any]:
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


def told(group: str, *, file: Path = FILE) -> str:
    """Return when, at which commit and by which command a group was measured, as README and docs say it."""
    kept = read_figures(file=file)[group]
    measured = f"Measured on {kept['date']}, at commit `{kept['commit']}`, by `{kept['command']}`."
    return " ".join(filter(None, [measured, kept.get("note")]))


def commit() -> str:
    """Return the commit of this checkout, with a plus sign where the code differs from it."""
    head = git("rev-parse", "--short=7", "HEAD")
    return f"{head}+" if git("status", "--porcelain", "--", *MEASURED) else head


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    return done.stdout.strip()


def command() -> str:
    """Return the command that runs now, as a reader would type it; paths are left to the reader."""
    package = getattr(sys.modules["__main__"].__spec__, "name", "") or Path(sys.argv[0]).name
    options = ["PATH" if "/" in word else word for word in sys.argv[1:]]
    return shlex.join(["python", "-m", package.removesuffix(".__main__"), *options])
