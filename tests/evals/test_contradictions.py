"""Contradictions planted in copies of two corpora, and near-misses that are none: the former are found, the latter not.

The third file was written after the last change of the detector, the first before the detector was run at all.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.settings import load_settings
from app.wings.knowledge.findings import Document, Finding, find_conflicts, read_documents
from app.wiring import sample_corpus
from app.wiring.storage import parser
from tests.conftest import SHARED

CASES = [
    case | {"is_conflict": name == "conflicts"}
    for file in sorted((Path(__file__).parent / "contradictions").glob("*.yaml"))
    for name, cases in yaml.safe_load(file.read_text(encoding="utf-8")).items()
    for case in cases
]
CORPORA = {"sample": sample_corpus(), "shared": SHARED / "kb" / "waypoint"}
FOUND = {"sample": 38, "shared": 12}  # Of 42 and 14.


def documents_of(path: Path) -> list[Document]:
    return list(read_documents(parser(load_settings(_env_file=None)), [path], []))


def alarms(case: dict[str, Any], root: Path, documents: list[Document]) -> tuple[list[Finding], int]:
    """Return what is said of a corpus to one of whose files a text was added, and the text's first line there."""
    file = root / case["file"]
    kept = file.read_text(encoding="utf-8") if file.exists() else None
    before = f"{kept.rstrip()}\n\n" if kept else ""
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{before}{case['text']}\n", encoding="utf-8")
    try:
        changed = documents_of(file)
    finally:
        file.unlink() if kept is None else file.write_text(kept, encoding="utf-8")
    others = [one for one in documents if one.file.path != file]
    return list(find_conflicts([*others, *changed])), before.count("\n") + 1


def names(finding: Finding, file: Path, first: int) -> bool:
    sides = ((finding.file, finding.line), (finding.other_file, finding.other_line))
    return any(Path(name).resolve() == file and line >= first for name, line in sides)


def is_found(case: dict[str, Any], root: Path, found: list[Finding]) -> bool:
    """Return whether an alarm names the line that the planted text contradicts."""
    against = root / case["against"]
    lines = against.read_text(encoding="utf-8").splitlines()
    sides = [side for one in found for side in ((one.file, one.line), (one.other_file, one.other_line))]
    return any(
        Path(name).resolve() == against and case["line"] in lines[line - 1]
        for name, line in sides
        if line <= len(lines)
    )


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
def test_planted_contradictions_are_found_and_near_misses_are_not(corpus, tmp_path):
    if not CORPORA[corpus].is_dir():
        pytest.skip("this corpus is not beside the checkout")
    root = tmp_path / corpus
    shutil.copytree(CORPORA[corpus], root)
    documents = documents_of(root)
    assert list(find_conflicts(documents)) == []

    found, wrong = 0, []
    for case in (case for case in CASES if case["corpus"] == corpus):
        told, first = alarms(case, root, documents)
        right = [one for one in told if case["is_conflict"] and names(one, root / case["file"], first)]
        wrong += [one for one in told if one not in right]
        found += bool(right) and is_found(case, root, right)
    assert wrong == []
    assert found >= FOUND[corpus]
