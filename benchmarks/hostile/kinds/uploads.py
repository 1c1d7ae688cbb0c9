"""Slow pages of PDF files, uploads over what the caller does not see, and many uploads at once."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from app.wiring import Services
from benchmarks.hostile.alone import alone
from benchmarks.hostile.tried import Tried
from tests.access import settings_over, talking
from tests.documents import heavy_pdf, pdf
from tests.processes import PATIENCE_S
from tests.uploads import ADDER, KEYS, STAFF

WORDS = "Words that can be read"
CLOSED, SAME, MANY, MOST = 45, 16, 60, 20
NAMES = ("plans.md", "margins.md", "salaries.md")
FIELDS: tuple[dict[str, str], ...] = (
    {},
    {"audience": "internal"},
    {"audience": "public"},
    {"audience": "public", "category": "regulatory"},
)


def attack(folder: Path) -> list[Tried]:
    """Send all of it to one service, whose callers have keys."""
    corpus = folder / "corpus" / "docs"
    corpus.mkdir(parents=True)
    (corpus / "slow.pdf").write_bytes(heavy_pdf(WORDS))
    (corpus / "good.pdf").write_bytes(pdf(WORDS))
    Services(settings_over(folder, "http://127.0.0.1:1", min_chunks=0)).ingest([folder / "corpus"])
    options = {"AUTH_MODE": "api_key", "API_KEYS": KEYS, "UPLOAD_MAX_WAITING": str(MOST), "PAGE_TIMEOUT_S": "600"}
    with alone(folder, **options) as running, httpx.Client(base_url=running.url, timeout=PATIENCE_S) as client:
        return [_slow_pages(client, running.url), _names(client), _at_once(client)]


def _slow_pages(client: httpx.Client, url: str) -> Tried:
    tried = Tried("closed requests for a slow page", "lists, documents and other pages are answered after each")
    token = STAFF["Authorization"]
    for number in range(CLOSED):
        path = f"/documents/docs_slow/pages/1.png?width={900 + number}"
        with ExitStack() as closed:
            asked = closed.enter_context(talking(url))
            asked.say(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {token}\r\n\r\n")
        listed = client.get("/api/documents", headers=STAFF)
        tried.add(f"the list after {number}", held=listed.is_success)
    for path in ("/documents/docs_slow", "/documents/docs_good/pages/1", "/documents/docs_good/pages/1.png"):
        tried.add(path, held=client.get(path, headers=STAFF).is_success)
    return tried


def _names(client: httpx.Client) -> Tried:
    tried = Tried("uploads under the names of internal documents", "none is replaced, and no answer tells of one")
    for name in NAMES:
        _ended(client, _send(client, name, f"# {name}\n\nIn confidence.", STAFF))
        for fields in _ways():
            told = [_send(client, each, "# Mine\n\nOther.", ADDER, **fields) for each in (name, f"free-{name}")]
            tried.add(f"{name}, {fields}", held=told[0].status_code == told[1].status_code)
            for accepted in told:
                _ended(client, accepted)
        kept = client.get(f"/documents/{name.removesuffix('.md')}", headers=STAFF)
        tried.add(f"{name} is as it was", held="In confidence" in kept.text)
    return tried


def _ways() -> Iterator[dict[str, str]]:
    return ({**fields, "replace": replace} for replace in ("true", "") for fields in FIELDS)


def _at_once(client: httpx.Client) -> Tried:
    tried = Tried("uploads at once", "added, or refused with 409 or 429; none is lost")
    names = ["same.md"] * SAME + [f"many{number}.md" for number in range(MANY)]
    with ThreadPoolExecutor(SAME) as threads:
        sent = list(threads.map(lambda name: _send(client, name, f"# {name}\n\nWords.", STAFF), names))
    for name, answer in zip(names, sent, strict=True):
        reports = _ended(client, answer) if answer.is_success else {"problems": []}
        held = answer.status_code in {202, 409, 429} and not reports["problems"]
        tried.add(f"{name}: {answer.status_code}", held=held)
    added = Counter(answer.status_code for answer in sent[:SAME])
    tried.add(f"one of {SAME} with one name: {dict(added)}", held=added[202] == 1)
    return tried


def _send(client: httpx.Client, name: str, text: str, who: dict[str, str], **fields: str) -> httpx.Response:
    return client.post("/api/documents", files=[("files", (name, text.encode()))], data=fields, headers=who)


def _ended(client: httpx.Client, accepted: httpx.Response) -> dict[str, Any]:
    """Return the report of a job at its end; empty where there is no job."""
    if accepted.status_code != httpx.codes.ACCEPTED:
        return {}
    with client.stream("GET", accepted.json()["events"], headers=STAFF) as events:
        for _ in events.iter_lines():
            pass
    report: dict[str, Any] = client.get(accepted.json()["events"].removesuffix("/events"), headers=STAFF).json()[
        "report"
    ]
    return report or {"problems": []}
