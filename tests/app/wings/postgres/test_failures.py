"""What a database refuses or loses is told with what to do about it, and costs nothing that was committed."""

from contextlib import contextmanager

import psycopg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from langchain_core.documents import Document

from app.adapters.stores.index import Recipe
from app.wings.postgres import migrations, schema
from app.wings.postgres.database import Database
from app.wings.postgres.index import PostgresIndex
from chains.errors import ConfigurationError, VectorStoreError
from tests.fakes import WordEmbeddings
from tests.postgres import PASSWORD

pytestmark = pytest.mark.service


def open_index(url, collection="shelf", *, pool_size=5, timeout_s=30.0):
    recipe = Recipe(WordEmbeddings(), "words", lambda chunk: chunk.page_content, lambda chunk: ("", "", ""))
    return PostgresIndex(Database(url, pool_size=pool_size, timeout_s=timeout_s), collection, recipe)


def add(index, name):
    with index.locked():
        index.change(reset=False).writable().store.add_documents([Document(name)], ids=[name])


def ids(index):
    return index.open().store.ids()


def execute(url, *statements):
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


@contextmanager
def refused(told, kind=VectorStoreError):
    with pytest.raises(kind, match=told) as caught:
        yield
    assert PASSWORD not in str(caught.value)
    assert "wrong" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"password": "wrong"}, "password authentication failed.*check user and password in DATABASE_URL"),
        ({"user": "nobody"}, "check user and password in DATABASE_URL"),
        ({"database": "nowhere"}, "does not exist.*create the database"),
    ],
)
def test_a_refused_connection_says_what_to_check_and_not_the_password(postgres_server, options, told):
    with refused(told):
        open_index(postgres_server.url(**options)).open()


def test_a_server_that_is_not_there_is_named_by_host_and_port():
    with refused(r"127\.0\.0\.1:9/name.*check that the server runs and that DATABASE_URL leads to it"):
        open_index(f"postgresql://user:{PASSWORD}@127.0.0.1:9/name").open()


@pytest.mark.parametrize("url", ["postgres", "postgresql://u:s3cret@h:port/name", "s3cret", "mysql://u:s3cret@h/n"])
def test_what_is_no_address_is_refused_and_not_shown(url):
    with refused("DATABASE_URL|DATABASE_URL leads", (ConfigurationError, VectorStoreError)):
        open_index(url, timeout_s=2).open()


def test_a_server_that_starts_again_is_found_again(postgres_server, database_url, collection):
    index = open_index(database_url, collection)
    add(index, "a")
    postgres_server.stop()
    try:
        with refused("check that the server runs|ended the connection"):
            ids(index)
    finally:
        postgres_server.start()
    assert ids(index) == ["a"]


def test_an_ingestion_that_loses_its_connection_undoes_what_is_not_committed(database_url, collection):
    index = open_index(database_url, collection)
    add(index, "a")
    cut = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
    with refused("what was not committed is undone"), index.locked():
        contents = index.change(reset=False).writable()
        with contents.transaction():
            contents.store.add_documents([Document("b")], ids=["b"])
            execute(database_url, cut)
            contents.store.add_documents([Document("c")], ids=["c"])

    assert ids(index) == ["a"]
    add(index, "d")
    assert sorted(ids(index)) == ["a", "d"]


