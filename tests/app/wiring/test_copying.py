import pytest

from app.settings import load_settings
from app.wiring import Parts, open_service
from app.wiring.storage import copy_index
from chains.errors import ConfigurationError
from tests.fakes import WordEmbeddings

pytestmark = pytest.mark.service
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


def test_an_index_goes_round_all_stores_and_nothing_is_embedded_again(corpus, settings):
    opened(settings("chroma")).index.ingest([corpus])
    expected = contents(settings("chroma"))
    progress = []

    for source, target in (("chroma", "postgres"), ("postgres", "memory"), ("memory", "chroma")):
        tell = lambda *told: progress.append(told)  # noqa: E731
        assert copy_index(settings(source), settings(target), replace=target == "chroma", progress=tell) == 2
        assert contents(settings(target)) == expected
        services = opened(settings(target))
        assert services.index.ingest([corpus]).unchanged == 2
        assert services.index.embeddings.embedded == 0
    assert progress == [(2, 2, "passages")] * 3


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


def test_the_commands_copy_and_migrate(corpus, waypoint, monkeypatch, database_url):
    monkeypatch.setenv("VECTOR_STORE_TYPE", "memory")
    assert waypoint("migrate")[1].endswith("ledger.sqlite3 are up to date (version 1).\n")
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
