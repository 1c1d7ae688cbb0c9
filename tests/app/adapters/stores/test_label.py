import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from app.adapters.stores.chroma.client import connected
from app.settings import load_settings
from app.wiring import Parts, Services
from chains.errors import ConfigurationError
from tests.fakes import WordEmbeddings

MODEL = "sentence-transformers/all-MiniLM-L6-v2"


def services(**settings):
    return Services(load_settings(**settings), parts=Parts(embeddings=WordEmbeddings()))


def write_document(folder):
    file = folder / "docs" / "a.md"
    file.parent.mkdir()
    file.write_text("# Title\n\nSome words.")
    return file.parent


@pytest.fixture
def earlier_folder(tmp_path):
    """An index as earlier versions kept it: Chroma's files in CHROMA_PATH itself, without a format."""
    path = tmp_path / "storage" / "chroma"
    with connected(path) as client:
        configuration: Any = {"hnsw": {"space": "cosine"}}
        metadata = {"embedding_model": MODEL}
        client.create_collection("waypoint_kb", configuration=configuration, metadata=metadata, embedding_function=None)
    return path


def test_an_index_of_an_earlier_version_is_refused_with_the_command_that_rebuilds_it(earlier_folder):
    with pytest.raises(ConfigurationError, match=r"earlier version.*waypoint ingest --reset PATH"):
        services().store.count()


def test_a_reset_replaces_it_and_deletes_what_it_held(earlier_folder, tmp_path):
    assert services().ingest([write_document(tmp_path)], reset=True).added == 1
    assert services().store.count() == 1
    with closing(sqlite3.connect(earlier_folder / "chroma.sqlite3")) as connection:
        assert connection.execute("SELECT count(*) FROM collections").fetchone() == (0,)


def test_a_file_of_an_earlier_version_is_refused_too(tmp_path):
    options = {"vector_store_type": "memory", "memory_store_path": tmp_path / "store.json"}
    services(**options).ingest([write_document(tmp_path)])
    kept = json.loads((tmp_path / "store.json").read_text())
    del kept["format"]
    (tmp_path / "store.json").write_text(json.dumps(kept))

    with pytest.raises(ConfigurationError, match=r"earlier version.*waypoint ingest --reset PATH"):
        services(**options).store.count()
