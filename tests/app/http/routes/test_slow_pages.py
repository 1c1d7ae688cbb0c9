"""A page of a PDF that takes far longer to draw than it may: it holds up nothing, and what waits for it is bounded."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from app.wiring import open_index
from benchmarks.documents import heavy_pdf, pdf
from tests.access import serving, settings_over, talking
from tests.corpora import write_documents
from tests.processes import forked_service

# The service as it is, but for how long it waits at its end for who reads: so long its workers draw.
HURRIED = ("-c", "from app.http import process; process.SHUTDOWN_TIMEOUT_S = 1; from app.cli import main; main()")
WORDS = "Words that can be read"
SLOW, GOOD = "/documents/docs_slow/pages/1", "/documents/docs_good/pages/1"
DRAWN_AT_ONCE, WAITING = 2, 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with an index of a slow PDF and a usual one."""
    folder = tmp_path_factory.mktemp("slow")
    documents = {"docs/slow.pdf": heavy_pdf(WORDS), "docs/good.pdf": pdf(WORDS)}
    index = open_index(settings_over(folder, "http://127.0.0.1:1", min_chunks=0))
    index.ingest([write_documents(folder / "corpus", documents)])
    return folder


@pytest.fixture
def url(folder) -> Iterator[str]:
    """A service of the test's own: in another's the pages that nobody waits for any more may still hold places."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("app.wiring.library", "app.http.routes.documents"):
            patch.setattr(f"{module}.PAGE_TIMEOUT_S", 600)
        with serving(settings_over(folder, "http://127.0.0.1:1")) as url:
            yield url


def all_else_answers(url: str) -> None:
    with httpx.Client(base_url=url) as client:
        assert client.get("/api/documents").json()["total"] == 2
        assert client.get("/documents/docs_slow").status_code == 200
        assert client.post("/page/render", json={"answer": "**9 %**", "final": True}).status_code == 200


def ask(stack: ExitStack, url: str, path: str) -> None:
    """Ask for a page, and wait for nothing."""
    stack.enter_context(talking(url)).say(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")


def test_requests_for_a_slow_page_that_are_closed_at_once_hold_up_nothing(url):
    for number in range(2 * (DRAWN_AT_ONCE + WAITING)):
        with ExitStack() as closed:
            ask(closed, url, f"{SLOW}.png?width={900 + number}")
    all_else_answers(url)
    assert httpx.get(f"{url}{GOOD}.png").content.startswith(b"\x89PNG")


def test_beside_a_slow_page_the_pages_of_other_documents_are_drawn(url):
    with ExitStack() as open_:
        for _ in range(2 * (DRAWN_AT_ONCE + WAITING)):  # Equal requests are one task.
            ask(open_, url, f"{SLOW}.png")
        all_else_answers(url)
        assert httpx.get(f"{url}{GOOD}.png").content.startswith(b"\x89PNG")
        assert httpx.get(f"{url}{GOOD}").json()["pages"] == 1


def test_more_pages_than_may_wait_are_refused_and_those_that_leave_make_room(url):
    with ExitStack() as open_:
        for number in range(DRAWN_AT_ONCE + WAITING):
            ask(open_, url, f"{SLOW}.png?width={500 + number}")
        all_else_answers(url)  # Those above have come in by then.
        refused = httpx.get(f"{url}{SLOW}.png", params={"width": 2000})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "600")
    assert httpx.get(f"{url}{GOOD}.png").status_code == 200


def test_pages_are_counted_by_the_rate_limit_apart_from_questions(folder):
    settings = settings_over(folder, "http://127.0.0.1:1", rate_limit="2/day", llm_fallback=True)
    with serving(settings) as url, httpx.Client(base_url=url) as client:
        told = [client.get(f"{GOOD}.png", params={"width": 300 + number}) for number in range(3)]
        assert [one.status_code for one in told] == [200, 200, 429]
        assert "More than 2 pages" in told[2].json()["message"]
        assert told[2].headers["Retry-After"]
        assert [client.get(GOOD).status_code for _ in range(3)] == [200, 200, 429]
        assert (
            client.post("/api/query", json={"query": "Which words can be read?"}).headers["RateLimit-Remaining"] == "1"
        )


@pytest.mark.slow
def test_a_slow_page_does_not_hold_up_the_end_of_the_service(folder):
    options = {"CHROMA_PATH": str(folder / "store"), "LLM_PROVIDER": "offline"}
    with forked_service(folder, program=HURRIED, **options) as running, ExitStack() as open_:
        for number in range(DRAWN_AT_ONCE):
            ask(open_, running.url, f"{SLOW}.png?width={700 + number}")
        all_else_answers(running.url)
        running.send(signal.SIGTERM)
        assert running.exit_code() == 0
