from contextlib import suppress

import psycopg
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_tests.integration_tests import VectorStoreIntegrationTests

from app.adapters.stores.fts import LexicalIndex
from app.adapters.stores.index import Recipe
from app.adapters.stores.search_words import LONG
from app.wings.postgres import store
from app.wings.postgres.database import Database
from app.wings.postgres.index import PostgresIndex
from app.wiring.sample import sample_corpus
from chains.errors import ConfigurationError, IndexBusyError
from tests.fakes import WordEmbeddings
from tests.waiting import wait_until

pytestmark = pytest.mark.service


def fields(chunk):
    return chunk.metadata.get("title", ""), chunk.metadata.get("section", ""), chunk.page_content


def recipe(embeddings=None, model="words"):
    return Recipe(embeddings or WordEmbeddings(), model, lambda chunk: chunk.page_content, fields)


def open_index(url, collection, **options):
    return PostgresIndex(Database(url, pool_size=5, timeout_s=30), collection, recipe(**options))


def chunk(text, **metadata):
    return Document(text, metadata=metadata)


def add(index, **texts):
    with index.locked():
        contents = index.change(reset=False).writable()
        contents.store.add_documents([chunk(text) for text in texts.values()], ids=list(texts))


class TestStore(VectorStoreIntegrationTests):
    """LangChain's own tests of a store."""

    @pytest.fixture
    def vectorstore(self, database_url, collection):
        return open_index(database_url, collection, embeddings=self.get_embeddings()).open().store


@pytest.fixture
def index(database_url, collection):
    return open_index(database_url, collection)


def test_similarities_are_cosines_nearest_first(index):
    add(index, a="alpha beta", b="gamma", c="alpha delta")
    found = index.open().store.nearest(WordEmbeddings().embed_query("alpha beta"), 2, {})

    assert {id_: round(score, 4) for id_, score in found.items()} == {"a": 1.0, "c": 0.5}


@pytest.mark.parametrize("compared", [0, 2, 1000])
def test_filters_hold_and_find_all_that_they_let_through(index, monkeypatch, compared):
    monkeypatch.setattr(store, "MOST_COMPARED", compared)
    labels = [{"audience": "public", "category": "a"}, {"audience": "public", "kind": "b"}, {"audience": "internal"}]
    with index.locked():
        shelf = index.change(reset=False).writable().store
        shelf.add_documents([chunk("same words", **label) for label in labels], ids=["a", "b", "c"])

    def found(**where):
        return set(index.open().store.nearest(WordEmbeddings().embed_query("same words"), 5, where))

    assert found(audience="public") == {"a", "b"}
    assert found(audience="public", category="a") == {"a"}
    assert found(kind="b") == {"b"}
    assert found() == {"a", "b", "c"}


def test_a_chunk_with_the_same_id_is_replaced_with_its_words(index):
    add(index, a="old words")
    add(index, a="new letters")
    opened = index.open()

    assert [one.page_content for one in opened.store.get_by_ids(["a", "unknown"])] == ["new letters"]
    assert opened.words.search("old words", 5, {}) == {}
    assert list(opened.words.search("letters", 5, {})) == ["a"]
    assert (opened.store.count(), opened.words.count(), list(opened.store.vectors(["a", "b"]))) == (1, 1, ["a"])


def test_metadata_and_odd_characters_come_back(index):
    metadata = {"title": "Ä \u2028", "n": 1, "x": 1.5, "deep": {"b": [1, None]}, "flag": True}
    with index.locked():
        index.change(reset=False).writable().store.add_documents([chunk("quote ' \\ % :name", **metadata)], ids=["a"])

    [found] = index.open().store.get_by_ids(["a"])
    assert (found.page_content, found.metadata) == ("quote ' \\ % :name", metadata)


