from pathlib import Path

import chromadb
import pytest
from chromadb.config import Settings
from langchain_core.documents import Document

from app.adapters.chroma import DocumentChroma, delete_collection, open_chroma
from chains.errors import ConfigurationError, VectorStoreError
from tests.fakes import WordEmbeddings


def open_store(path: Path, model: str = "words") -> DocumentChroma:
    return open_chroma(
        path, "shelf", WordEmbeddings(), embedding_model=model, indexed_text=lambda document: document.page_content
    )


def test_scores_are_cosine_similarities(tmp_path):
    store = open_store(tmp_path)
    store.add_documents(
        [Document("alpha beta", metadata={"n": 1}), Document("gamma", metadata={"n": 2})], ids=["a", "b"]
    )

    found = store.similarity_search_with_relevance_scores("alpha beta", k=2)

    scores = {document.page_content: round(score, 4) for document, score in found}
    assert scores == {"alpha beta": 1.0, "gamma": 0.0}


def test_what_is_searched_may_be_more_than_what_is_kept(tmp_path):
    store = open_chroma(
        tmp_path, "shelf", WordEmbeddings(), embedding_model="words", indexed_text=lambda d: d.metadata["title"]
    )
    store.add_documents([Document("kept words", metadata={"title": "searched title"})], ids=["a"])

    [(document, score)] = store.similarity_search_with_relevance_scores("searched title", k=1)
    assert (document.page_content, round(score, 4)) == ("kept words", 1.0)


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
