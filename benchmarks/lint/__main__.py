"""Measure `waypoint lint`: `python -m benchmarks.lint`.

Each case adds a text to a file of a corpus: a statement that contradicts one of the corpus, or a near-miss that does
not. The second corpus is kb/waypoint of `shared` beside the checkout; without it its cases are left out. The speed is
that of 1,008 documents: copies of the sample corpus that each name other countries and companies.
"""

import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from app.settings import load_settings
from app.wings.knowledge.findings import find_conflicts, read_and_lint
from app.wings.knowledge.linted import Document, Finding, read_documents
from app.wiring import sample_corpus
from app.wiring.storage import parser
from benchmarks.figures import ROOT, write_figures
from benchmarks.tables import table

CASES = tuple(Path(__file__).with_name(f"{name}.yaml") for name in ("first", "second", "third"))
CORPORA = {"sample": sample_corpus(), "shared": ROOT.parent / "shared" / "kb" / "waypoint"}
COPIES = 56
_NAMES = re.compile(r"\b(Singapore|Indonesia|Malaysia|Thailand|Vietnam|ASEAN|Maersk|ONE|PIL|Waypoint)\b")


class Result(NamedTuple):
    """A case, whether its contradiction was found, and alarms that are wrong."""

    case: dict[str, Any]
    is_conflict: bool
    found: bool
    wrong: list[Finding]


@dataclass
class Corpus:
    """The documents of a folder, and the alarms that it raises as it is."""

    root: Path
    documents: list[Document]
    alarms: set[Finding]

    def with_text(self, case: dict[str, Any]) -> tuple[Path, int, list[Finding]]:
        """Return the file that a case adds a text to, the text's first line there, and the alarms that come with it."""
        file = self.root / case["file"]
        before = file.read_text(encoding="utf-8").rstrip("\n") + "\n\n" if file.exists() else ""
        kept = file.read_bytes() if file.exists() else None
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{before}{case['text']}\n", encoding="utf-8")
        try:
            changed = _read(file, self.root)
        finally:
            file.unlink() if kept is None else file.write_bytes(kept)
        documents = [one for one in self.documents if one.file.path != file]
        found = [one for one in find_conflicts([*documents, *changed]) if one not in self.alarms]
        return file, before.count("\n") + 1, found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpora = {name: _copy(path, Path(folder) / name) for name, path in CORPORA.items() if path.is_dir()}
        results = [result for file in CASES for result in _results(file, corpora)]
        untouched = {name: len(corpus.alarms) for name, corpus in corpora.items()}
        per_minute = _documents_a_minute(Path(folder) / "many")
    unseen = [one for one in results if one.case["set"] == "third" and one.is_conflict]
    planted, near = ([one for one in results if one.is_conflict is kind] for kind in (True, False))
    wrong = [finding for one in results for finding in one.wrong]
    found = sum(one.found for one in planted)
    precision, recall = found / max(1, found + len(wrong) + sum(untouched.values())), found / len(planted)
    rows = [
        _row(kind, form, planted) for kind, form in sorted({(one.case["kind"], one.case["form"]) for one in planted})
    ]
    print(table(("kind", "in", "planted", "found"), rows))
    for one in planted:
        if not one.found:
            print("not found:", one.case["file"], one.case["text"].splitlines()[-1])
    for finding in wrong:
        print("wrong:", finding)
    print(f"near-misses {len(near)}, flagged {sum(bool(one.wrong) for one in near)}; alarms on the corpora {untouched}")
    print(f"precision {precision:.2f}, recall {recall:.2f}; {per_minute:,.0f} documents a minute")
    values = {
        "rows": rows, "unseen": len(unseen), "unseen_found": sum(one.found for one in unseen),
        "planted": len(planted), "found": found, "near": len(near),
        "flagged": sum(bool(one.wrong) for one in near), "wrong": len(wrong), "untouched": untouched,
        "precision": round(precision, 3), "recall": round(recall, 3), "documents_a_minute": round(per_minute, -2),
    }  # fmt: skip
    write_figures("lint", values)


def _row(kind: str, form: str, planted: Sequence[Result]) -> tuple[str, str, int, int]:
    here = [one for one in planted if (one.case["kind"], one.case["form"]) == (kind, form)]
    return kind, form, len(here), sum(one.found for one in here)


def _copy(path: Path, to: Path) -> Corpus:
    shutil.copytree(path, to)
    documents = _read(to, to)
    return Corpus(to, documents, set(find_conflicts(documents)))


def _read(path: Path, root: Path) -> list[Document]:
    return list(read_documents(parser(load_settings(_env_file=None)), [path], []))


def _results(file: Path, corpora: dict[str, Corpus]) -> Iterator[Result]:
    cases = yaml.safe_load(file.read_text(encoding="utf-8"))
    for name in ("conflicts", "near_misses"):
        for case in cases[name]:
            if case["corpus"] in corpora:
                yield _result(case | {"set": file.stem}, corpora[case["corpus"]], is_conflict=name == "conflicts")


def _result(case: dict[str, Any], corpus: Corpus, *, is_conflict: bool) -> Result:
    """Return how a case fared: an alarm at a planted contradiction is right, wherever else the corpus says the same."""
    file, first, alarms = corpus.with_text(case)
    if not is_conflict:
        return Result(case, is_conflict, found=False, wrong=alarms)
    right = [one for one in alarms if _other_side(one, file, first)]
    expected = corpus.root / case["against"]
    sides = [side for one in right if (side := _other_side(one, file, first))]
    found = any(Path(name) == expected and case["line"] in _line(corpus, name, line) for name, line in sides)
    return Result(case, is_conflict, found, [one for one in alarms if one not in right])


def _other_side(finding: Finding, file: Path, first: int) -> tuple[str, int] | None:
    """Return the other place of an alarm that has one in the planted text."""
    sides = ((finding.file, finding.line), (finding.other_file, finding.other_line))
    for one, other in (sides, sides[::-1]):
        if Path(one[0]) == file and one[1] >= first:
            return other
    return None


def _line(corpus: Corpus, name: str, line: int) -> str:
    document = next((one for one in corpus.documents if one.name == name), None)
    return document.text.splitlines()[line - 1] if document and line <= len(document.text.splitlines()) else ""


def _documents_a_minute(folder: Path) -> float:
    for number in range(COPIES):
        for file in sorted(sample_corpus().glob("*/*.md")):
            target = folder / str(number) / file.parent.name / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            text = _NAMES.sub(rf"\1{chr(97 + number % 26) * (1 + number // 26)}land", file.read_text(encoding="utf-8"))
            target.write_text(text, encoding="utf-8")
    started = time.process_time()
    documents, _ = read_and_lint([folder], load_settings(_env_file=None))
    return 60 * len(documents) / (time.process_time() - started)


if __name__ == "__main__":
    main()
