"""Harm certificates, and count what `waypoint verify` accepts: `python -m benchmarks.proof`.

Certificates are of the questions of evals/questions.jsonl, answered offline from the sample corpus, and of the same
answers with each sentence reworded (small words left out, clauses in another order), as a language model rewords them.
Each harmed certificate is sealed again, so that its hash fits: the sentences and the documents have to tell.
"""

import copy
import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from app.wings.knowledge.certificate import certificate
from app.wings.knowledge.verification import Document, heading_of, proving_rule, seal, verify
from app.wiring import sample_corpus
from benchmarks.offline import QUESTIONS, offline, report
from evals.questions import read_questions

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-zA-Z]{2,}\b")
VERB = re.compile(r"\b(?:is|are|must|needs?|can|may)\b")
SMALL = re.compile(r"\b(?:the|a|an|also|that|already) ")

Certificate = dict[str, Any]
Harm = Callable[[Certificate, dict[str, Any], random.Random], bool]
"""Harms a sentence of a certificate in place; returns whether there was something to harm."""


def main() -> None:
    """Make, harm and verify certificates; print the table, and keep it in docs/figures.json."""
    rng = random.Random(7)  # noqa: S311 - reproducible, not secret.
    with tempfile.TemporaryDirectory() as place:
        made, costs, sizes = answered(Path(place))
    both = {"quoted": made, "reworded": [reworded(one) for one in made]}
    rows: list[tuple[Any, ...]] = []
    for kind, certificates in both.items():
        own = Counter(_word(one) for item in certificates for one in verify(item, read))
        rows += [(kind, f"own sentences {word}", number, "") for word, number in sorted(own.items())]
        for name, harm in HARMS.items():
            tried, accepted = harmed(certificates, harm, rng)
            rows.append((kind, name, tried, accepted))
    tried, accepted = (sum(row[place] for row in rows if row[3] != "") for place in (2, 3))
    values: dict[str, Any] = {"ms": round(median(costs), 1), "kB": round(median(sizes), 1)}
    values |= {"harmed": tried, "accepted": accepted}
    report("proof", ["answers", "what", "number", "accepted"], rows, **values)
    print(f"accepted: {accepted} of {tried} ({100 * accepted / tried:.2f} %)")


def answered(place: Path) -> tuple[list[Certificate], list[float], list[float]]:
    """Return the certificates of the answers, what each costs in ms, and its size in kB."""
    services = offline(place)
    made, costs, sizes = [], [], []
    for row in read_questions(QUESTIONS):
        answer = services.chain.invoke({"question": row.question, "history": [*row.history]})
        started = time.perf_counter()
        one = dict(certificate(answer, services))
        costs.append(1000 * (time.perf_counter() - started))
        if answer["outcome"] == "answered":
            made.append(one)
            sizes.append(len(json.dumps(one, ensure_ascii=False).encode()) / 1000)
    return made, costs, sizes


def read(source: Mapping[str, Any]) -> Document | None:
    """Return a document of the sample corpus."""
    file = sample_corpus() / str(source["file"])
    return Document(file.read_bytes()) if file.is_file() else None


def reworded(original: Certificate) -> Certificate:
    """Return the certificate with each sentence in other words, and the rule that then proves it."""
    changed = copy.deepcopy(original)
    for sentence in changed["sentences"]:
        first, comma, rest = SMALL.sub("", sentence["says"]).rstrip(". ").partition(", ")
        says = f"{rest}{comma}{first}."
        _say(changed, sentence, says)
        for source in sentence["sources"]:
            source["rule"] = proving_rule(says, source["quote"], heading_of(source))
    return seal(changed)


def harmed(certificates: list[Certificate], harm: Harm, rng: random.Random) -> tuple[int, int]:
    """Return how many proven sentences were harmed, and how many of them were still accepted."""
    tried = accepted = 0
    for original in certificates:
        for place, sentence in enumerate(original["sentences"]):
            if not any(source["rule"] for source in sentence["sources"]):
                continue
            changed = copy.deepcopy(original)
            if harm(changed, changed["sentences"][place], rng):
                tried += 1
                accepted += not any(verdict.failure for verdict in verify(seal(changed), read))
    return tried, accepted


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
    """Reverse a word of the quote."""
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
    """Name another document."""
    source = rng.choice(sentence["sources"])
    files = [str(one.relative_to(sample_corpus())) for one in sorted(sample_corpus().rglob("*.md"))]
    source["file"] = rng.choice([file for file in files if file != source["file"]])
    return True


def sentence_added(changed: Certificate, sentence: dict[str, Any], _: random.Random) -> bool:
    """Add a sentence behind it."""
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


def _word(verdict: Any) -> str:
    return "that fail" if verdict.failure else f"proven: {verdict.rule}" if verdict.rule else "unproven"


if __name__ == "__main__":
    main()
