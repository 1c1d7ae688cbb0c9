"""Contradictions planted in copies of two corpora, and near-misses that are none: the former are found, the latter not.

The third file was written after the last change of the detector, the first before the detector was run at all.
"""

import shutil
from collections.abc import Iterable
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


def batches(cases: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Group cases so that those of a group are added to different files: a corpus is read once for all of them."""
    grouped: list[list[dict[str, Any]]] = []
    for case in cases:
        free = (batch for batch in grouped if case["file"] not in {other["file"] for other in batch})
        if batch := next(free, None):
            batch.append(case)
        else:
            grouped.append([case])
    return grouped


def alarms(batch: list[dict[str, Any]], root: Path, documents: list[Document]) -> tuple[list[Finding], list[int]]:
    """Return what is said of a corpus to whose files texts were added, and the first line of each text there."""
    files = [root / case["file"] for case in batch]
    kept = [file.read_text(encoding="utf-8") if file.exists() else None for file in files]
    before = [f"{text.rstrip()}\n\n" if text else "" for text in kept]
    for case, file, text in zip(batch, files, before, strict=True):
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{text}{case['text']}\n", encoding="utf-8")
    try:
        changed = [document for file in files for document in documents_of(file)]
    finally:
        for file, old in zip(files, kept, strict=True):
            file.unlink() if old is None else file.write_text(old, encoding="utf-8")
    others = [one for one in documents if one.file.path not in files]
    return list(find_conflicts([*others, *changed])), [text.count("\n") + 1 for text in before]


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
    for batch in batches(case for case in CASES if case["corpus"] == corpus):
        told, firsts = alarms(batch, root, documents)
        for case, first in zip(batch, firsts, strict=True):
            right = [one for one in told if case["is_conflict"] and names(one, root / case["file"], first)]
            told = [one for one in told if one not in right]
            found += bool(right) and is_found(case, root, right)
        wrong += told
    assert wrong == []
    assert found >= FOUND[corpus]
