"""Who may see an uploaded document, who may write for whom, and what names tell those who do not see them."""

import pytest
from fastapi.testclient import TestClient

from tests.uploads import ADDER, PUBLIC, STAFF, ended, ids, send, upload, upload_client, upload_services

GUARDED = "# Plans\n\nThe plan is in confidence."
OPEN = "# Plans\n\nThe plan is known to all."


services = pytest.fixture(upload_services, scope="module")
client = pytest.fixture(upload_client, scope="module")


def listed(client: TestClient, title: str) -> list[tuple[str, str]]:
    found = client.get("/api/documents", params={"search": title}, headers=STAFF).json()["documents"]
    return [(one["category"], one["audience"]) for one in found]


@pytest.mark.parametrize("category", ["", "regulatory", "internal"])
def test_a_document_without_a_chosen_audience_is_for_the_staff(client, category):
    end = upload(client, {f"unsaid{category}.md": f"# Unsaid{category}\n\nWords."}, category=category)
    assert end["report"]["audience"] == "internal"
    assert listed(client, f"Unsaid{category}")[-1] == (category or "uploaded", "internal")
    assert not [one for one in ids(client, PUBLIC) if "unsaid" in one]


def test_a_document_is_public_where_the_uploader_says_so(client):
    end = upload(client, {"spoken.md": "# Spoken\n\nWords."}, category="carrier", audience="public")
    assert end["report"]["audience"] == "public"
    assert listed(client, "Spoken") == [("carrier", "public")]
    assert "spoken" in ids(client, PUBLIC)


def test_the_chosen_category_wins_over_the_files_own(client):
    text = "---\ntitle: Chosen\ncategory: regulatory\n---\n\n# Chosen\n\nWords."
    upload(client, {"chosen.md": text}, category="carrier")
    assert listed(client, "Chosen") == [("carrier", "internal")]
    upload(client, {"own.md": text.replace("Chosen", "Stated")})
    assert listed(client, "Stated") == [("regulatory", "internal")]


def test_a_file_that_says_that_it_is_internal_is_not_added_for_everybody(client, services):
    text = "---\ntitle: Guarded\naudience: internal\n---\n\n# Guarded\n\nWords."
    end = upload(client, {"guarded.md": text}, audience="public")
    assert "internal" in end["report"]["problems"][0]["reason"]
    assert listed(client, "Guarded") == []
    assert not list(services.uploads.folder.rglob("guarded.md"))


def test_a_caller_who_does_not_see_internal_documents_adds_public_ones_only(client):
    for fields in ({}, {"audience": "internal"}, {"category": "internal"}, {"replace": "true"}):
        refused = send(client, {"mine.md": OPEN}, ADDER, **fields)
        assert refused.status_code == 403
        assert "ask:internal" in refused.json()["message"]
    limits = client.get("/api/documents", headers=ADDER).json()["upload"]
    assert limits["audiences"] == ["public"]
    assert client.get("/api/documents", headers=STAFF).json()["upload"]["audiences"] == ["internal", "public"]


def test_a_category_of_the_staff_is_not_for_everybody(client):
    refused = send(client, {"both.md": OPEN}, STAFF, category="internal", audience="public")
    assert refused.status_code == 400
    assert send(client, {"both.md": OPEN}, STAFF, audience="directors").status_code == 400


@pytest.mark.parametrize("category", ["", "regulatory"])
def test_a_name_of_an_internal_document_is_neither_told_nor_taken(client, category):
    name, stem = f"plans{category}.md", f"plans{category}"
    upload(client, {name: GUARDED}, category=category)
    fields = {"category": category, "audience": "public"}
    added = ended(client, send(client, {name: OPEN}, ADDER, **fields))["report"]
    replaced = ended(client, send(client, {name: OPEN}, ADDER, replace="true", **fields))["report"]
    assert "confidence" in client.get(f"/documents/{stem}", headers=STAFF).json()["html"]
    assert (added["problems"], added["warnings"], added["replaced"]) == ([], [], [])
    assert replaced["replaced"] == [name]
    # With no document of that name the id has the same form.
    free = f"free{category}.md"
    ended(client, send(client, {free: OPEN}, ADDER, **fields))
    mine = {one for one in ids(client, ADDER) if one.endswith((stem, free.removesuffix(".md")))}
    assert len({one.removesuffix(stem).removesuffix(free.removesuffix(".md")) for one in mine}) == 1


def test_a_name_of_a_public_document_is_told(client):
    ended(client, send(client, {"known.md": OPEN}, ADDER, audience="public"))
    refused = send(client, {"known.md": OPEN}, ADDER, audience="public")
    assert refused.status_code == 409
    assert "'known.md'" in refused.json()["message"]


def test_an_internal_document_in_a_public_place_is_not_replaced(client, services):
    """An earlier version kept a file there that says itself that it is internal."""
    file = services.uploads.folder / "carrier" / "old.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("---\naudience: internal\n---\n\n# Old\n\nOld words.")
    services.index.ingest([file])
    end = ended(client, send(client, {"old.md": OPEN}, ADDER, category="carrier", audience="public", replace="true"))
    assert [one["path"] for one in end["report"]["problems"]] == ["old.md"]
    assert "Old words" in file.read_text()
