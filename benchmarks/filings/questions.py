"""Questions about the reports, each with the page that answers it and the words on that page that prove it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from benchmarks.filings.company import Company, companies

HERE = Path(__file__).parent
FILE = HERE / "questions.jsonl"
FOR_EACH = 9  # Of each company, so many questions of `asked.txt`; the next company has the following ones.

_WORD = re.compile(r"\w+")


def rows(pages: dict[str, list[str]]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the question set; `pages` are the texts of each document's pages."""
    asked = (HERE / "asked.txt").read_text(encoding="utf-8").splitlines()
    for place, company in enumerate(companies()):
        for number in range(place * FOR_EACH, (place + 1) * FOR_EACH):
            yield _row(asked[number % len(asked)], company, pages[company.doc_id])


def _row(line: str, company: Company, pages: list[str]) -> dict[str, Any]:
    name, question, evidence, fact = (_filled(part, company) for part in line.split(" | "))
    found = [number for number, text in enumerate(pages, start=1) if words(evidence) in words(text)]
    if not found:
        msg = f"no page of {company.doc_id} holds {evidence!r}"
        raise ValueError(msg)
    gold = [{"doc_id": company.doc_id, "page": page, "evidence": evidence} for page in found]
    return {
        "id": f"{company.doc_id}_{name}",
        "question": question,
        "kind": "answerable",
        "form": name,
        "gold": gold,
        "answer_facts": [fact] if fact else [],
    }


def words(text: str) -> str:
    """Return the words of a text between blanks, so that line ends and markup make no difference."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


def write(pages: dict[str, list[str]]) -> None:
    """Write the question set."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows(pages)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _filled(part: str, company: Company) -> str:
    def amount(name: str, back: int = 0) -> str:
        return f"{company.figures[name][back]:,}"

    template = Environment(undefined=StrictUndefined, autoescape=False).from_string(part.strip())  # noqa: S701 - no HTML.
    return template.render(c=company, w=company.words, f=company.figures, n=amount)
