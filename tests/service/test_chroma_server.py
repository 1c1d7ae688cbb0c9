"""The Chroma server: a real `chroma run` on loopback, from the package itself."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import chromadb
import httpx
import pytest
from langchain_core.documents import Document

from app.adapters.chroma import ChromaServer, Server, _server_client
from app.adapters.chroma_compat import http_sessions
from app.ledger import open_database
from app.settings import load_settings
from app.wiring import open_index, open_service
from benchmarks.processes import free_port, responds, service
from chains.errors import VectorStoreError
from tests.corpora import write_documents
from tests.fakes import WordEmbeddings
from tests.indexes import index_in, put
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
    if not CHROMA.exists():
        pytest.skip("the chroma command is not installed")
    port = free_port()
    command = [str(CHROMA), "run", "--host", "127.0.0.1", "--port", str(port), "--path", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: responds(f"http://127.0.0.1:{port}/api/v2/heartbeat"))
            yield Server("127.0.0.1", port)
        finally:
            process.kill()


def write_carriers(folder: Path) -> Path:
    text = "# Carrier {0}\n\n## Service\n\nThe carrier {0} runs services to two ports a week."
    return write_documents(folder / "carriers", {f"{name}.md": text.format(name) for name in ("Alpha", "Beta")})


def on_server(server, folder, collection):
    """Return an index that a collection on the server follows."""
    database = open_database(folder / "kb.sqlite3", collection="kb")
    index = index_in(database, follower=lambda: ChromaServer(server, collection))
    index.vectors.serves = True
    return index


def searched(index):
    return index.open().searched_by()


def test_a_server_finds_filters_and_follows(server, tmp_path):
    index = on_server(server, tmp_path, "follows")
    labels = [{"audience": "public", "category": "a"}, {"audience": "internal", "category": "a"}]
    put(index, {name: Document("alpha beta", metadata=label) for name, label in zip("ab", labels, strict=True)})

    assert searched(index) == "chroma"
    [(id_, score)] = index.open().nearest(WordEmbeddings().embed_query("alpha beta"), 5, labels[0]).items()
    assert (id_, round(score, 4)) == ("a", 1.0)
    put(index, {}, stale=["a"])
    assert searched(index) == "chroma"
    assert list(index.open().nearest(WordEmbeddings().embed_query("alpha"), 5, {})) == ["b"]


def test_a_whole_question_is_answered_from_a_server(server, tmp_path):
    settings = load_settings(
        chroma_host=server.host, chroma_port=server.port, collection_name="whole", chroma_path=tmp_path / "chroma"
    )
    services = open_service(settings)
    services.index.stored.vectors.serves = True
    services.index.ingest([write_carriers(tmp_path)])

    assert services.chain.invoke({"question": QUESTION})["documents"]
    assert services.index.current().searched_by() == "chroma"


def test_a_collection_that_was_deleted_on_the_server_is_filled_again_without_embedding(server, tmp_path):
    index = on_server(server, tmp_path, "emptied")
    put(index, {"a": Document("alpha")})
    chromadb.HttpClient(server.host, server.port).delete_collection("emptied")
    again = on_server(server, tmp_path, "emptied")
    vector = WordEmbeddings().embed_query("alpha")

    assert list(again.open().nearest(vector, 1, {})) == ["a"]
    again.vectors.close()
    assert searched(again) == "chroma"
    assert again.embeddings.embedded == 0


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_several_processes_answer_from_one_server_are_started_again_and_drain_together(server, groq, tmp_path):
    settings = load_settings(
        chroma_host=server.host, chroma_port=server.port, collection_name="shared", chroma_path=tmp_path / "chroma"
    )
    open_index(settings).ingest([write_carriers(tmp_path)])
    environment = {
        "CHROMA_PATH": str(settings.chroma.path),
        "CHROMA_PORT": str(server.port),
        "CHROMA_HOST": server.host,
        "COLLECTION_NAME": "shared",
    }
    model = {"LLM_API_KEY": "gsk_test", "LLM_BASE_URL": groq.url}

    with service(tmp_path, "--workers", "2", **environment, **model) as running:
        first, second = running.workers()
        body = {"query": QUESTION}
        answers = [httpx.post(f"{running.url}/api/query", json=body) for _ in range(4)]
        assert {answer.json()["metadata"]["chunksRetrieved"] for answer in answers} == {2}

        first.kill()
        wait_until(lambda: len(running.workers()) == 2 and first not in running.workers())
        wait_until(lambda: running.phase() == "ready")
        running.send(signal.SIGTERM)
        assert running.exit_code() == 0
        assert not second.is_running()


def test_a_server_that_goes_away_is_done_without(tmp_path):
    with serving(tmp_path) as server:
        index = on_server(server, tmp_path, "away")
        put(index, {"a": Document("alpha")})
        vector = WordEmbeddings().embed_query("alpha")
        assert searched(index) == "chroma"

    assert list(index.open().nearest(vector, 1, {})) == ["a"]
    assert "exact search: chroma at http://127.0.0.1" in searched(index)
    put(index, {"b": Document("beta")})
    assert set(index.open().nearest(vector, 2, {})) == {"a", "b"}


def ask(server):
    ChromaServer(server, "desk").nearest("1", [1.0], 1, {})


def test_no_server_is_a_clear_error():
    with pytest.raises(VectorStoreError, match=r"no Chroma server answers at https://127.0.0.1:9 .*CHROMA_HOST"):
        ask(Server("127.0.0.1", 9, ssl=True))


def test_the_key_travels_as_a_token_and_is_never_shown(httpserver):
    server = Server(httpserver.host, httpserver.port, api_key="secret")
    with pytest.raises(VectorStoreError) as caught:
        ask(server)

    assert {request.headers.get("X-Chroma-Token") for request, _ in httpserver.log} == {"secret"}
    assert "secret" not in f"{caught.value}{server!r}{server}"


def test_a_server_that_accepts_and_says_nothing_is_not_waited_for():
    silent = socket.create_server(("127.0.0.1", 0))
    with closing(silent), pytest.raises(VectorStoreError, match="no Chroma server answers"):
        ask(Server("127.0.0.1", silent.getsockname()[1], timeout_s=0.2))


def test_requests_to_a_server_have_a_time_limit(server):
    sessions = http_sessions(_server_client(Server(server.host, server.port, timeout_s=7)))
    assert [session.timeout.read for session in sessions] == [7, 7]
