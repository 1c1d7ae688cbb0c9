"""An index that a program before the ledger made is brought over as it was, and nothing is embedded again."""

import base64
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import astuple
from pathlib import Path
from typing import Any, cast

import chromadb
import psycopg
import pytest

from app.ledger.index import FORMAT
from app.ledger.steps import STEPS
from app.settings import Settings, load_settings
from app.wiring import Parts, Service, open_service
from app.wiring.models import embedding_label
from app.wiring.storage import copy_index
from chains.errors import ConfigurationError
from tests.fakes import WordEmbeddings

SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA waypoint;
CREATE TABLE waypoint.indexes (index integer PRIMARY KEY, embedding_model text, format integer, scopes jsonb);
CREATE TABLE waypoint.collections (name text PRIMARY KEY, index integer REFERENCES waypoint.indexes);
CREATE TABLE waypoint.chunks_7 (number serial, id text, content text, metadata json, embedding vector);
CREATE TABLE waypoint.records (index integer, namespace text, key text, updated_at double precision);
"""


class Before:
    """What an index holds, to be written in the forms of before."""

    file = Path("storage/memory-vector-store.json")

    def __init__(self, services: Service) -> None:
        index = services.index.current()
        ids = [id_ for document in index.documents() for id_ in index.chunks_of(document.doc_id)]
        vectors = index.vectors(ids)
        self.chunks = [
            (str(chunk.id), chunk.page_content, chunk.metadata, vectors[str(chunk.id)])
            for chunk in index.get_by_ids(ids)  # In any order.
        ]
        self.sources = [(json.dumps(astuple(source)), written) for source, written in index.sources().items()]
        self.contents = contents(services.settings)
        self.scopes = json.dumps(index.scopes())
        self.made = {"format": FORMAT, "embedding_model": embedding_label(services.settings)}

    def records(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "scopes.json").write_text(self.scopes)
        with closing(sqlite3.connect(folder / "records.sqlite3")) as records:
            records.execute("CREATE TABLE upsertion_record (namespace, key, updated_at)")
            records.executemany("INSERT INTO upsertion_record VALUES ('sources', ?, ?)", self.sources)
            records.execute("INSERT INTO upsertion_record VALUES ('chunks', 'abc', 1.0)")
            records.commit()

    def chroma(self, settings: Settings) -> None:
        folder = settings.chroma.path / settings.store.collection
        self.records(folder / "g1")
        (folder / "version").write_text("g1\n")
        client: Any = chromadb.PersistentClient(str(folder / "g1"))
        ids, texts, metadatas, vectors = map(list, zip(*self.chunks, strict=True))
        collection = client.create_collection(settings.store.collection, metadata=self.made)
        collection.add(ids=ids, documents=texts, metadatas=metadatas, embeddings=vectors)
        client.close()

    def memory(self, _settings: Settings | None = None) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        file = self.file
        self.records(file.with_name(f"{file.name}.index"))
        documents = [
            {
                "id": id_,
                "pageContent": text,
                "metadata": metadata,
                "vector": base64.b64encode(vector.tobytes()).decode(),
            }
            for id_, text, metadata, vector in self.chunks
        ]
        made = {"format": self.made["format"], "embeddingModel": self.made["embedding_model"]}
        file.write_text(json.dumps(made | {"documents": documents}))

    def postgres(self, settings: Settings) -> None:
        assert settings.database.url
        with psycopg.connect(settings.database.url.get_secret_value()) as connection:
            connection.execute(SCHEMA)
            index = (self.made["embedding_model"], self.made["format"], self.scopes)
            connection.execute("INSERT INTO waypoint.indexes VALUES (7, %s, %s, %s)", index)
            connection.execute("INSERT INTO waypoint.collections VALUES (%s, 7)", [settings.store.collection])
            rows: Iterable[Any] = (
                (id_, text, json.dumps(metadata), str(vector.tolist())) for id_, text, metadata, vector in self.chunks
            )
            cursor = connection.cursor()
            cursor.executemany(
                "INSERT INTO waypoint.chunks_7 (id, content, metadata, embedding) VALUES (%s, %s, %s, %s)", rows
            )
            cursor.executemany("INSERT INTO waypoint.records VALUES (7, 'sources', %s, %s)", self.sources)


@pytest.fixture
def before(corpus, tmp_path) -> Before:
    services = opened(load_settings(vector_store_type="memory", chroma_path=tmp_path / "made"))
    services.index.ingest([corpus])
    return Before(services)


@pytest.mark.parametrize("kind", ["chroma", "memory", pytest.param("postgres", marks=pytest.mark.service)])
def test_the_first_question_finds_what_the_earlier_index_held(before, corpus, tmp_path, request, kind):
    options = {"database_url": request.getfixturevalue("database_url")} if kind == "postgres" else {}
    settings = load_settings(vector_store_type=kind, chroma_path=tmp_path / "old", **options)
    getattr(before, kind)(settings)

    assert contents(settings) == before.contents
    services = opened(settings)
    assert services.index.ingest([corpus]).unchanged == len(before.chunks)
    assert cast("WordEmbeddings", services.index.embeddings).embedded == 0


@pytest.mark.parametrize("made", [{"embedding_model": "another"}, {"format": FORMAT - 1}])
def test_an_index_of_another_model_or_format_is_named_and_the_ledger_stays_empty(before, tmp_path, made):
    settings = load_settings(vector_store_type="memory")
    before.made |= made
    before.memory()
    services = opened(settings)

    with pytest.raises(ConfigurationError, match="an earlier version or with another model; rebuild it"):
        services.index.current()
    assert services.index.stored.version() is None


def test_a_ledger_of_the_memory_store_at_its_old_place_is_named_and_not_forgotten(waypoint, monkeypatch):
    monkeypatch.setenv("VECTOR_STORE_TYPE", "memory")
    old = Path("storage/memory-vector-store.waypoint_kb.ledger.sqlite3")
    old.parent.mkdir()
    old.write_bytes(b"")

    code, _, err = waypoint("upgrade")
    new = Path("storage/chroma/waypoint_kb.ledger.sqlite3").absolute()
    assert (code, f"move {old} to {new}" in err, new.exists()) == (2, True, False)


def test_the_command_brings_all_over_and_then_finds_nothing(before, tmp_path, waypoint, monkeypatch):
    monkeypatch.setenv("VECTOR_STORE_TYPE", "memory")
    monkeypatch.setenv("MEMORY_STORE_PATH", str(tmp_path / "old.json"))
    before.file = tmp_path / "old.json"
    before.memory()

    assert waypoint("upgrade")[1].startswith(f"Brought over {len(before.chunks)} passages of {tmp_path / 'old.json'}")
    assert waypoint("upgrade")[1] == "There is nothing to bring over.\n"


QUESTION = "Which discount do we give on the rate?"


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    for name, text in {"gst.md": "# GST\n\nThe rate is nine.", "line.md": "# Line\n\nA discount on the rate."}.items():
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    (folder / "scope.yaml").write_text("{}")
    return folder


@pytest.fixture
def settings(database_url):
    """Return the settings of a kind of store; all kinds are of one deployment."""
    urls = {"postgres": {"database_url": database_url}}
    return lambda kind: load_settings(vector_store_type=kind, **urls.get(kind, {}))


def opened(settings):
    return open_service(settings, parts=Parts(embeddings=WordEmbeddings()))


def contents(settings):
    index = opened(settings).index.current()
    ids = sorted(id_ for document in index.documents() for id_ in index.chunks_of(document.doc_id))
    chunks = {chunk.id: (chunk.page_content, chunk.metadata) for chunk in index.get_by_ids(ids)}
    return {
        "chunks": [chunks[id_] for id_ in ids],
        "vectors": [vector.tolist() for _, vector in sorted(index.vectors(ids).items())],
        "scopes": index.scopes(),
        "words": {id_: round(score, 6) for id_, score in index.search(QUESTION, 9, {}).items()},
        "written": {source: round(time, 3) for source, time in index.sources().items()},
    }


@pytest.mark.service
def test_an_index_goes_round_all_stores_and_nothing_is_embedded_again(corpus, settings):
    opened(settings("chroma")).index.ingest([corpus])
    expected = contents(settings("chroma"))
    progress = []

    for source, target in (("chroma", "postgres"), ("postgres", "memory")):
        tell = lambda *told: progress.append(told)  # noqa: E731
        assert copy_index(settings(source), settings(target), replace=target == "memory", progress=tell) == 2
        assert contents(settings(target)) == expected
        services = opened(settings(target))
        assert services.index.ingest([corpus]).unchanged == 2
        assert services.index.embeddings.embedded == 0
    assert progress == [(2, 2, "passages")] * 2


@pytest.mark.service
def test_what_a_store_holds_is_replaced_only_when_that_is_said(corpus, settings):
    opened(settings("memory")).index.ingest([corpus])
    opened(settings("postgres")).index.ingest([corpus])
    (corpus / "line.md").unlink()
    opened(settings("memory")).index.ingest([corpus])

    with pytest.raises(ConfigurationError, match="holds 2 passages; --replace"):
        copy_index(settings("memory"), settings("postgres"), replace=False, progress=print)
    assert opened(settings("postgres")).index.current().count() == 2
    copy_index(settings("memory"), settings("postgres"), replace=True, progress=print)
    assert opened(settings("postgres")).index.current().count() == 1


@pytest.mark.service
def test_the_commands_copy_and_migrate(corpus, waypoint, monkeypatch, database_url):
    assert waypoint("migrate", VECTOR_STORE_TYPE="memory")[1].endswith(f"(version {1 + len(STEPS)}).\n")
    monkeypatch.setenv("DATABASE_URL", database_url)

    code, out, _ = waypoint("migrate")
    assert (code, "are up to date" in out, "s3cret" in out) == (0, True, False)
    code, out, _ = waypoint("copy", "--to", "postgres")
    assert (code, out) == (
        0,
        "Copied 0 passages from memory to postgres; set VECTOR_STORE_TYPE=postgres to use them.\n",
    )
    code, _, err = waypoint("copy", "--to", "memory")
    assert (code, "name another store" in err) == (2, True)


def test_a_question_during_the_first_ingestion_finds_nothing_and_does_not_fail(tmp_path):
    services = open_service(load_settings(_env_file=None, chroma_path=tmp_path / "chroma", llm_provider="offline"))

    with services.index.stored.locked():
        assert services.chain.invoke({"question": "What is the GST rate?"})["outcome"] == "no_results"
