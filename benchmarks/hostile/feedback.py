"""Everybody who knows the trace id of an answer rates it: only the asker's own score and comment are taken."""

from hashlib import sha256
from itertools import product
from pathlib import Path

import httpx

from app.ledger.answers import AnswerStore
from app.settings import load_settings
from app.wings.knowledge.answer_log import open_answers
from benchmarks.hostile.trying import QUESTION, Tried, alone, index
from benchmarks.processes import PATIENCE_S, wait_until

SCOPES = {"anna": "ask+feedback", "ben": "ask+feedback", "staff": "ask:internal+feedback"}
KEYS = ",".join(f"{name}:{sha256(name.encode()).hexdigest()}:{scopes}" for name, scopes in SCOPES.items())
CALLERS = {name: {"Authorization": f"Bearer {name}"} for name in SCOPES}
CALLERS |= {"a stranger": {}, "anna, embedded": CALLERS["anna"] | {"X-Waypoint-Embed": "1"}}
GIVEN = ({"score": 1}, {"score": 0}, {"score": -1, "comment": "Erased."})
OWN = "Mine."


def attack(folder: Path) -> list[Tried]:
    index(folder)
    tried = Tried("feedback on the answers of others", "refused with 403; the asker's score and comment stand")
    store = open_answers(load_settings(_env_file=None, chroma_path=folder / "store"))
    with (
        alone(folder, ALLOW_ANONYMOUS="true", API_KEYS=KEYS, ANSWER_LOG="true") as running,
        httpx.Client(base_url=running.url, timeout=PATIENCE_S) as client,
    ):
        for asker, other in product(SCOPES, CALLERS):
            if asker != other:
                _rate(client, store, asker, other, tried)
    store.database.close()
    return [tried]


def _rate(client: httpx.Client, store: AnswerStore, asker: str, other: str, tried: Tried) -> None:
    answer = client.post("/api/query", json={"query": QUESTION}, headers=CALLERS[asker]).json()
    trace_id = answer["metadata"]["traceId"]
    wait_until(lambda: store.find(trace_id))
    own = {"trace_id": trace_id, "score": -1, "comment": OWN}
    client.post("/api/feedback", json=own, headers=CALLERS[asker]).raise_for_status()
    for given in GIVEN:
        refused = client.post("/api/feedback", json={"trace_id": trace_id, **given}, headers=CALLERS[other])
        logged = store.find(trace_id)
        stands = logged is not None and (logged.score, logged.comment) == (-1, OWN)
        tried.add(f"{other} on {asker}: {given}", held=stands and refused.status_code == httpx.codes.FORBIDDEN)
