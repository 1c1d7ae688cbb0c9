from pathlib import Path

import chromadb
import pytest
from chromadb.config import Settings
from langchain_core.documents import Document

from app.adapters.stores.chroma import DocumentChroma, delete_collection, open_chroma
from app.adapters.stores.chroma.cache import FetchCache
from app.adapters.stores.chroma.client import connected
from app.adapters.stores.chroma.compat import collection_of, http_sessions
from app.adapters.stores.fts import LexicalIndex
from chains.errors import ConfigurationError, VectorStoreError
from chains.ingestion.index import indexed_fields
from tests.fakes import WordEmbeddings


def open_store(path: Path, model: str = "words") -> DocumentChroma:
    return open_chroma(
        path, "shelf", WordEmbeddings(), embedding_model=model, indexed_text=lambda document: document.page_content
    )


def test_the_private_names_that_compat_uses_are_there(tmp_path):
    store = open_store(tmp_path)
    with connected(tmp_path) as client:
        assert http_sessions(client) == []
        assert collection_of(store).id == client.get_collection("shelf").id


def test_scores_are_cosine_similarities(tmp_path):
    store = open_store(tmp_path)
    store.add_documents(
        [Document("alpha beta", metadata={"n": 1}), Document("gamma", metadata={"n": 2})], ids=["a", "b"]
    )

    found = store.nearest(WordEmbeddings().embed_query("alpha beta"), 2, {})

    assert {id_: round(score, 4) for id_, score in found.items()} == {"a": 1.0, "b": 0.0}


def test_what_is_searched_may_be_more_than_what_is_kept(tmp_path):
    store = open_chroma(
        tmp_path, "shelf", WordEmbeddings(), embedding_model="words", indexed_text=lambda d: d.metadata["title"]
    )
    store.add_documents([Document("kept words", metadata={"title": "searched title"})], ids=["a"])

    [(id_, score)] = store.nearest(WordEmbeddings().embed_query("searched title"), 1, {}).items()
    assert (store.get_by_ids([id_])[0].page_content, round(score, 4)) == ("kept words", 1.0)


def test_the_store_lasts_and_is_in_cosine_space(tmp_path):
    open_store(tmp_path).add_documents([Document("alpha", metadata={"n": 1})], ids=["a"])

    store = open_store(tmp_path)
    assert store.count() == 1
    assert store._collection.configuration_json["hnsw"]["space"] == "cosine"


def test_an_index_in_another_space_is_refused_with_the_command_that_rebuilds_it(tmp_path):
    client = chromadb.PersistentClient(str(tmp_path), settings=Settings(anonymized_telemetry=False))
    client.create_collection("shelf", configuration={"hnsw": {"space": "l2"}}, embedding_function=None)

    with pytest.raises(ConfigurationError, match=r"measures 'l2' distances.*waypoint ingest --reset"):
        open_store(tmp_path)


def test_an_index_of_another_embedding_model_is_refused_with_the_command_that_rebuilds_it(tmp_path):
    open_store(tmp_path, model="words")

    with pytest.raises(ConfigurationError, match=r"embedding model 'words', not 'other'.*waypoint ingest --reset"):
        open_store(tmp_path, model="other")


def test_a_deleted_collection_can_be_made_anew(tmp_path):
    open_store(tmp_path, model="words")
    delete_collection(tmp_path, "shelf")

    assert open_store(tmp_path, model="other").count() == 0


def test_deleting_what_is_not_there_is_no_error(tmp_path):
    delete_collection(tmp_path / "nowhere", "shelf")
    delete_collection(tmp_path, "shelf")


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(VectorStoreError, match="check CHROMA_PATH"):
        open_store(tmp_path / "file" / "store")


def test_more_documents_than_one_batch_holds_are_all_kept(tmp_path, monkeypatch):
    store = open_store(tmp_path)
    monkeypatch.setattr(store, "_batch_size", 3)
    documents = [Document(f"word{number}", metadata={"n": number}) for number in range(8)]

    store.add_documents(documents, ids=[str(number) for number in range(8)])
    assert store.count() == 8


