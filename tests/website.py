"""A web site on loopback for tests: pages with an ETag, redirects, and a list of what was asked for."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.loopback import Handler, listening


@dataclass
class Website:
    """Serves `pages` (type and content by path) and `redirects`; a number among the pages is a bare status."""

    pages: dict[str, tuple[str, bytes] | int] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)
    url: str = ""

    def html(self, path: str, content: str) -> None:
        self.pages[path] = ("text/html; charset=utf-8", content.encode())

    def taken(self) -> list[tuple[str, int]]:
        """Return what was asked for since the last call, with the statuses."""
        asked, self.asked = self.asked, []
        return asked


class _Handler(Handler):
    website: Website

    def do_GET(self) -> None:
        if target := self.website.redirects.get(self.path):
            self._reply(302, {"Location": target})
            return
        page = self.website.pages.get(self.path, 404)
        if isinstance(page, int):
            self._reply(page, {})
            return
        etag = f'"{hashlib.sha256(page[1]).hexdigest()}"'
        if self.headers.get("If-None-Match") == etag:
            self._reply(304, {"ETag": etag})
        else:
            self._reply(200, {"ETag": etag, "Content-Type": page[0]}, page[1])

    def _reply(self, status: int, headers: dict[str, str], content: bytes = b"") -> None:
        self.website.asked.append((self.path, status))  # Before the reply, which the test may wait for.
        self.reply(content, status=status, headers=headers)


@contextmanager
def website() -> Iterator[Website]:
    site = Website()

    class Pages(_Handler):
        website = site

    with listening(Pages) as site.url:
        yield site
