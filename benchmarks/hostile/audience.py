"""A stranger asks for internal documents, by every route and every way in which a document can be internal."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from benchmarks.hostile.trying import Tried, alone, index

# Where a document lies, and its front matter. Each of them is for the staff alone.
INTERNAL = {
    "04_internal_synthetic/rates.md": "",
    "04_internal_synthetic/policies/rates.md": "",
    "04_INTERNAL_Synthetic/upper.md": "",
    "archive/04_internal_synthetic/2024/old.md": "",
    "desk/internal/notes.md": "",
    "desk/Internal/deep/er/notes.md": "",
    "01_regulatory/04_internal_synthetic/both.md": "",
    "01_regulatory/audience.md": "audience: internal",
    "01_regulatory/audience_upper.md": "audience: Internal",
    "01_regulatory/audience_other.md": "audience: directors",
    "02_carriers/category.md": "category: internal",
    "02_carriers/category_upper.md": "category: INTERNAL",
    "02_carriers/source.md": "source_type: internal_memo",
    "02_carriers/source_upper.md": "source_type: Internal memo",
    "03_reference/synthetic.md": "source_type: synthetic_internal",
    "03_reference/wide.md": "category: \uff29nternal",
}
STAFF = {"audience": "internal"}
CLAIMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "configurable": {"config": {"configurable": STAFF}},
    "metadata": {"config": {"metadata": STAFF, "tags": ["internal"]}},
    "filter": {"filter": STAFF, "audience": "internal", "category": "internal"},
    "input": {"input": STAFF},
    "kwargs": {"kwargs": {"config": {"configurable": STAFF}}},
}
HEADERS = {"none": {}, "audience": {"X-Audience": "internal"}, "user": {"X-User-Id": "admin", "X-Is-Admin": "true"}}
ROUTES = ("/api/query", "/copilot/invoke", "/copilot/stream", "/copilot/stream_events")


def attack(folder: Path) -> list[Tried]:
    staff = index(folder, documents())
    known = [staff.chain.invoke({"question": question(number)}) for number in range(len(INTERNAL))]
    if not all("hushed" in json.dumps(answer, default=str) for answer in known):
        sys.exit("The staff does not see all that strangers must not see: the probes would show nothing.")
    with alone(folder, ALLOW_ANONYMOUS="true") as running:
        return [try_audience(running.url)]


def secret(number: int) -> str:
    """Return the word that only one document holds."""
    return f"zarquon{number}"


def question(number: int) -> str:
    return f"What is the surcharge on weekends for {secret(number)} cargo?"


def documents() -> dict[str, str]:
    """Return a public document, and one internal document for each way of being it."""
    texts = {"01_regulatory/public.md": _document("", "The surcharge on weekends is 5 percent.")}
    for number, (name, front) in enumerate(INTERNAL.items()):
        sentence = f"The surcharge on weekends for {secret(number)} cargo is {number + 40} percent hushed."
        texts[name] = _document(front, sentence)
    return texts


def _document(front: str, sentence: str) -> str:
    head = f"---\ntitle: Guide\n{front}\n---\n\n" if front else ""
    return f"{head}# Guide\n\n## Rate\n\n{sentence}\n"


def try_audience(url: str) -> Tried:
    """Ask as a stranger for each internal document; its words, its address or its title must not come back."""
    tried = Tried("audience probes", "no word of an internal document in the response")
    with httpx.Client(base_url=url, timeout=60) as client:
        for name, path, body, headers in probes():
            response = client.post(path, json=body, headers=headers)
            tried.add(f"{name}: {response.status_code}", held="hushed" not in response.text)
    return tried


def probes() -> Iterator[tuple[str, str, dict[str, Any], dict[str, str]]]:
    for number, document in enumerate(INTERNAL):
        for path in ROUTES:
            for claim, more in CLAIMS.items():
                for header, headers in HEADERS.items():
                    body = _body(path, number, json.loads(json.dumps(more)))
                    yield f"{document} by {path}, {claim}, header {header}", path, body, headers


def _body(path: str, number: int, more: dict[str, Any]) -> dict[str, Any]:
    if path == "/api/query":
        return {"query": question(number), **more}
    more["input"] = {"question": question(number)} | more.get("input", {})
    return more
