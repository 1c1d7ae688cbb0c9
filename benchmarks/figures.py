"""Keep measured figures in docs/figures.json, each group with its date and the command that measured it."""

import json
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "docs" / "figures.json"


def write_figures(group: str, values: dict[str, Any], *, file: Path = FILE) -> None:
    """Replace the figures of a group; README and docs show them after `make docs`."""
    kept = read_figures(file=file)
    kept[group] = {"date": datetime.now(UTC).date().isoformat(), "command": command(), "values": values}
    file.write_text(json.dumps(dict(sorted(kept.items())), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_figures(*, file: Path = FILE) -> dict[str, Any]:
    """Return all figures, by their group."""
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


def command() -> str:
    """Return the command that runs now, as a reader would type it; paths are left to the reader."""
    package = getattr(sys.modules["__main__"].__spec__, "name", "") or Path(sys.argv[0]).name
    options = ["PATH" if "/" in word else word for word in sys.argv[1:]]
    return shlex.join(["python", "-m", package.removesuffix(".__main__"), *options])
