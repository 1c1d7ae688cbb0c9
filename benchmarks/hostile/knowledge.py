"""Folders, YAML and proofs of strangers: tests of documents that gate pull requests, and false certificates."""

import copy
import os
import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from app.wings.knowledge.certificate import certificate
from app.wings.knowledge.verification import Document, seal, verify
from app.wiring import sample_corpus
from benchmarks.hostile.commands import Case, held
from benchmarks.hostile.trying import DOCUMENTS, QUESTION, Tried, index

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-zA-Z]{2,}\b")
VERB = re.compile(r"\b(?:is|are|must|needs?|can|may)\b")

Certificate = dict[str, Any]
Harm = Callable[[Certificate, dict[str, Any], random.Random], bool]
"""Harms a sentence of a certificate in place; returns whether there was something to harm."""


def _say(changed: Certificate, sentence: dict[str, Any], says: str) -> None:
    """Put other words into the answer, and move what follows."""
    start, end = sentence["start"], sentence["end"]
    longer = len(says) - (end - start)
    changed["answer"] = changed["answer"][:start] + says + changed["answer"][end:]
    sentence["says"] = says
    for one in changed["sentences"]:
        if one["start"] >= end and one is not sentence:
            one["start"], one["end"] = one["start"] + longer, one["end"] + longer
    sentence["end"] = end + longer


def _replaced(
    text: str, pattern: re.Pattern[str], other: Callable[[str], str | None], rng: random.Random
) -> str | None:
    found = list(pattern.finditer(text))
    one = rng.choice(found) if found else None
    new = other(one[0]) if one else None
    return None if one is None or new is None or new == one[0] else text[: one.start()] + new + text[one.end() :]


def _other_number(number: str, rng: random.Random) -> str:
    digit = rng.randrange(len(digits := [place for place, sign in enumerate(number) if sign.isdigit()]))
    place = digits[digit]
    return number[:place] + str((int(number[place]) + rng.randint(1, 8)) % 10) + number[place + 1 :]


def _replacing(pattern: re.Pattern[str], other: Callable[[str, random.Random], str]) -> Harm:
    """Return what puts other words in the place of some of a sentence."""

    def harm(changed: Certificate, sentence: dict[str, Any], rng: random.Random) -> bool:
        says = _replaced(sentence["says"], pattern, lambda found: other(found, rng), rng)
        if says is not None:
            _say(changed, sentence, says)
        return says is not None

    return harm


def quote_changed(_: Certificate, sentence: dict[str, Any], rng: random.Random) -> bool:
    source = rng.choice(sentence["sources"])
    new = _replaced(source["quote"], re.compile(r"\w+"), lambda word: word[::-1] if len(word) > 1 else "x", rng)
    source["quote"] = new or source["quote"]
    return new is not None


def quote_moved(_: Certificate, sentence: dict[str, Any], rng: random.Random) -> bool:
    """Say that the quote stands elsewhere."""
    source, by = rng.choice(sentence["sources"]), rng.choice([-7, -1, 1, 5])
    source["bytes"] = [place + by for place in source["bytes"]]
    return True


def document_swapped(_: Certificate, sentence: dict[str, Any], rng: random.Random) -> bool:
    source = rng.choice(sentence["sources"])
    files = [str(one.relative_to(sample_corpus())) for one in sorted(sample_corpus().rglob("*.md"))]
    source["file"] = rng.choice([file for file in files if file != source["file"]])
    return True


def sentence_added(changed: Certificate, sentence: dict[str, Any], _: random.Random) -> bool:
    added = " Customers outside the region always pay this twice."
    start = sentence["end"]
    changed["answer"] = changed["answer"][:start] + added + changed["answer"][start:]
    for one in changed["sentences"]:
        if one["start"] >= start:
            one["start"], one["end"] = one["start"] + len(added), one["end"] + len(added)
    return True


INVENTED = "Cosmetics and alcohol are wholly exempt from GST and every permit."


def _invented(name: str) -> Harm:
    """Return what makes the sentence a false one, whose words only the certificate gives as a source's title, say."""

    def harm(changed: Certificate, sentence: dict[str, Any], _: random.Random) -> bool:
        source = sentence["sources"][0]
        sentence["sources"] = [source | {name: f"{source[name]} {INVENTED}".strip(), "rule": "figures"}]
        _say(changed, sentence, INVENTED)
        return True

    return harm


def answer_bracketed(changed: Certificate, sentence: dict[str, Any], _: random.Random) -> bool:
    """Put a false sentence in brackets into the place of one, and nothing into its proof."""
    _say(changed, sentence, f"[{INVENTED}]")
    sentence["says"] = ""
    return True


OTHER_NAMES = (
    *("Brunei", "Evergreen", "Felixstowe", "Kuehne", "Lazada"),
    *("Maersk", "Malaysia", "Rotterdam", "Thailand", "Vietnam"),
)
HARMS: dict[str, Harm] = {
    "a number of the sentence changed": _replacing(NUMBER, _other_number),
    "a name of the sentence changed": _replacing(NAME, lambda _, rng: rng.choice(OTHER_NAMES)),
    "the sentence negated": _replacing(VERB, lambda word, _: f"{word} not"),
    "a word of the quote changed": quote_changed,
    "the quote moved": quote_moved,
    "another document named": document_swapped,
    "a sentence added": sentence_added,
    "a false sentence, its words in the title": _invented("title"),
    "a false sentence, its words in the section": _invented("section"),
    "a false sentence, its words in the table's head": _invented("table_head"),
    "a false sentence in brackets": answer_bracketed,
}


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
    folders, bombs = (held(list(cases), folder, b"hushed") for cases in (_folders(folder), _bombs(folder)))
    quiet = "refused by name, without waiting and without a word of other files"
    return [
        Tried("hostile tests of documents", quiet, folders),
        Tried("YAML that grows or is deeply nested", "refused by name or taken, within two minutes", bombs),
        Tried("false certificates", "a sentence fails, or is not called proven", _certificates(services)),
    ]


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


def _certificates(services: Any) -> Iterator[tuple[str, bool]]:
    """Harm the certificate of an answer in each way, and prove false sentences by every part of one."""
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
    for name, seed in product(HARMS, range(5)):
        changed = copy.deepcopy(original)
        if HARMS[name](changed, changed["sentences"][0], random.Random(seed)):  # noqa: S311 - reproducible, not secret.
            verdicts = verify(seal(changed), read)
            is_proven = any(INVENTED in one.sentence and one.rule for one in verdicts)
            yield f"{name}, {seed}", any(one.failure for one in verdicts) and not is_proven
