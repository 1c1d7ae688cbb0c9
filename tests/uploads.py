"""A service to which documents are added over HTTP: who may, and how a test adds them and reads what came of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from app.wiring import Parts, Service, open_service
from tests.access import bearer, key_entry, settings_over
from tests.fakes import WordEmbeddings

STAFF, PUBLIC, ADDER = bearer("staff"), bearer("public"), bearer("adder")
KEYS = ",".join(
    [
        key_entry("staff", "staff", "ask:internal+ingest"),
        key_entry("adder", "adder", "ask+ingest"),
        key_entry("public", "public", "ask"),
    ]
)
GUIDE = "# Tarpaulins\n\n## Fee\n\nThe fee for a tarpaulin in the depot is 12 dollars."


def services_over(folder: Path, **settings: Any) -> Service:
    chosen = {"auth_mode": "api_key", "api_keys": KEYS, "llm_provider": "offline", "min_chunks": 0}
    chosen_settings = settings_over(folder, "http://127.0.0.1:1", **chosen | settings)
    return open_service(chosen_settings, parts=Parts(embeddings=WordEmbeddings()))


def send(client: TestClient, files: Mapping[str, bytes | str], who: dict[str, str] = STAFF, **fields: str) -> Any:
    parts = [
        ("files", (name, content if isinstance(content, bytes) else content.encode()))
        for name, content in files.items()
    ]
    return client.post("/api/documents", files=parts, data=fields, headers=who)


def ended(client: TestClient, accepted: Any) -> dict[str, Any]:
    assert accepted.status_code == 202, accepted.text
    with client.stream("GET", accepted.json()["events"], headers=STAFF) as events:
        told = [line for line in events.iter_lines() if line]
    assert told[-2] == "event: end"
    assert "event: progress" in told
    return json.loads(told[-1].removeprefix("data: "))


def upload(client: TestClient, files: Mapping[str, bytes | str], **fields: str) -> dict[str, Any]:
    return ended(client, send(client, files, STAFF, **fields))


def ids(client: TestClient, who: dict[str, str] = STAFF) -> set[str]:
    found = client.get("/api/documents", params={"limit": 500}, headers=who).json()["documents"]
    return {one["doc_id"] for one in found}
