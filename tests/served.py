"""The service on loopback, over a small real index, answering through the real ChatGroq against a Groq on loopback."""

import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from app.http.uvicorn_compat import BoundedConnection
from app.settings import load_settings
from app.wiring import Service, open_service
from tests.corpora import write_documents
from tests.fakes import FakeGroq, Reply
from tests.faulty import FaultyGroq

QUESTION = "What is the GST rate on imports into Singapore?"
ANSWER = "It is 9 % [GST Guide > Rate]."
GUIDE = (
    "---\ntitle: GST Guide\nsource_urls: [https://example.org/gst]\n---\n\n"
    "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %."
)


def small_services(folder: Path, groq: FakeGroq | FaultyGroq, **settings: Any) -> Service:
    """Return services over an index of one guide; other `settings` win."""
    write_documents(folder, {"01_regulatory/gst.md": GUIDE})
    chosen = {
        "chroma_path": folder / "store",
        "llm_api_key": "gsk_test",
        "llm_base_url": groq.url,
        "llm_fallback": False,
    } | settings
    services = open_service(load_settings(_env_file=None, llm_max_retries=0, min_chunks=0, **chosen))
    services.index.ingest([folder])
    return services


def guide_services(**settings: Any) -> Any:
    """Return a fixture for a module: `services = guide_services(...)` over one guide, and the module's `groq`."""

    @pytest.fixture(scope="module")
    def services(groq: FakeGroq, tmp_path_factory: pytest.TempPathFactory) -> Service:
        return small_services(tmp_path_factory.mktemp("desk"), groq, **settings)

    return services


def answering(*texts: str) -> Any:
    """Return a fixture for a module: `_answers = answering(...)`, what its model replies to each test's questions."""

    @pytest.fixture(autouse=True)
    def answers(groq: FakeGroq) -> None:
        groq.requests.clear()
        groq.replies[:] = [Reply(text) for text in texts]

    return answers


class served:
    def __init__(
        self,
        app: Any,
        *,
        host: str = "127.0.0.1",
        connection: type[BoundedConnection] = BoundedConnection,
        send_buffer: int | None = None,
        proxies: str = "",
    ) -> None:
        self.socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        if send_buffer is not None:  # Connections inherit it.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self.socket.bind((host, 0))
        config = uvicorn.Config(
            app,
            log_level="warning",
            ws="none",
            loop="asyncio",
            http=connection,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=proxies,
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)

    def __enter__(self) -> str:
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive(), "the service did not start"
            time.sleep(0.01)
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    def __exit__(self, *exc: object) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()
