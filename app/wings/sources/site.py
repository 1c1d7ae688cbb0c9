"""Read a web site: the pages of its sitemap, or those that its start page leads to, as robots.txt allows."""

import json
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import urljoin, urlsplit

from protego import Protego

from app.wings.sources.web_client import AGENT, NO_CONTENT, UNCHANGED, Marks, Reply, WebClient
from app.wings.sources.web_pages import HTML, PAGES, SiteScope, links_of, sitemap_entries
from chains.errors import IngestionError
from chains.ingestion.mirror import Copy, RemoteDocument, Unread, is_safe_name

MOST_SITEMAPS = 50
MOST_WAITING = 100_000
LONGEST_DELAY_S = 30
ROBOTS_BYTES = 512 * 1024  # As much as RFC 9309 asks for.
FIRST_SERVER_ERROR = 500


@dataclass
class Site:
    """The pages and files below an address, at most `max_pages`, and at most `max_depth` links away from it.

    An address with the ending of a document other than HTML is that one document; one that ends in `.xml` is a sitemap.
    """

    address: str
    client: WebClient
    endings: Collection[str]
    max_pages: int
    max_depth: int
    is_complete: bool = field(default=True, init=False)
    scope: SiteScope = field(init=False)

    def __post_init__(self) -> None:
        self.scope = SiteScope.of(self.address)
        self.address = self.scope.normal(self.address) or self.address

    @property
    def is_file(self) -> bool:
        """Say whether the address is that of one document."""
        return self._ending in self.endings and self._ending not in HTML

    @property
    def _ending(self) -> str:
        return PurePosixPath(urlsplit(self.address).path).suffix.lower()

    def documents(self, known: Mapping[str, Copy], folder: Path) -> Iterator[RemoteDocument | Unread]:
        """Yield the pages, in the order in which they are reached.

        Raise IngestionError if the start page, or robots.txt, cannot be read.
        """
        robots = self._robots(folder)
        self.client.delay_s = min(max(self.client.delay_s, robots.crawl_delay(AGENT) or 0), LONGEST_DELAY_S)
        waiting, depth = self._first(robots, folder)
        reached = {address for address, _ in waiting}
        names = {copy.name for copy in known.values()}
        read = 0
        while waiting:
            address, level = waiting.popleft()
            if read >= self.max_pages:
                self.is_complete = False
                yield Unread(self.address, f"it has more than {self.max_pages} pages; the rest is not read")
                return
            if not robots.can_fetch(address, AGENT):
                yield Unread(address, "its robots.txt forbids it", on_purpose=True)
                continue
            read += 1
            found, links = self._page(address, known.get(address), names, folder, is_start=address == self.address)
            yield found
            if level < depth and len(reached) < MOST_WAITING:
                further = [page for link in links if (page := self.scope.normal(link)) and page not in reached]
                reached.update(further)
                waiting.extend((page, level + 1) for page in dict.fromkeys(further))

    def _page(
        self, address: str, before: Copy | None, names: set[str], folder: Path, *, is_start: bool
    ) -> tuple[RemoteDocument | Unread, list[str]]:
        marks = Marks(*json.loads(before.fingerprint)) if before else Marks()
        try:
            reply = self.client.get(address, folder, known=marks, may_follow=lambda link: bool(self.scope.normal(link)))
        except IngestionError as error:
            if is_start:
                raise
            self.is_complete = False
            return Unread(address, str(error)), []
        if reply.status == UNCHANGED and before is not None:
            links = links_of(before.path, reply.address).addresses if before.path.suffix in HTML else []
            return RemoteDocument(before.name, address, before.fingerprint, None), links
        return self._fetched(address, reply, before, names, is_start=is_start)

    def _fetched(
        self, address: str, reply: Reply, before: Copy | None, names: set[str], *, is_start: bool
    ) -> tuple[RemoteDocument | Unread, list[str]]:
        if reply.content is None:
            msg = f"the server answers with status {reply.status}"
            if is_start:
                raise IngestionError(msg)
            gone = reply.status in NO_CONTENT
            self.is_complete = self.is_complete and gone
            return Unread(address, msg, on_purpose=gone), []
        links = links_of(reply.content, reply.address) if reply.type in PAGES else None
        name = before.name if before else self.scope.name(reply.address, reply.type, self.endings, names)
        reason = None
        if name is None:
            reason = f"no loader reads {reply.type or 'a document without a type'}"
        elif not is_safe_name(name):
            reason = "its address cannot be the name of a file"
        elif links is not None and not links.may_index:
            reason = "it asks not to be found (noindex)"
        if name is None or reason:
            reply.content.unlink(missing_ok=True)
            return Unread(address, reason or "", on_purpose=True), links.addresses if links else []
        names.add(name)
        return RemoteDocument(name, address, json.dumps(reply.marks), reply.content), links.addresses if links else []

    def _first(self, robots: Protego, folder: Path) -> tuple[deque[tuple[str, int]], int]:
        """Return where to begin, and how many links to go on from there: none from a sitemap."""
        if self.is_file:
            return deque([(self.address, 0)]), 0
        given = [self.address] if self._ending == ".xml" else []
        listed = self._listed(given or [*robots.sitemaps, urljoin(self.address, "/sitemap.xml")], folder)
        start = [] if given else [self.address]
        if given and not listed:
            msg = "it is no sitemap with addresses of its own host and folder"
            raise IngestionError(msg)
        return deque((page, 0) for page in dict.fromkeys([*start, *listed])), 0 if listed else self.max_depth

    def _listed(self, sitemaps: list[str], folder: Path) -> list[str]:
        """Return the addresses of this scope that the sitemaps, and those that they name, list."""
        waiting, found = deque(dict.fromkeys(sitemaps)), list[str]()
        for _ in range(MOST_SITEMAPS):
            if not waiting or len(found) > self.max_pages:
                break
            addresses, is_index = sitemap_entries(self._bytes(waiting.popleft(), folder))
            if is_index:
                waiting.extend(addresses)
            else:
                found += [page for address in addresses if (page := self.scope.normal(address))]
        return found

    def _bytes(self, address: str, folder: Path) -> bytes:
        """Return what is at an address of this host; nothing where there is nothing."""
        if urlsplit(address).netloc.lower() != self.scope.host:
            return b""
        try:
            reply = self.client.get(address, folder, may_follow=self._is_same_host)
        except IngestionError:
            self.is_complete = False
            return b""
        if reply.content is None:
            return b""
        content = reply.content.read_bytes()
        reply.content.unlink()
        return content

    def _is_same_host(self, address: str) -> bool:
        parts = urlsplit(address)
        return parts.scheme in {"http", "https"} and parts.netloc.lower() == self.scope.host

    def _robots(self, folder: Path) -> Protego:
        """Return what robots.txt allows: everything where there is none (RFC 9309).

        Raises:
            IngestionError: it cannot be read; then nothing may be.
        """
        address = urljoin(self.address, "/robots.txt")
        reply = self.client.get(address, folder, may_follow=self._is_same_host)
        if reply.status >= FIRST_SERVER_ERROR:
            msg = f"its robots.txt answers with status {reply.status}, so that nothing may be read; try again later"
            raise IngestionError(msg)
        if reply.content is None:
            return Protego.parse("")
        text = reply.content.read_bytes()[:ROBOTS_BYTES].decode("utf-8", "replace")
        reply.content.unlink()
        return Protego.parse(text)