def test_the_words_are_ranked_exactly_as_in_sqlite(index, tmp_path):
    texts = [text for path in sorted(sample_corpus().rglob("*.md")) for text in path.read_text().split("\n\n")]
    chunks = [chunk(text, title=f"title {number % 7}", section="rates") for number, text in enumerate(texts)]
    ids = [str(number) for number in range(len(chunks))]
    lexical = LexicalIndex(tmp_path / "words.sqlite3", fields=fields)
    lexical.add(ids, chunks)
    with index.locked():
        index.change(reset=False).writable().store.add_documents(chunks, ids=ids)
    words = index.open().words

    for question in (
        "Which documents are needed for imports to Indonesia?",
        "What is the demurrage rate, and who pays it?",
        "chargable weight of parcels, e.g. 12 kg",
        "Is there an embargo on batteries?",
        "the",
        "",
    ):
        asked = lexical.corrected(question, {}, lambda _word: False)
        assert words.corrected(question, {}, lambda _word: False) == asked
        expected, found = lexical.search(asked, 50, {}), words.search(asked, 50, {})
        # Equal scores may stand in any order, so the last ones may be others.
        assert sorted(found.values()) == pytest.approx(sorted(expected.values()))
        assert {id_ for id_, score in expected.items() if score > min(expected.values())} <= set(found)


def test_long_documents_are_named_exactly_as_in_sqlite(index, tmp_path):
    chunks = [
        chunk("figures", title=f"{name} Inc. report", doc_id=name, chunk_index=number, audience=audience)
        for name, audience in (("Acme", "public"), ("Globex", "public"), ("Initech", "internal"))
        for number in range(LONG)
    ]
    ids = [str(number) for number in range(len(chunks))]
    lexical = LexicalIndex(tmp_path / "words.sqlite3", fields=fields)
    lexical.add(ids, chunks)
    with index.locked():
        index.change(reset=False).writable().store.add_documents(chunks, ids=ids)
    words = index.open().words

    for question in ("the figures of Acme", "of Acme and Initech", "the figures of Initech", "the report", ""):
        for where in ({}, {"audience": "public"}):
            assert words.named(question, where) == lexical.named(question, where)
    assert words.named("the figures of Acme", {}) == {"Acme": 1.0}


def test_a_stranger_is_ranked_by_public_chunks_alone_exactly_as_in_sqlite(index, tmp_path):
    texts = [text for path in sorted(sample_corpus().rglob("*.md")) for text in path.read_text().split("\n\n")][:300]
    chunks = [
        chunk(text, title="rates", audience="internal" if number % 3 else "public") for number, text in enumerate(texts)
    ]
    ids = [str(number) for number in range(len(chunks))]
    alone = LexicalIndex(tmp_path / "words.sqlite3", fields=fields)
    alone.add(ids[::3], chunks[::3])
    with index.locked():
        shelf = index.change(reset=False).writable().store
        shelf.add_documents([*chunks, chunk("gone", audience="public")], ids=[*ids, "gone"])
        shelf.delete(["gone"])
        shelf.add_documents([chunks[0].model_copy()], ids=["0"])
    words = index.open().words

    for question in (
        "Which documents are needed for imports?",
        "demurage and rates",
        "chargable weight",
        "embargo",
        "",
    ):
        asked = alone.corrected(question, {}, lambda _word: False)
        assert words.corrected(question, {"audience": "public"}, lambda _word: False) == asked
        expected, found = alone.search(asked, 100, {}), words.search(asked, 100, {"audience": "public"})
        assert found == pytest.approx(expected)


def test_an_index_of_another_embedding_model_is_refused(index, database_url, collection):
    index.open()
    with pytest.raises(ConfigurationError, match=r"embedding model 'words', not 'other'.*waypoint ingest --reset"):
        open_index(database_url, collection, model="other").open()


def test_vectors_of_other_dimensions_are_refused(index, database_url, collection):
    add(index, a="alpha")
    other = open_index(database_url, collection, embeddings=DeterministicFakeEmbedding(size=6))

    with pytest.raises(ConfigurationError, match=r"256 dimensions.* makes 6.*waypoint ingest --reset"):
        add(other, b="beta")
    with pytest.raises(ConfigurationError, match="dimensions"):
        other.open().store.nearest([1.0] * 6, 1, {})
    assert index.open().store.ids() == ["a"]


def test_what_is_not_committed_nobody_sees(index, database_url, collection):
    add(index, a="alpha")
    before = index.version()
    with index.locked(), suppress(KeyboardInterrupt):
        contents = index.change(reset=False).writable()
        with contents.transaction():
            contents.store.add_documents([chunk("beta")], ids=["b"])
            contents.records()[0].update(["b"])
            assert open_index(database_url, collection).open().store.ids() == ["a"]
            raise KeyboardInterrupt

    assert (index.open().store.ids(), index.version()) == (["a"], before)
    assert index.open().records()[0].list_keys() == []


