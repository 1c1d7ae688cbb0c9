import json

import numpy as np
import pytest
from langchain_core.documents import Document

from app.adapters.stores.memory import SavedMemoryStore
from chains.errors import ConfigurationError, VectorStoreError
from tests.fakes import WordEmbeddings


class Words:
    """Keeps what it is handed."""

    def __init__(self):
        self.kept = {}

    def add(self, ids, documents):
        self.kept |= dict(zip(ids, documents, strict=True))

    def delete(self, ids):
        self.kept = {id_: document for id_, document in self.kept.items() if id_ not in ids}


def open_store(folder, *, model="words", words=None, embeddings=None):
    return SavedMemoryStore(
        folder / "kept" / "store.json",
        embeddings or WordEmbeddings(),
        embedding_model=model,
        indexed_text=lambda document: f"{document.metadata['title']} {document.page_content}",
        words=words,
    )


@pytest.fixture
def store(tmp_path):
    store = open_store(tmp_path)
    documents = [
        Document("alpha beta", metadata={"title": "one", "audience": "public"}),
        Document("gamma", metadata={"title": "two"}),
    ]
    store.add_documents(documents, ids=["a", "b"])
    return store


def file_of(folder):
    return folder / "kept" / "store.json"


def test_the_store_lasts_and_embeds_nothing_again(store, tmp_path):
    embeddings = WordEmbeddings()
    again = open_store(tmp_path, embeddings=embeddings)

    assert (again.ids(), again.count(), embeddings.embedded) == (["a", "b"], 2, 0)
    assert again.get_by_ids(["a"]) == store.get_by_ids(["a"])
    before, after = store.vectors(["a", "b"]), again.vectors(["a", "b", "unknown"])
    assert {id_: vector.tolist() for id_, vector in before.items()} == {
        id_: vector.tolist() for id_, vector in after.items()
    }


def test_the_file_names_its_version_and_model(store, tmp_path):
    kept = json.loads(file_of(tmp_path).read_text(encoding="utf-8"))

    assert set(kept) == {"version", "embeddingModel", "createdAt", "format", "updatedAt", "documents"}
    assert (kept["version"], kept["embeddingModel"]) == ("1.0.0", "words")
    assert set(kept["documents"][0]) == {"id", "pageContent", "metadata", "vector"}


def test_scores_are_cosines_of_what_is_indexed(store):
    found = store.nearest(WordEmbeddings().embed_query("one alpha beta"), 5, {})
    assert [(id_, round(score, 4)) for id_, score in found.items()] == [("a", 1.0), ("b", 0)]


def test_filters_hold(store):
    assert list(store.nearest(WordEmbeddings().embed_query("gamma"), 5, {"audience": "public"})) == ["a"]


def test_documents_without_ids_get_some(store):
    [id_] = store.add_documents([Document("delta", metadata={"title": ""})])
    assert store.get_by_ids([id_])[0].page_content == "delta"


def test_the_words_are_kept_in_step(tmp_path):
    words = Words()
    store = open_store(tmp_path, words=words)
    store.add_documents(
        [Document("x", metadata={"title": "t"}), Document("y", metadata={"title": "t"})], ids=["a", "b"]
    )
    store.delete(["a", "unknown"])

    assert list(words.kept) == store.ids() == ["b"]
    assert open_store(tmp_path).ids() == ["b"]


def test_an_empty_store_finds_nothing(tmp_path):
    assert open_store(tmp_path).nearest([1.0], 5, {}) == {}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"version": "0.9"}, "has version '0.9', not '1.0.0'"),
        ({"version": None}, "has version None"),
        ({"embeddingModel": "other"}, "embedding model 'other', not 'words'"),
        ({"documents": [{"pageContent": "x", "metadata": {}}]}, "is broken"),
        ({"documents": [{"id": "a", "pageContent": "x", "metadata": {}, "vector": "!"}]}, "is broken"),
        ({"documents": 7}, "is broken"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_the_command_that_rebuilds_it(store, tmp_path, change, told):
    path = file_of(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))

    with pytest.raises(ConfigurationError, match=rf"{told}.*waypoint ingest --reset"):
        open_store(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"7", b"\xff\xfe\x00"])
def test_a_broken_file_is_refused_with_the_command_that_rebuilds_it(tmp_path, content):
    file_of(tmp_path).parent.mkdir()
    file_of(tmp_path).write_bytes(content)

    with pytest.raises(ConfigurationError, match=r"is broken.*waypoint ingest --reset"):
        open_store(tmp_path)


def test_a_write_that_fails_leaves_the_file_and_the_store_as_they_were(store, tmp_path, monkeypatch):
    before = file_of(tmp_path).read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(VectorStoreError, match=r"No space left.*MEMORY_STORE_PATH"):
        store.add_documents([Document("new", metadata={"title": ""})], ids=["c"])

    assert file_of(tmp_path).read_bytes() == before
    assert store.ids() == ["a", "b"]
    assert [path.name for path in file_of(tmp_path).parent.iterdir()] == ["store.json"]


def test_a_file_that_cannot_be_read_is_a_clear_error(tmp_path):
    file_of(tmp_path).mkdir(parents=True)
    with pytest.raises(VectorStoreError, match="cannot be read"):
        open_store(tmp_path)


def test_vectors_keep_their_precision(store):
    assert store.vectors(["a"])["a"].dtype == np.float32


async def test_documents_added_without_blocking_are_embedded_and_kept_as_the_others(store, tmp_path):
    words = Words()
    again = open_store(tmp_path, words=words)
    added = await again.aadd_documents([Document("delta", metadata={"title": "three"})], ids=["c"])

    assert (added, list(words.kept)) == (["c"], ["c"])
    [(id_, score)] = open_store(tmp_path).nearest(WordEmbeddings().embed_query("three delta"), 1, {}).items()
    assert (id_, round(score, 4)) == ("c", 1.0)
