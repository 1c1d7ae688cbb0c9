"""Strangers: they ask for internal documents by every route, and rate the answers of others."""

import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import httpx

from app.ledger.answers import AnswerStore
from app.settings import load_settings
from app.wings.knowledge.answer_log import open_answers
from benchmarks.hostile.trying import QUESTION, Tried, alone, index
from benchmarks.processes import PATIENCE_S, wait_until

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
    with alone(folder, AUTH_MODE="public") as running:
        return [Tried("audience probes", "no word of an internal document in the response", try_audience(running.url))]


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


def try_audience(url: str) -> Iterator[tuple[str, bool]]:
    """Ask as a stranger for each internal document; its words, its address or its title must not come back."""
    with httpx.Client(base_url=url, timeout=60) as client:
        for (number, document), path, claim, header in product(enumerate(INTERNAL), ROUTES, CLAIMS, HEADERS):
            more, asked = CLAIMS[claim], question(number)
            body = {"query": asked} if path == "/api/query" else {"input": {"question": asked} | more.get("input", {})}
            response = client.post(path, json=more | body, headers=HEADERS[header])
            name = f"{document} by {path}, {claim}, header {header}: {response.status_code}"
            yield name, "hushed" not in response.text


SCOPES = {"anna": "ask+feedback", "ben": "ask+feedback", "staff": "ask:internal+feedback"}
KEYS = ",".join(f"{name}:{sha256(name.encode()).hexdigest()}:{scopes}" for name, scopes in SCOPES.items())
CALLERS = {name: {"Authorization": f"Bearer {name}"} for name in SCOPES}
CALLERS |= {"a stranger": {}, "anna, embedded": CALLERS["anna"] | {"X-Waypoint-Embed": "1"}}
GIVEN = ({"score": 1}, {"score": 0}, {"score": -1, "comment": "Erased."})
OWN = "Mine."


def attack_feedback(folder: Path) -> list[Tried]:
    index(folder)
    store = open_answers(load_settings(_env_file=None, chroma_path=folder / "store"))
    with (
        alone(folder, AUTH_MODE="public", API_KEYS=KEYS, ANSWER_LOG_DAYS="90") as running,
        httpx.Client(base_url=running.url, timeout=PATIENCE_S) as client,
    ):
        pairs = [(asker, other) for asker, other in product(SCOPES, CALLERS) if asker != other]
        cases = (case for asker, other in pairs for case in _rate(client, store, asker, other))
        means = "refused with 403; the asker's score and comment stand"
        tried = Tried("feedback on the answers of others", means, cases)
    store.database.close()
    return [tried]


def _rate(client: httpx.Client, store: AnswerStore, asker: str, other: str) -> Iterator[tuple[str, bool]]:
    answer = client.post("/api/query", json={"query": QUESTION}, headers=CALLERS[asker]).json()
    trace_id = answer["metadata"]["traceId"]
    wait_until(lambda: store.find(trace_id))
    own = {"trace_id": trace_id, "score": -1, "comment": OWN}
    client.post("/api/feedback", json=own, headers=CALLERS[asker]).raise_for_status()
    for given in GIVEN:
        refused = client.post("/api/feedback", json={"trace_id": trace_id, **given}, headers=CALLERS[other])
        logged = store.find(trace_id)
        stands = logged is not None and (logged.score, logged.comment) == (-1, OWN)
        yield f"{other} on {asker}: {given}", stands and refused.status_code == httpx.codes.FORBIDDEN
