"""Somebody's own web page on loopback: another origin, which puts the co-pilot into itself."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Site:
    """A server with one page; `html` is what it sends."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.html = ""


@contextmanager
def other_site() -> Iterator[Site]:
    """Run the server while the body runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            payload = site.html.encode() if self.path == "/" else b""
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
