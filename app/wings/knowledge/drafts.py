"""Draft what is to be written: a document with its test from questions without an answer, tests from good answers."""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from app.ledger.answers import LoggedAnswer
from app.wings.knowledge.insights import Gap
from chains.errors import ConfigurationError
from chains.text.letters import one_line

MOST_LETTERS = 50  # Of a file's name.
_FIGURE = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?:\s?%)?(?![\w])")


def draft(gap: Gap, folder: Path) -> tuple[Path, Path]:
    """Write a document without an answer, and a test that fails until it has one; return both files.

    Raise ConfigurationError if they exist already, or cannot be written.
    """
    plain = unicodedata.normalize("NFKD", gap.question).encode("ascii", "ignore").decode().lower()
    name = "_".join(re.findall(r"[a-z0-9]+", plain))[:MOST_LETTERS].strip("_") or "question"
    document, tests = folder / f"{name}.md", folder / f"{name}.tests.yaml"
    question, *examples = map(one_line, [gap.question, *gap.examples])
    cases = [{"question": one, "must_cite": document.name, "audience": gap.audience} for one in (question, *examples)]
    front = _yaml({"title": question.rstrip(" ?"), "audience": gap.audience})
    write_new(document, f"---\n{front}---\n\n## {question}\n")
    write_new(tests, _yaml(cases))
    return document, tests


def write_new(file: Path, text: str) -> None:
    """Write a file that does not exist yet. Raise ConfigurationError if it exists already, or cannot be written."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        msg = f"{file} exists already; nothing was written into it"
        raise ConfigurationError(msg) from error
    except OSError as error:
        msg = f"{file} cannot be written: {error.strerror}"
        raise ConfigurationError(msg) from error


def proposed(answers: Iterable[LoggedAnswer]) -> str:
    """Return tests, as YAML, from the answers that users rated well: each question once, the newest answer of it."""
    cases: dict[str, dict[str, Any]] = {}
    for one in answers:
        if one.question and one.outcome == "answered" and (one.score or 0) > 0 and (case := _case(one)):
            cases.setdefault(one.question.casefold(), case)
    return _yaml(list(cases.values())) if cases else ""


def _case(answer: LoggedAnswer) -> dict[str, Any] | None:
    """Return the test of an answer: it cites the same files, and says the figures that its quotes give."""
    sentences = (answer.certificate or {}).get("sentences", ())
    cited = dict.fromkeys(source["file"] or source["doc_id"] for one in sentences for source in one["sources"])
    if not cited:
        return None
    case: dict[str, Any] = {"question": answer.question}
    quotes = [(one["says"], " ".join(source["quote"] for source in one["sources"])) for one in sentences]
    figures = (figure for says, quote in quotes for figure in _FIGURE.findall(says) if figure in quote)
    if must_say := list(dict.fromkeys(figures)):
        case["must_say"] = must_say
    return case | {"must_cite": list(cited), "audience": answer.audience}


def _yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=1000))
