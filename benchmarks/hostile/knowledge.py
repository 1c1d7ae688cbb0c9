"""Folders, YAML and proofs of strangers: tests of documents that gate pull requests, and false certificates."""

import copy
import os
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

from app.wings.knowledge.certificate import certificate
from app.wings.knowledge.verification import Document, seal, verify
from benchmarks.hostile.certificates import HARMS, INVENTED
from benchmarks.hostile.commands import Case, run
from benchmarks.hostile.trying import DOCUMENTS, QUESTION, Tried, index

LETTERS = "abcdefghij"
BOMBS = {
    "merge keys": "\n".join(
        ["a: &a {x: 1}", *(f"{b}: &{b} {{<<: [{', '.join([f'*{a}'] * 9)}]}}" for a, b in pairwise(LETTERS))]
    ),
    "aliases": "\n".join(["a: &a [x]", *(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise(LETTERS))]),
    "an alias of itself": "a: &a [*a]",
    "brackets": "a: " + "[" * 200_000,
    "dashes": "- " * 100_000 + "a",
    "a megabyte of values": "a:\n" + "- b\n" * 400_000,
    "a number in base 60": "a: " + ":".join(["1"] * 200_000),
    "a tag of Python": "a: !!python/object/apply:os.system [echo hushed]",
}
# What lies in the folder of the tests, by what it is.
FOLDERS: dict[str, Callable[[Path], object]] = {
    "a link out of the folder": lambda file: file.symlink_to(file.parent.parent / "secret.yaml"),
    "a link to a device": lambda file: file.symlink_to("/dev/zero"),
    "a link to itself": lambda file: file.symlink_to(file),
    "a pipe": os.mkfifo,
    "a folder": lambda file: file.mkdir(),
    "a folder that is a link": lambda file: file.symlink_to(file.parent.parent),
    "no text": lambda file: file.write_bytes(bytes(range(256)) * 10),
    "a large file": lambda file: file.write_bytes(b"a" * 30 * 2**20),
}


def attack(folder: Path) -> list[Tried]:
    """Try hostile folders of tests, YAML that grows, and false certificates."""
    services = index(folder)
    (folder / "secret.yaml").write_text("- question: hushed\n  hushed: [\n", encoding="utf-8")
    strangers = Tried(
        "hostile tests of documents", "refused by name, without waiting and without a word of other files"
    )
    bombs = Tried("YAML that grows or is deeply nested", "refused by name or taken, within two minutes")
    for tried, cases in ((strangers, list(_folders(folder))), (bombs, list(_bombs(folder)))):
        with ThreadPoolExecutor(2) as threads:
            for case, (code, told) in zip(cases, threads.map(lambda case: run(case, folder), cases), strict=True):
                held = code in {0, 1, 2} and b"Traceback" not in told and b"hushed" not in told
                tried.add(f"{case.words} {case.environment}"[:200], held=held)
    return [strangers, bombs, _certificates(services)]


def _folders(folder: Path) -> Iterator[Case]:
    for number, make in enumerate(FOLDERS.values()):
        place = folder / f"tests {number}"
        place.mkdir()
        make(place / "b.tests.yaml")
        yield Case(("test", str(place)))


def _bombs(folder: Path) -> Iterator[Case]:
    for number, text in enumerate(BOMBS.values()):
        place = folder / f"bomb {number}"
        place.mkdir()
        (place / "a.md").write_text(f"---\n{text}\n---\n\n{DOCUMENTS['01_regulatory/rate.md']}", encoding="utf-8")
        for name in ("a.tests.yaml", "scope.yaml"):
            (place / name).write_text(text, encoding="utf-8")
        yield Case(("test", str(place)))
        yield Case(("ingest", "--dry-run", str(place)))
        yield Case(("lint", str(place)))
        yield Case(("ask", QUESTION), {"SCOPE_FILE": str(place / "scope.yaml")})


def _certificates(services: Any) -> Tried:
    """Harm the certificate of an answer in each way, and prove false sentences by every part of one."""
    tried = Tried("false certificates", "a sentence fails, or is not called proven")
    answer = services.chain.invoke({"question": QUESTION})
    original: dict[str, Any] = dict(certificate(answer, services.index))
    folder = Path(
        services.index.library.catalogue("internal").sources[original["sentences"][0]["sources"][0]["doc_id"]].path
    )
    root = folder.parents[1]

    def read(source: Any) -> Document | None:
        file = root / str(source["file"])
        return Document(file.read_bytes()) if file.is_file() else None

    if any(one.failure or not one.rule for one in verify(original, read)[:1]):
        msg = "the true certificate is not proven: the false ones would show nothing"
        raise SystemExit(msg)
    for name, harm in HARMS.items():
        for seed in range(5):
            changed = copy.deepcopy(original)
            if harm(changed, changed["sentences"][0], random.Random(seed)):  # noqa: S311 - reproducible, not secret.
                verdicts = verify(seal(changed), read)
                is_false = any(one.failure for one in verdicts)
                tried.add(
                    f"{name}, {seed}",
                    held=is_false and not any(INVENTED in one.sentence and one.rule for one in verdicts),
                )
    return tried
