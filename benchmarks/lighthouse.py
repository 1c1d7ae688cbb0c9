"""Let Lighthouse judge the page: a slow phone on a slow line, simulated. Needs npx, and Chromium."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.figures import write_figures
from benchmarks.rendered import lighthouse_scores
from tests.processes import service
from tests.web.chromium import LAUNCH, chromium

PACKAGE = "lighthouse@12.8.2"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")


def main() -> None:
    """Measure once, print the table of docs/page.md, and keep the scores in docs/figures.json."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with service(folder, CHROMA_PATH=str(folder / "store"), LLM_PROVIDER="offline") as served:
            scores = judge(served.url, folder / "report.json")
    print(lighthouse_scores(scores))
    write_figures("lighthouse", {"package": PACKAGE, "scores": scores})


def judge(url: str, report: Path) -> dict[str, int]:
    """Return the scores from 0 to 100, by category."""
    flags = " ".join(["--headless=new", "--no-sandbox", *(f"'{flag}'" for flag in LAUNCH["args"])])
    subprocess.run(
        [
            *("npx", "--yes", "--package", PACKAGE, "lighthouse", url, "--quiet", "--output=json"),
            *(f"--output-path={report}", f"--chrome-flags={flags}", f"--only-categories={','.join(CATEGORIES)}"),
        ],
        env={"PATH": os.defpath, "HOME": str(Path.home()), "CHROME_PATH": str(chromium())},
        check=True,
    )
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))["categories"]
    return {name: round(found[name]["score"] * 100) for name in CATEGORIES}


if __name__ == "__main__":
    main()
