"""What a database refuses or loses is told with what to do about it, and costs nothing that was committed."""

import re
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from langchain_core.documents import Document

from app.ledger import open_database
from app.ledger import postgres as ledger_postgres
from chains.errors import ConfigurationError, VectorStoreError
from tests.fakes import WordEmbeddings
from tests.indexes import index_in, put, put_words_back
from tests.postgres import PASSWORD

pytestmark = pytest.mark.service


def open_index(url, *, timeout_s=30.0):
    return index_in(open_database(Path(), url, collection="shelf", timeout_s=timeout_s))


def add(index, name):
    put(index, {name: Document(name)})


def ids(index):
    return [id_ for document in index.open().documents() for id_ in index.open().chunks_of(document.doc_id)]


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


def test_a_server_that_starts_again_is_found_again(postgres_server, database_url):
    index = open_index(database_url)
    add(index, "a")
    postgres_server.stop()
    try:
        with refused("check that the server runs|ended the connection"):
            ids(index)
    finally:
        postgres_server.start()
    assert ids(index) == ["a"]


@pytest.mark.parametrize("restarts", [False, True])
def test_an_ingestion_that_loses_its_connection_undoes_what_is_not_committed(
    postgres_server, database_url, monkeypatch, restarts
):
    index = open_index(database_url)
    add(index, "a")
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'"

    def fail(*_: object) -> None:
        if restarts:
            postgres_server.stop()
            postgres_server.start()
        else:
            execute(database_url, cut)

    with monkeypatch.context() as patched:
        patched.setattr(index, "_write_sources", fail)
        with refused("what was not committed is undone"):
            add(index, "b")

    assert ids(index) == ["a"]
    add(index, "d")
    assert sorted(ids(index)) == ["a", "d"]


def test_a_side_that_vanished_is_given_up_after_a_minute_or_as_the_address_says(database_url):
    address = f"{database_url}?keepalives_idle=7&connect_timeout=5"
    with open_database(Path(), address, collection="kb").reading() as connection:
        names = ("tcp_keepalives_idle", "tcp_user_timeout")
        theirs = [connection.exec_driver_sql(f"SHOW {name}").scalar() for name in names]
        driver = connection.connection.driver_connection
        assert driver
        ours = driver.info.get_parameters()

    assert theirs == ["30", "60000"]
    assert (ours["keepalives_idle"], ours["connect_timeout"], ours["tcp_user_timeout"]) == ("7", "5", "60000")


def test_a_pool_that_is_used_up_names_its_setting(database_url):
    add(open_index(database_url), "a")  # Makes the tables; a short time is enough to open them.
    database = open_database(Path(), database_url, collection="shelf", pool_size=1, timeout_s=2)
    with database.lock("ingest"), refused("all connections .* are in use; let fewer ask at once"):
        database.fact("version")


def test_a_server_that_has_no_connection_left_names_the_setting(postgres_server, database_url):
    execute(database_url, "CREATE ROLE few LOGIN PASSWORD 's3cret' CONNECTION LIMIT 0")
    name = database_url.rpartition("/")[2]
    with refused("too many connections.*raise max_connections of the server, or lower --workers"):
        open_index(postgres_server.url(name, user="few")).open()


def test_a_database_that_only_reads_answers_and_refuses_changes(database_url):
    add(open_index(database_url), "a")
    name = database_url.rpartition("/")[2]
    execute(database_url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    index = open_index(database_url)

    with refused("it only reads .*point DATABASE_URL at the primary"):
        add(index, "b")
    assert ids(index) == ["a"]
    assert list(index.open().nearest(WordEmbeddings().embed_query("a"), 5, {})) == ["a"]


def test_a_user_who_may_not_switch_pgvector_on_is_told_who_may(postgres_server, database_url):
    name = database_url.rpartition("/")[2]
    execute(database_url, "CREATE ROLE clerk LOGIN PASSWORD 's3cret'", f"GRANT CREATE ON DATABASE {name} TO clerk")
    index = open_index(postgres_server.url(name, user="clerk"))
    with refused("as an administrator run there: CREATE EXTENSION vector", ConfigurationError):
        index.open()

    execute(database_url, "CREATE EXTENSION vector")
    add(index, "a")
    assert ids(index) == ["a"]


def test_a_server_without_pgvector_is_told_so(database_url, monkeypatch):
    monkeypatch.setattr(ledger_postgres, "AVAILABLE", ledger_postgres.AVAILABLE.replace("vector", "absent"))
    with refused("has no pgvector; install it there", ConfigurationError):
        open_index(database_url).open()


def test_a_slow_statement_is_ended_with_the_setting_named(database_url):
    add(open_index(database_url), "a")
    with refused("look at the load of the server"):
        open_index(database_url, timeout_s=2).database.rows("SELECT pg_sleep(60)")


def test_few_passages_are_searched_by_the_index_of_vectors_as_many_are(database_url):
    index = open_index(database_url)
    put(index, {f"{number}": Document(f"words {number}") for number in range(40)})
    plan = index.database.rows(
        "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND indexname LIKE 'vectors_%'"
    )
    assert "hnsw" in plan[0][0]
    put(index_in(index.database, model="other", dimensions=64), {"new": Document("words")}, reset=True)
    names = index.database.rows(
        "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname LIKE 'vectors_%'"
    )
    assert sorted(name for (name,) in names) == ["vectors_64_internal", "vectors_64_public"]


def test_strangers_are_answered_from_an_index_of_public_passages_alone(database_url, monkeypatch):
    index, asked = open_index(database_url), []
    audiences = ("public", "internal", None)
    put(index, {f"{n}": Document(f"words {n}", metadata={"audience": audiences[n % 3]}) for n in range(99)})
    rows, [vector] = index.database.rows, index.vectors.of(["18"]).values()

    def noted(query, **values):
        asked.append((query, values))
        return rows(query, **values)

    monkeypatch.setattr(index.database, "rows", noted)
    scanned = {}
    for where in ({}, {"audience": "public"}):
        assert next(iter(index.vectors.nearest("1", vector, 5, where))) == "18"
        query, values = asked[-1]
        with index.database.reading() as connection:
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            plan = " ".join(line for (line,) in rows(f"EXPLAIN {query}", **values))
        scanned[bool(where)] = re.findall(r"using (vectors_\w+)", plan)
    dimensions = len(vector)
    assert scanned == {
        False: [f"vectors_{dimensions}_public", f"vectors_{dimensions}_internal"],
        True: [f"vectors_{dimensions}_public"],
    }


def test_the_one_index_of_vectors_of_an_earlier_version_becomes_two(database_url):
    index = open_index(database_url)
    put(index, {"a": Document("words")})
    names = "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname LIKE 'vectors_%'"
    two = index.database.rows(names)
    index.database.run(f"ALTER INDEX {two[0][0]} RENAME TO vectors_{index.database.fact('dimensions')}")
    put_words_back(index.database)

    index.database.migrate()
    assert sorted(index.database.rows(names)) == sorted(two)
