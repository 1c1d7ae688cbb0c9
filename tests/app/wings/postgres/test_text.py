"""What PostgreSQL has no place for, NUL and halves of surrogate pairs, does not keep the rest from being stored."""

import json

import httpx
import pytest
from langchain_core.documents import Document

from app.http.server import create_app
from app.settings import load_settings
from app.wiring import Parts, Services
from app.wiring.storage import copy_index
from tests.fakes import WordEmbeddings

pytestmark = pytest.mark.service

CHUNK = Document(
    "duty\0free \ud83d goods",
    metadata={"doc_id": "a\0b", "title": "T\0", "section": "S\0", "category": "x\0y", "audience": "public"},
)


@pytest.fixture
def settings(database_url, collection):
    return lambda kind: load_settings(
        vector_store_type=kind, database_url=database_url, collection_name=collection, scope_enabled=False, min_chunks=0
    )


def opened(settings):
    return Services(settings, parts=Parts(embeddings=WordEmbeddings()))


def kept_in(services):
    index = services.index.current()
    [id_] = index.store.ids()
    [chunk] = index.store.get_by_ids([id_])
    return id_, chunk.page_content, dict(chunk.metadata), list(index.words.search("goods", 5, {"category": "x\0y"}))


def add(services, chunk, id_):
    with services.stored.locked():
        change = services.stored.change(reset=False)
        contents = change.writable()
        contents.store.add_documents([chunk], ids=[id_])
        contents.records()[0].update([id_], group_ids=["a\0b"])
        contents.keep_scopes({"folder\0": 'a: "\\u0000\0"'})
        change.publish()


def test_a_chunk_is_kept_found_and_deleted_with_a_space_for_each_nul(settings):
    services = opened(settings("postgres"))
    add(services, CHUNK, "i\0d")

    metadata = {"doc_id": "a b", "title": "T ", "section": "S ", "category": "x y", "audience": "public"}
    assert kept_in(services) == ("i d", "duty free ? goods", metadata, ["i d"])
    index = services.index.current()
    assert [document.doc_id for document in index.words.documents()] == ["a b"]
    assert index.words.chunks_of("a\0b") == ["i d"]
    assert index.records()[0].list_keys(group_ids=["a\0b"]) == ["i d"]
    assert index.scopes() == {"folder ": 'a: "\\u0000 "'}
    add(services, CHUNK, "i\0d")
    assert services.index.current().store.count() == 1


def test_a_copy_takes_such_chunks_along(settings):
    chunk = Document(CHUNK.page_content.replace("\ud83d", "?"), metadata=CHUNK.metadata)
    add(opened(settings("memory")), chunk, "id")
    assert copy_index(settings("memory"), settings("postgres"), replace=False, progress=print) == 1
    assert kept_in(opened(settings("postgres")))[:2] == ("id", "duty free ? goods")


def test_a_file_whose_text_holds_one_is_ingested_and_stays_as_it_is(settings, tmp_path):
    lines = [{"text": f"duty\0free goods {number}", "title": "T\0"} for number in range(3)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)))
    services = opened(settings("postgres"))
    first = services.ingest([tmp_path / "rows.jsonl"])

    assert (first.added > 0, first.problems) == (True, [])
    assert services.ingest([tmp_path / "rows.jsonl"]).unchanged == first.added
    assert "\0" not in "".join(chunk.page_content for chunk in services.store.get_by_ids(services.store.ids()))


async def test_a_request_that_holds_one_is_no_failure_of_the_database(settings):
    services = opened(settings("postgres"))
    add(services, Document("duty free goods", metadata={"doc_id": "a"}), "id")
    transport = httpx.ASGITransport(create_app(services))
    async with services.running(), httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        found = await client.post("/search", json={"query": "duty\0free"})
        unknown = await client.get("/api/documents/%00")

    assert [result["text"] for result in found.json()["results"]] == ["duty free goods"]
    assert unknown.status_code == 404
