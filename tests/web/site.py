"""Somebody's own web page on loopback: another origin, which puts the co-pilot into itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import listening


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

    with listening(Handler) as url:
        site = Site(url)
        yield site
