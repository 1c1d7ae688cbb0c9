"""The Chroma server: a real `chroma run` on loopback, from the package itself."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from langchain_core.documents import Document

from app.adapters.stores.chroma import Server, delete_collection, open_chroma
from app.adapters.stores.chroma.compat import http_sessions
from app.settings import load_settings
from app.wiring import Services
from app.wiring.storage import TIMEOUT_S
from benchmarks.processes import PATIENCE_S, free_port, service
from chains.errors import ConfigurationError, VectorStoreError
from tests.app.test_interruption import stopped, write_corpus
from tests.fakes import WordEmbeddings
from tests.ingest_and_stop import ingest, make_services
from tests.waiting import wait_until

pytestmark = pytest.mark.service

CHROMA = Path(sys.executable).with_name("chroma")
QUESTION = "Which services does the carrier Alpha run?"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("server")) as server:
        yield server


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Run a server while the body runs."""
    if not CHROMA.exists():
        pytest.skip("the chroma command is not installed")
    port = free_port()
    command = [str(CHROMA), "run", "--host", "127.0.0.1", "--port", str(port), "--path", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: _is_up(port))
            yield Server("127.0.0.1", port)
        finally:
            process.terminate()


def _is_up(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/api/v2/heartbeat").is_success
    except httpx.TransportError:
        return False


def write_carriers(folder: Path) -> Path:
    """Write two documents of one chunk each."""
    corpus = folder / "carriers"
    corpus.mkdir(exist_ok=True)
    for name in ("Alpha", "Beta"):
        text = f"# Carrier {name}\n\n## Services\n\nThe carrier {name} runs services to two ports a week."
        (corpus / f"{name.lower()}.md").write_text(text)
    return corpus


def open_store(server, model="words"):
    return open_chroma(
        server, "shelf", WordEmbeddings(), embedding_model=model, indexed_text=lambda document: document.page_content
    )


@pytest.fixture
def store(server):
    delete_collection(server, "shelf")
    return open_store(server)


def test_a_server_keeps_finds_filters_and_deletes(store, server):
    labels = [{"audience": "public", "category": "a"}, {"audience": "internal", "category": "a"}]
    store.add_documents([Document("alpha beta", metadata=label) for label in labels], ids=["a", "b"])

    again = open_store(server)
    assert again.count() == 2
    [(id_, score)] = again.nearest(WordEmbeddings().embed_query("alpha beta"), 5, labels[0]).items()
    assert (id_, round(score, 4)) == ("a", 1.0)
    assert list(again.vectors(["a", "unknown"])) == ["a"]
    again.delete(["a"])
    assert store.ids() == ["b"]


def test_another_model_is_refused_on_a_server_too(store, server):
    with pytest.raises(ConfigurationError, match=r"'words', not 'other'.*waypoint ingest --reset"):
        open_store(server, model="other")


def test_a_whole_question_is_answered_from_a_server(server, tmp_path):
    settings = load_settings(chroma_host=server.host, chroma_port=server.port, collection_name="whole")
    services = Services(settings)
    report = services.ingest([write_carriers(tmp_path)])
    answer = services.chain.invoke({"question": QUESTION})

    assert services.store.count() == services.words.count() == report.chunks
    assert answer["documents"]
    delete_collection(server, "whole")


def test_a_store_that_was_deleted_on_the_server_is_filled_again(server, tmp_path):
    settings = load_settings(chroma_host=server.host, chroma_port=server.port, collection_name="emptied")
    first = Services(settings).ingest([write_carriers(tmp_path)])
    delete_collection(server, "emptied")

    services = Services(settings)
    assert services.ingest([write_carriers(tmp_path)]).added == first.added
    assert services.store.count() == services.words.count() == first.chunks


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_several_processes_answer_from_one_server_are_started_again_and_drain_together(server, groq, tmp_path):
    settings = load_settings(chroma_host=server.host, chroma_port=server.port, collection_name="shared")
    Services(settings).ingest([write_carriers(tmp_path)])
    environment = {"CHROMA_PORT": str(server.port), "CHROMA_HOST": server.host, "COLLECTION_NAME": "shared"}
    model = {"LLM_API_KEY": "gsk_test", "LLM_BASE_URL": groq.url}

    with service(tmp_path, "--workers", "2", **environment, **model) as running:
        first, second = running.workers()
        body = {"query": QUESTION}
        answers = [httpx.post(f"{running.url}/api/query", json=body, timeout=PATIENCE_S) for _ in range(4)]
        assert {answer.json()["metadata"]["chunksRetrieved"] for answer in answers} == {2}

        first.kill()
        wait_until(lambda: len(running.workers()) == 2 and first not in running.workers(), limit_s=PATIENCE_S)
        wait_until(lambda: running.phase() == "ready", limit_s=PATIENCE_S)
        running.send(signal.SIGTERM)
        assert running.exit_code() == 0
        assert not second.is_running()
    delete_collection(server, "shared")


def test_a_server_that_goes_away_is_a_clear_error_at_query_time(tmp_path):
    with serving(tmp_path) as server:
        store = open_store(server)
        store.add_documents([Document("alpha", metadata={"n": 1})], ids=["a"])

    with pytest.raises(VectorStoreError, match="the Chroma server runs"):
        store.nearest(WordEmbeddings().embed_query("alpha"), 1, {})


def test_what_is_no_chroma_server_is_a_clear_error(httpserver):
    httpserver.expect_request("/api/v2/heartbeat").respond_with_json({"nanosecond heartbeat": 1})
    with pytest.raises(VectorStoreError):
        open_store(Server(httpserver.host, httpserver.port))


def test_no_server_is_a_clear_error():
    with pytest.raises(VectorStoreError, match=r"no Chroma server answers at https://127.0.0.1:9 .*CHROMA_HOST"):
        open_store(Server("127.0.0.1", 9, ssl=True))


def test_the_key_travels_as_a_token_and_is_never_shown(httpserver):
    server = Server(httpserver.host, httpserver.port, api_key="secret")
    with pytest.raises(VectorStoreError) as caught:
        open_store(server)

    assert {request.headers.get("X-Chroma-Token") for request, _ in httpserver.log} == {"secret"}
    assert "secret" not in f"{caught.value}{server!r}{server}"


def test_a_server_that_accepts_and_says_nothing_is_not_waited_for(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = Server("127.0.0.1", silent.getsockname()[1], timeout_s=0.2)
        with pytest.raises(VectorStoreError, match="no Chroma server answers"):
            delete_collection(place, "desk")


def test_a_server_that_falls_silent_is_not_waited_for(server, tmp_path):
    settings = load_settings(chroma_host=server.host, chroma_port=server.port, chroma_path=tmp_path)
    sessions = http_sessions(cast("Any", Services(settings).store)._client)
    assert [session.timeout.read for session in sessions] == [TIMEOUT_S, TIMEOUT_S]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("step", "times", "new"),
    [
        ("chunks added", 1, False),
        ("renamed", 1, False),
        ("renamed", 2, True),
        ("renamed", 3, True),
        ("swapped", 1, True),
    ],
)
def test_a_killed_reset_on_a_server_leaves_the_old_index_or_the_new_one_whole(server, tmp_path, step, times, new):
    settings: dict[str, Any] = {
        "chroma_host": server.host,
        "chroma_port": server.port,
        "collection_name": f"reset-{step.replace(' ', '-')}-{times}",
    }
    corpus = tmp_path / "corpus"
    write_corpus(corpus, "rates", 2)
    ingest(tmp_path, corpus, **settings)
    old = set(make_services(tmp_path, **settings).store.ids())
    write_corpus(corpus, "fees", 3)
    with stopped(tmp_path, corpus, step, times, reset=True, **settings):
        pass

    index = make_services(tmp_path, **settings).index.current()
    found = set(index.store.ids())
    assert (found == old) is not new
    assert set(index.words.places(sorted(found))) == found
    assert index.words.count() == len(found)
    assert ingest(tmp_path, corpus, reset=True, **settings).added == make_services(tmp_path, **settings).store.count()


def test_an_index_that_was_replaced_is_opened_again_by_a_service_on_another_machine(server, tmp_path):
    settings: dict[str, Any] = {
        "chroma_host": server.host,
        "chroma_port": server.port,
        "collection_name": "elsewhere",
        "scope_enabled": False,
        "relevance_threshold": 0,
    }
    write_corpus(tmp_path / "corpus", "fees", 1)
    ingest(tmp_path / "one", tmp_path / "corpus", **settings)
    other = make_services(tmp_path / "other", **settings)
    assert other.retriever.invoke("words")
    write_corpus(tmp_path / "corpus", "rates", 1)
    ingest(tmp_path / "one", tmp_path / "corpus", reset=True, **settings)

    assert "rates" in " ".join(document.page_content for document in other.retriever.invoke("words on rates"))