def test_a_reset_is_seen_when_it_is_published_and_what_it_replaced_is_deleted(index, database_url, collection):
    add(index, a="alpha")
    with index.locked():
        change = index.change(reset=True)
        change.writable().store.add_documents([chunk("beta")], ids=["b"])
        assert index.open().store.ids() == ["a"]
        change.publish()

    assert index.open().store.ids() == ["b"]
    assert list(index.open().store.nearest(WordEmbeddings().embed_query("beta"), 1, {})) == ["b"]
    with psycopg.connect(database_url) as connection:
        kept = connection.execute("SELECT index FROM waypoint.indexes WHERE collection = %s", [collection]).fetchall()
        assert len(kept) == 1


def test_a_second_ingestion_is_refused_on_any_host_and_other_collections_are_free(index, database_url, collection):
    with index.locked():
        with pytest.raises(IndexBusyError, match="on another host"), open_index(database_url, collection).locked():
            pass
        with open_index(database_url, f"{collection}_other").locked():
            pass
    with open_index(database_url, collection).locked():
        pass


def test_a_change_has_a_version_that_every_host_reads(index, database_url, collection):
    other = open_index(database_url, collection)
    before = index.version()
    add(other, a="alpha")
    assert index.version() == other.version() != before


def test_a_question_reads_one_moment(index, database_url, collection):
    add(index, a="alpha beta")
    opened = index.open()
    with opened.store.reading():
        assert opened.store.ids() == ["a"]
        add(open_index(database_url, collection), b="beta")
        assert opened.store.ids() == list(opened.words.search("beta", 5, {})) == ["a"]
    assert sorted(opened.store.ids()) == ["a", "b"]


def test_words_that_were_asked_are_remembered_until_the_index_is_opened_anew(index, database_url, collection):
    add(index, a="alpha beta")
    opened = index.open()
    first = opened.words.search("alpha", 5, {})
    assert opened.words.search("gamma", 5, {}) == {}
    with psycopg.connect(database_url) as connection:  # Nothing is read of it any more.
        connection.execute("DELETE FROM waypoint.terms WHERE index = %s", [opened.partition.number])
    assert opened.words.search("alpha", 5, {}) == first

    add(open_index(database_url, collection), b="gamma")
    assert list(index.open().words.search("gamma", 5, {})) == ["b"]
    assert index.open().words.search("alpha", 5, {}) == {}


def test_vectors_come_back_as_they_were_given(index):
    add(index, a="alpha beta")
    expected = WordEmbeddings().embed_documents(["alpha beta"])[0]
    assert index.open().store.vectors(["a", "unknown"])["a"].tolist() == pytest.approx(expected, rel=1e-6)


def test_an_ingestion_ends_before_the_next_one_begins(index):
    for _ in range(30):
        with index.locked():
            pass


def test_the_server_plans_for_the_chunks_that_there_are(index, database_url):
    with index.locked():
        change = index.change(reset=False)
        change.writable().store.add_documents([chunk(f"word{number}") for number in range(50)])
        change.publish()

    with psycopg.connect(database_url) as connection:
        query = "SELECT reltuples FROM pg_class WHERE relname = %s"
        assert connection.execute(query, [f"chunks_{index.open().partition.number}"]).fetchall() == [(50.0,)]


def test_few_chunks_are_searched_by_the_index_of_vectors_as_many_are(database_url, collection):
    database = Database(database_url, pool_size=5, timeout_s=30)
    index = PostgresIndex(database, collection, recipe())
    with index.locked():
        change = index.change(reset=True)
        written = change.writable().store
        assert isinstance(written, store.PostgresStore)
        written.add_documents([chunk(f"word{number}") for number in range(2000)])
        change.publish()
    opened = index.open()
    opened.store.nearest(WordEmbeddings().embed_query("word7"), 10, {})
    database.close()  # A connection reports its scans when it ends, or after ten seconds.

    def scans() -> int:
        query = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s"
        with psycopg.connect(database_url) as connection:
            row = connection.execute(query, [f"vectors_{opened.partition.number}"]).fetchone()
        return row[0] if row else 0

    wait_until(scans)
