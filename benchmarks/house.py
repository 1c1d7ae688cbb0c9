"""Measure the house itself: lines, files, settings, packages and the way of one question: `python -m benchmarks.house`.

Prints the table of docs/measurements.md; `--write` keeps the figures in docs/figures.json, beside those of before.
`--ratchet`, a part of `make check`, counts lines only, and fails where `chains` and `app` have grown.
"""

import argparse
import statistics
import sys
import tempfile
import threading
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path
from types import FrameType

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.observability.logs import configure_logs
from app.public import open_chain
from app.settings import fields
from benchmarks.figures import ROOT, read_figures, write_figures
from benchmarks.offline import offline
from benchmarks.tables import table

LONG = 300
# The most lines of `chains` and `app`. It only goes down: whoever deletes lowers it, whoever adds deletes first.
RATCHET = 41_076
SLACK = 0.01  # By so much the house may be smaller before the figure has to follow.
QUESTION = "What is the GST rate on imports into Singapore?"
GUIDE = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n"
COLUMNS = {"issue": "tree of the issue", "before": "`4a1b169`", "now": "now"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="keep the figures in docs/figures.json")
    parser.add_argument("--ratchet", action="store_true", help="fail where `chains` and `app` have grown")
    options = parser.parse_args()
    if options.ratchet:
        sys.exit(ratchet(cheap()["`chains` and `app`: lines"]))
    configure_logs("error")
    kept = read_figures()["house"]["values"]
    found = {**kept, "now": {**cheap(), **installed(), **way_of_a_question()}}
    print(house_table(found))
    if options.write:
        write_figures("house", found)


def ratchet(lines: int) -> str | None:
    """Return what is wrong with so many lines of `chains` and `app`; None where nothing is."""
    if lines > RATCHET:
        return f"chains and app have {lines:,} lines, more than {RATCHET:,}: delete what the change replaces"
    if lines < RATCHET * (1 - SLACK):
        return f"chains and app have {lines:,} lines: lower RATCHET in benchmarks/house.py from {RATCHET:,}"
    return None


def house_table(values: dict[str, dict[str, int]]) -> str:
    """Return a row for each figure of the whole, with those of before."""
    rows = [
        (name, *(f"{values[column][name]:,}" if name in values[column] else "" for column in COLUMNS))
        for name in values["now"]
    ]
    return table(("what", *COLUMNS.values()), rows)


def cheap() -> dict[str, int]:
    """Return what is counted in a moment."""
    whole = [file for name in ("chains", "app") for file in (ROOT / name).rglob("*.py")]
    lengths = list(map(_lines, whole))
    return {
        "`chains` and `app`: lines": sum(lengths),
        "`chains` and `app`: files": len(whole),
        "`chains` and `app`: folders": len({file.parent for file in whole}),
        "`chains` and `app`: lines of a file, median": round(statistics.median(lengths)),
        "`chains` and `app`: lines of the longest file": max(lengths),
        f"`chains` and `app`: files over {LONG} lines": sum(length > LONG for length in lengths),
        "`benchmarks`: lines": sum(map(_lines, (ROOT / "benchmarks").rglob("*.py"))),
        "settings": len(fields()),
        "direct packages": len(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]),
    }


def _lines(file: Path) -> int:
    return file.read_text(encoding="utf-8").count("\n")


def installed() -> dict[str, int]:
    """Return how many packages an installation without extras has, and what they take on disk here."""
    files = [file for name in base_packages() for file in metadata.files(name) or []]
    size = sum(path.stat().st_size for file in files if (path := Path(str(file.locate()))).is_file())
    return {"installed packages": len(base_packages()), "MB of a base installation": size >> 20}


@cache
def base_packages() -> frozenset[str]:
    """Return what is installed here of the packages that pyproject.toml asks for without an extra, and of theirs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    never = {Requirement(one).name for one in project["tool"]["uv"]["override-dependencies"]}
    waiting = [(Requirement(one), "") for one in project["project"]["dependencies"]]
    here = {canonicalize_name(distribution.name) for distribution in metadata.distributions()}  # For this platform.
    found, seen = set[str](), set[str]()
    while waiting:
        requirement, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": extra})
        if not wanted or name in never or str(requirement) in seen or name not in here:
            continue
        found.add(name)
        seen.add(str(requirement))
        needs = [Requirement(one) for one in metadata.requires(name) or []]
        waiting += [(need, own) for own in ("", *requirement.extras) for need in needs]
    return frozenset(found)


def way_of_a_question() -> dict[str, int]:
    """Return the files and functions of this project that one question goes through, answered offline."""
    folders, found = tuple(f"{ROOT / name}/" for name in ("app", "chains", "prompts")), set[tuple[str, int]]()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name[0] != "<" and code.co_filename.startswith(folders):
            found.add((code.co_filename, code.co_firstlineno))

    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "gst.md").write_text(GUIDE, encoding="utf-8")
        chain = open_chain(offline(Path(place), Path(place) / "gst.md").settings)
        threading.setprofile(note)  # Threads that are started from here on.
        chain.invoke({"question": QUESTION})  # Loads what is loaded once.
        found.clear()
        sys.setprofile(note)
        chain.invoke({"question": QUESTION})
        sys.setprofile(None)
        threading.setprofile(None)
    return {"files on a question's way": len({file for file, _ in found}), "functions on a question's way": len(found)}


if __name__ == "__main__":
    main()
