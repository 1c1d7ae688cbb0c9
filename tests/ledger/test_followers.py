"""Chroma follows the ledger: it finds the same passages, and whatever becomes of it, questions are answered."""

import shutil
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from langchain_core.documents import Document

from app.adapters.stores.chroma import ChromaFolder
from app.ledger.connect import open_database
from app.ledger.index import PassageIndex
from chains.errors import ConfigurationError
from tests.fakes import WordEmbeddings
from tests.indexes import index_in, put

VECTOR = WordEmbeddings().embed_query("words about seven parcels")


def followed(folder: Path, *, serves: bool = True) -> PassageIndex:
    database = open_database(folder / "kb.sqlite3", collection="kb")
    index = index_in(database, follower=lambda: ChromaFolder(folder / "vectors", "desk"))
    index.vectors.serves = serves
    return index


def passages(count: int, word: str = "parcels") -> dict[str, Document]:
    audiences = ("public", "internal")
    return {
        f"{word}{number}": Document(f"words about {number} {word}", metadata={"audience": audiences[number % 2]})
        for number in range(count)
    }


def test_it_finds_what_exact_search_finds_also_after_changes(tmp_path):
    index = followed(tmp_path)
    for change in (passages(40), passages(5, "pallets"), {}):
        put(index, change, stale=["parcels3", "parcels4"] if not change else ())
        exact = followed(tmp_path, serves=False)
        for where in ({}, {"audience": "public"}, {"audience": "public", "category": "none"}):
            found, expected = (each.open().nearest(VECTOR, 60, where) for each in (index, exact))
            assert found == pytest.approx(expected, abs=1e-6)
        assert (index.open().searched_by(), exact.open().searched_by()) == ("chroma", "exact search")


@pytest.mark.parametrize("harm", ["deleted", "damaged", "behind"])
def test_one_that_is_gone_broken_or_behind_is_done_without_and_filled_again(tmp_path, harm):
    index = followed(tmp_path)
    put(index, passages(9))
    index.close()
    if harm == "deleted":
        shutil.rmtree(tmp_path / "vectors")
    elif harm == "damaged":
        for file in (tmp_path / "vectors").rglob("chroma.sqlite3"):
            file.write_bytes(b"rubbish" * 1000)
    else:
        put(index_in(index.database), {"late": Document("words about seven parcels")})

    again = followed(tmp_path)
    assert len(again.open().nearest(VECTOR, 20, {})) == again.count()
    again.close()
    assert cast("WordEmbeddings", again.recipe.embeddings).embedded == 0
    if harm != "damaged":
        assert again.open().searched_by() == "chroma"
    else:
        assert again.open().searched_by().startswith("exact search: chroma in")
        put(again, {"late": Document("words")})
        assert followed(tmp_path).open().searched_by() == "chroma"


def test_a_folder_holds_the_last_version_alone(tmp_path):
    index = followed(tmp_path)
    put(index, passages(3))
    put(index, passages(2, "pallets"))
    assert [path.name for path in (tmp_path / "vectors").iterdir()] == [index.version()]


def test_vectors_of_other_dimensions_are_refused_with_the_command_that_rebuilds(database):
    put(index_in(database), {"a": Document("words")})
    other = index_in(database, dimensions=64)
    with pytest.raises(ConfigurationError, match="waypoint ingest --reset"):
        put(other, {"b": Document("words")})
    with pytest.raises(ConfigurationError, match="256 dimensions, and the embedding model makes 64"):
        other.open().nearest([1.0] * 64, 1, {})


def test_an_index_of_another_model_is_refused_until_it_is_reset(database):
    put(index_in(database), {"a": Document("words")})
    other = index_in(database, model="other", dimensions=64)
    with pytest.raises(ConfigurationError, match=r"'words', not 'other'.*waypoint ingest --reset"):
        other.open()
    put(other, {"b": Document("words")}, reset=True)
    assert [document.doc_id for document in other.open().documents()] == ["b"]


def test_vectors_and_metadata_come_back_as_they_were_given(database):
    metadata = {"title": "Naïve “words”", "chunk_index": 2, "score": 0.5, "flag": True, "audience": "public"}
    put(index_in(database), {"a": Document("words", metadata=metadata)})
    index = index_in(database).open()

    [document] = index.get_by_ids(["a", "unknown"])
    assert (document.page_content, document.metadata) == ("words", metadata)
    assert np.array_equal(index.vectors(["a"])["a"], np.array(WordEmbeddings().embed_query("words"), dtype=np.float32))


def test_readers_keep_the_version_that_they_began_with(database, address, file):
    put(index_in(database), {"a": Document("words")})
    writer = index_in(open_database(file, address, collection="kb"))
    before = index_in(database).open()
    with before.reading():
        assert before.count() == 1
        put(writer, {"b": Document("more words")}, stale=["a"])
        assert list(before.nearest(WordEmbeddings().embed_query("words"), 5, {})) == ["a"]
        assert [document.id for document in before.get_by_ids(["a", "b"])] == ["a"]
        assert list(before.search("words", 5, {})) == ["a"]
    assert list(before.nearest(WordEmbeddings().embed_query("words"), 5, {})) == ["b"]


@pytest.mark.parametrize("odd", ["a\0b", "\ue000 \U0001f600", "\\u0000"])
def test_odd_characters_are_kept_or_become_a_space(database, odd):
    put(index_in(database), {"a": Document(f"words {odd}", metadata={"title": odd})})
    [document] = index_in(database).open().get_by_ids(["a"])
    kept = odd.replace("\0", " ") if database.dialect == "postgresql" else odd
    assert document.page_content == f"words {kept}"
    assert document.metadata["title"] == odd.replace("\0", " ")
