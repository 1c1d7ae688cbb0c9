"""Somebody's own web page on loopback: another origin, which puts the co-pilot into itself."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.loopback import Handler, listening


class Site:
    """A server with one page; `html` is what it sends."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.html = ""


@contextmanager
def other_site() -> Iterator[Site]:
    """Run the server while the body runs."""

    class Page(Handler):
        def do_GET(self) -> None:
            headers = {"Content-Type": "text/html; charset=utf-8"}
            self.reply(site.html if self.path == "/" else "", headers=headers)

    with listening(Page) as url:
        site = Site(url)
        yield site