def test_an_ingestion_that_lost_its_lock_writes_no_more(database_url, collection):
    index = open_index(database_url, collection)
    with refused("is lost"), index.locked():
        contents = index.change(reset=False).writable()
        execute(database_url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
        with pytest.raises(VectorStoreError):
            contents.store.count()
        contents.store.add_documents([Document("b")], ids=["b"])

    assert ids(index) == []


def test_a_side_that_vanished_is_given_up_after_a_minute_or_as_the_address_says(database_url):
    address = f"{database_url}?keepalives_idle=7&connect_timeout=5"
    with Database(address, pool_size=1, timeout_s=30).transaction() as connection:
        names = ("tcp_keepalives_idle", "tcp_user_timeout")
        theirs = [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in names]
        driver = connection.connection.driver_connection
        assert driver
        ours = driver.info.get_parameters()

    assert theirs == ["30", "60000"]
    assert (ours["keepalives_idle"], ours["connect_timeout"], ours["tcp_user_timeout"]) == ("7", "5", "60000")


def test_a_pool_that_is_used_up_names_its_setting(database_url, collection):
    database = Database(database_url, pool_size=1, timeout_s=0.2)
    with database.connection(), refused("all connections .* are in use; let fewer ask at once"):
        database._current.set(None)
        with database.connection():
            pass


def test_a_server_that_has_no_connection_left_names_the_setting(postgres_server, empty_database_url):
    execute(empty_database_url, "CREATE ROLE few LOGIN PASSWORD 's3cret' CONNECTION LIMIT 0")
    name = empty_database_url.rpartition("/")[2]
    with refused("too many connections.*raise max_connections of the server, or lower --workers"):
        open_index(postgres_server.url(name, user="few")).open()


def test_a_database_that_only_reads_answers_and_refuses_changes(empty_database_url):
    add(open_index(empty_database_url), "a")
    name = empty_database_url.rpartition("/")[2]
    execute(empty_database_url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    index = open_index(empty_database_url)

    with refused("it only reads .*point DATABASE_URL at the primary"):
        add(index, "b")
    assert ids(index) == ["a"]
    assert list(index.open().store.nearest(WordEmbeddings().embed_query("a"), 5, {})) == ["a"]


def test_a_user_who_may_not_switch_pgvector_on_is_told_who_may(postgres_server, empty_database_url):
    name = empty_database_url.rpartition("/")[2]
    execute(
        empty_database_url, "CREATE ROLE clerk LOGIN PASSWORD 's3cret'", f"GRANT CREATE ON DATABASE {name} TO clerk"
    )
    index = open_index(postgres_server.url(name, user="clerk"))
    with refused("as an administrator run there: CREATE EXTENSION vector", ConfigurationError):
        index.open()

    execute(empty_database_url, "CREATE EXTENSION vector")
    add(index, "a")
    assert ids(index) == ["a"]


def test_a_server_without_pgvector_is_told_so(empty_database_url, monkeypatch):
    monkeypatch.setattr(schema, "AVAILABLE", schema.AVAILABLE.replace("vector", "absent"))
    with refused("has no pgvector; install it there", ConfigurationError):
        open_index(empty_database_url).open()


@pytest.mark.parametrize(
    ("version", "told"), [("0000", "run `waypoint migrate`"), ("9999", "install a later version of this program")]
)
def test_tables_of_another_version_are_refused(empty_database_url, version, told):
    add(open_index(empty_database_url), "a")
    with psycopg.connect(empty_database_url) as connection:
        connection.execute("UPDATE waypoint.alembic_version SET version_num = %s", [version])

    with refused(f"are of version {version}.*{told}", ConfigurationError):
        open_index(empty_database_url).open()


def test_tables_of_an_earlier_version_are_brought_up_to_date_and_their_index_is_to_be_made_anew(empty_database_url):
    add(open_index(empty_database_url), "a")
    execute(
        empty_database_url,
        "ALTER TABLE waypoint.chunks DROP COLUMN searched",
        "ALTER TABLE waypoint.terms DROP COLUMN public_chunks",
        "ALTER TABLE waypoint.indexes DROP COLUMN public_chunks, DROP COLUMN public_tokens",
        "DROP TABLE waypoint.conversations, waypoint.events, waypoint.answer_quotes, waypoint.answers",
        "DROP TABLE waypoint.quotes, waypoint.answer_key",
        "DROP SEQUENCE waypoint.uses",
        "UPDATE waypoint.alembic_version SET version_num = '0001'",
    )
    with refused("run `waypoint migrate`", ConfigurationError):
        open_index(empty_database_url).open()

    database = Database(empty_database_url, pool_size=5, timeout_s=30)
    assert schema.migrate(database) == schema.migrate(database) == schema.HEAD
    execute(empty_database_url, "SELECT * FROM waypoint.conversations, waypoint.events")
    index = open_index(empty_database_url)
    with refused("earlier version.*waypoint ingest --reset", ConfigurationError):
        index.open()
    with index.locked():
        change = index.change(reset=True)
        change.writable().store.add_documents([Document("a")], ids=["a"])
        change.publish()
    assert ids(index) == ["a"]


def test_the_version_that_the_program_needs_is_that_of_the_last_step():
    config = Config()
    config.set_main_option("script_location", migrations.__path__[0])
    assert ScriptDirectory.from_config(config).get_heads() == [schema.HEAD]


def test_a_slow_statement_is_ended_and_named(database_url):
    database = Database(database_url, pool_size=1, timeout_s=0.2)
    with refused("longer than 10 seconds; look at the load"), database.transaction() as connection:
        connection.exec_driver_sql("SELECT pg_sleep(5)")