def test_filters_may_be_one_or_several(tmp_path):
    store = open_store(tmp_path)
    labels = [
        {"audience": "public", "category": "a"},
        {"audience": "public", "category": "b"},
        {"audience": "internal"},
    ]
    store.add_documents([Document("same words", metadata=label) for label in labels], ids=["a", "b", "c"])

    def found(**where):
        return set(store.nearest(WordEmbeddings().embed_query("same words"), 5, where))

    assert found(audience="public") == {"a", "b"}
    assert found(audience="public", category="b") == {"b"}
    assert found() == {"a", "b", "c"}


def test_vectors_and_documents_of_unknown_ids_are_left_out(tmp_path):
    store = open_store(tmp_path)
    store.add_documents([Document("alpha", metadata={"n": 1})], ids=["a"])

    assert list(store.vectors(["a", "unknown"])) == ["a"]
    assert (store.vectors(["unknown"]), store.vectors([]), store.get_by_ids([])) == ({}, {}, [])
    assert [document.id for document in store.get_by_ids(["a", "unknown"])] == ["a"]


def test_documents_without_ids_get_some(tmp_path):
    store = open_store(tmp_path)
    assert store.add_documents([Document("alpha", metadata={"n": 1})]) == store.ids()


def test_deleting_leaves_the_others_and_an_unknown_id_is_no_error(tmp_path):
    store = open_store(tmp_path)
    store.add_documents([Document(name, metadata={"n": 1}) for name in "abc"], ids=list("abc"))
    store._batch_size = 1
    store.delete(["a", "c", "unknown"])
    store.delete()

    assert store.ids() == ["b"]


def test_what_chroma_raises_at_query_time_is_this_projects_error(tmp_path):
    store, other = open_store(tmp_path), open_store(tmp_path)
    other.delete_collection()

    for fails in (store.count, store.ids, lambda: store.nearest([1.0] * 256, 1, {}), lambda: store.vectors(["a"])):
        with pytest.raises(VectorStoreError, match="did not answer"):
            fails()


def test_what_is_replaced_or_deleted_is_not_remembered(tmp_path):
    store = open_store(tmp_path)
    store._documents = FetchCache(1)
    store.add_documents([Document(name, metadata={"n": 1}) for name in "ab"], ids=list("ab"))
    first = store.get_by_ids(["a", "b"])
    first[0].metadata["n"] = 2

    assert store.get_by_ids(["b", "a"])[0].metadata == {"n": 1}
    store.add_documents([Document("new", metadata={"n": 1})], ids=["a"])
    store.delete(["b"])
    assert [document.page_content for document in store.get_by_ids(["a", "b"])] == ["new"]


def test_vectors_are_read_once_and_anew_after_a_change(tmp_path):
    store = open_store(tmp_path)
    some = {"n": 1}
    store.add_documents([Document("old words", metadata=some), Document("others", metadata=some)], ids=["a", "b"])
    first = store.vectors(["a", "b"])

    assert store.vectors(["b", "a"])["a"] is first["a"]
    store.add_documents([Document("new", metadata=some)], ids=["a"])
    store.delete(["b"])
    again = store.vectors(["a", "b"])
    assert list(again) == ["a"]
    assert again["a"].tolist() != first["a"].tolist()


@pytest.mark.parametrize("way", ["add_texts", "aadd_texts", "aadd_documents", "update_document"])
async def test_every_way_of_adding_embeds_the_title_and_keeps_the_words(tmp_path, way):
    words = LexicalIndex(tmp_path / "words.sqlite3", fields=indexed_fields)
    store = open_chroma(
        tmp_path,
        "shelf",
        WordEmbeddings(),
        embedding_model="words",
        indexed_text=lambda document: document.metadata["title"],
        words=words,
    )
    document = Document("kept words", metadata={"title": "searched title", "doc_id": "a"})
    texts, metadata = ["kept words"], [document.metadata]
    match way:
        case "add_texts":
            store.add_texts(texts, metadata, ids=["a"])
        case "aadd_texts":
            await store.aadd_texts(texts, metadata, ids=["a"])
        case "aadd_documents":
            await store.aadd_documents([document], ids=["a"])
        case _:
            store.add_documents([Document("other words", metadata={"title": "else", "doc_id": "a"})], ids=["a"])
            store.update_document("a", document)

    [(id_, score)] = store.nearest(WordEmbeddings().embed_query("searched title"), 1, {}).items()
    assert (store.get_by_ids([id_])[0].page_content, round(score, 4)) == ("kept words", 1.0)
    assert list(words.search("kept", 1, {})) == ["a"]
