"""Read a web site: the pages of its sitemap, or those that its start page leads to, as robots.txt allows."""

import gzip
import hashlib
import json
import mimetypes
import re
import zlib
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from lxml import etree
from protego import Protego

from app.wings.sources.web_client import AGENT, NO_CONTENT, UNCHANGED, Marks, WebClient
from chains.errors import IngestionError
from chains.ingestion.mirror import Copy, RemoteDocument, Unread, is_safe_name

ENDING = re.compile(r"\.[A-Za-z]{2,8}$")
PAGES = {"text/html", "application/xhtml+xml"}
HTML = {".htm", ".html", ".xhtml"}
TYPES = dict.fromkeys(PAGES, ".html") | {
    "application/pdf": ".pdf",
    "text/csv": ".csv",
    "text/markdown": ".md",
    "text/plain": ".txt",
}
NO_DOCUMENTS = ("image/", "audio/", "video/", "font/", "text/css", "text/javascript", "application/javascript")


MOST_BYTES = 20 * 2**20
MOST_LINKS = 10_000


def links_of(page: Path, address: str) -> tuple[list[str], bool]:
    """Return the links of a page at an address that may be followed, in order, and whether it wants to be found."""
    links, base, may_index, may_follow = list[str](), address, True, True
    content = BytesIO(page.read_bytes()[:MOST_BYTES])
    with suppress(etree.XMLSyntaxError):  # Not even the parser of HTML makes anything of it.
        for _, tag in etree.iterparse(content, events=("end",), tag=("a", "base", "meta"), html=True):
            if tag.tag == "base" and tag.get("href"):
                base = _joined(address, tag.get("href"))
            elif tag.tag == "meta" and (tag.get("name") or "").lower() == "robots":
                wishes = {wish.strip() for wish in (tag.get("content") or "").lower().split(",")}
                may_index = may_index and not wishes & {"noindex", "none"}
                may_follow = may_follow and not wishes & {"nofollow", "none"}
            elif tag.tag == "a" and tag.get("href") and "nofollow" not in (tag.get("rel") or ""):
                links.append(_joined(base, tag.get("href")))
            tag.clear()
            if len(links) >= MOST_LINKS:
                break
    return [link for link in links if link and may_follow], may_index


def sitemap_entries(content: bytes) -> tuple[list[str], bool]:
    """Return the addresses of a sitemap, and whether they are those of further sitemaps; gzip is unpacked."""
    addresses, is_index = [], False
    try:
        data = gzip.GzipFile(fileobj=BytesIO(content)).read(MOST_BYTES) if content[:2] == b"\x1f\x8b" else content
        reader = etree.iterparse(
            BytesIO(data), events=("end",), tag=("{*}loc",), resolve_entities=False, no_network=True, recover=True
        )
        for _, tag in reader:
            parent = tag.getparent()
            is_index = is_index or (parent is not None and etree.QName(parent).localname == "sitemap")
            addresses.append((tag.text or "").strip())
    except (etree.XMLSyntaxError, OSError, EOFError, zlib.error):
        return [], False
    return [address for address in addresses if address], is_index


def _joined(base: str, link: str) -> str:
    try:
        return urljoin(base, link.strip())
    except ValueError:
        return ""


# Of a site, and links from its start page.
MAX_PAGES, MAX_DEPTH = 500, 5
MOST_SITEMAPS = 50
MOST_WAITING = 100_000
LONGEST_DELAY_S = 30
ROBOTS_BYTES = 512 * 1024  # As much as RFC 9309 asks for.
FIRST_SERVER_ERROR = 500


@dataclass
class Site:
    """The pages and files below an address, at most `MAX_PAGES`, and at most `MAX_DEPTH` links away from it.

    What is read has the same host, and stands below the folder of the address; one without an ending is a folder. An
    address with the ending of a document other than HTML is that one document; one that ends in `.xml` is a sitemap.
    """

    address: str
    client: WebClient
    endings: Collection[str]
    is_complete: bool = field(default=True, init=False)
    host: str = field(init=False)
    folder: str = field(init=False)
    _scheme: str = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        path = parts.path.rpartition("/")[0] if ENDING.search(parts.path) else parts.path
        self._scheme, self.host, self.folder = parts.scheme, parts.netloc.lower(), path.rstrip("/")
        self.address = self._normal(self.address) or self.address

    @property
    def is_file(self) -> bool:
        return self._ending in self.endings and self._ending not in HTML

    @property
    def _ending(self) -> str:
        return PurePosixPath(urlsplit(self.address).path).suffix.lower()

    def documents(self, known: Mapping[str, Copy], folder: Path) -> Iterator[RemoteDocument | Unread]:
        """Yield the pages as they are reached. Raise IngestionError if the first, or robots.txt, cannot be read."""
        robots = self._robots(folder)
        self.client.delay_s = min(max(self.client.delay_s, robots.crawl_delay(AGENT) or 0), LONGEST_DELAY_S)
        waiting, depth = self._first(robots, folder)
        reached = {address for address, _ in waiting}
        names = {copy.name for copy in known.values()}
        read = 0
        while waiting:
            address, level = waiting.popleft()
            if read >= MAX_PAGES:
                self.is_complete = False
                yield Unread(self.address, f"it has more than {MAX_PAGES} pages; the rest is not read")
                return
            if not robots.can_fetch(address, AGENT):
                yield Unread(address, "its robots.txt forbids it", on_purpose=True)
                continue
            read += 1
            found, links = self._page(address, known.get(address), names, folder, is_start=address == self.address)
            yield found
            if level < depth and len(reached) < MOST_WAITING:
                further = [page for link in links if (page := self._normal(link)) and page not in reached]
                reached.update(further)
                waiting.extend((page, level + 1) for page in dict.fromkeys(further))

    def _page(
        self, address: str, before: Copy | None, names: set[str], folder: Path, *, is_start: bool
    ) -> tuple[RemoteDocument | Unread, list[str]]:
        marks = Marks(*json.loads(before.fingerprint)) if before else Marks()
        try:
            reply = self.client.get(address, folder, known=marks, may_follow=lambda link: bool(self._normal(link)))
        except IngestionError as error:
            if is_start:
                raise
            self.is_complete = False
            return Unread(address, str(error)), []
        if reply.status == UNCHANGED and before is not None:
            links = links_of(before.path, reply.address)[0] if before.path.suffix in HTML else []
            return RemoteDocument(before.name, address, before.fingerprint, None), links
        if reply.content is None:
            msg = f"the server answers with status {reply.status}"
            if is_start:
                raise IngestionError(msg)
            gone = reply.status in NO_CONTENT
            self.is_complete = self.is_complete and gone
            return Unread(address, msg, on_purpose=gone), []
        links, may_index = links_of(reply.content, reply.address) if reply.type in PAGES else ([], True)
        name = before.name if before else self._name(reply.address, reply.type, names)
        if name is None:
            reason = f"no loader reads {reply.type or 'a document without a type'}"
        elif not is_safe_name(name):
            reason = "its address cannot be the name of a file"
        elif not may_index:
            reason = "it asks not to be found (noindex)"
        else:
            names.add(name)
            return RemoteDocument(name, address, json.dumps(reply.marks), reply.content), links
        reply.content.unlink(missing_ok=True)
        return Unread(address, reason, on_purpose=True), links

    def _first(self, robots: Protego, folder: Path) -> tuple[deque[tuple[str, int]], int]:
        """Return where to begin, and how many links to go on from there: none from a sitemap."""
        if self.is_file:
            return deque([(self.address, 0)]), 0
        given = [self.address] if self._ending == ".xml" else []
        listed = self._listed(given or [*robots.sitemaps, urljoin(self.address, "/sitemap.xml")], folder)
        start = [] if given else [self.address]
        if given and not listed:
            raise IngestionError("it is no sitemap with addresses of its own host and folder")
        return deque((page, 0) for page in dict.fromkeys([*start, *listed])), 0 if listed else MAX_DEPTH

    def _listed(self, sitemaps: list[str], folder: Path) -> list[str]:
        """Return the addresses of this scope that the sitemaps, and those that they name, list."""
        waiting, found = deque(dict.fromkeys(sitemaps)), list[str]()
        for _ in range(MOST_SITEMAPS):
            if not waiting or len(found) > MAX_PAGES:
                break
            if urlsplit(sitemap := waiting.popleft()).netloc.lower() != self.host:
                continue
            try:
                addresses, is_index = sitemap_entries(self._content(sitemap, folder)[1])
            except IngestionError:
                self.is_complete = False
                continue
            if is_index:
                waiting.extend(addresses)
            else:
                found += [page for address in addresses if (page := self._normal(address))]
        return found

    def _content(self, address: str, folder: Path) -> tuple[int, bytes]:
        reply = self.client.get(address, folder, may_follow=self._is_same_host)
        if reply.content is None:
            return reply.status, b""
        content = reply.content.read_bytes()
        reply.content.unlink()
        return reply.status, content

    def _normal(self, address: str) -> str | None:
        """Return an address that is to be read in its one form, without a fragment; None for any other."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return None
        path = parts.path or "/"
        inside = path == self.folder or path.startswith(f"{self.folder}/")
        if parts.scheme not in {"http", "https"} or parts.netloc.lower() != self.host or not inside:
            return None
        if str(mimetypes.guess_type(path)[0]).startswith(NO_DOCUMENTS):
            return None
        return urlunsplit((self._scheme, self.host, path, parts.query, ""))

    def _name(self, address: str, kind: str, taken: Collection[str]) -> str | None:
        """Return the name of the file for what is at an address; None where no loader reads its type.

        `/docs/fees` and `/docs/fees/` are `docs/fees.html`; a query, or a name that is taken, adds a short digest.
        """
        parts = urlsplit(address)
        path = unquote(parts.path.removeprefix(self.folder)).strip("/") or "index"
        ending = PurePosixPath(path).suffix.lower()
        if kind in PAGES:
            wanted = ending if ending in HTML else ".html"
        else:
            wanted = ending if ending in self.endings else TYPES.get(kind, "")
        if wanted not in self.endings:
            return None
        stem = path[: -len(ending)] if ending == wanted and ending else path
        digest = hashlib.sha256(address.encode()).hexdigest()[:8]
        name = f"{stem}-{digest}{wanted}" if parts.query else f"{stem}{wanted}"
        return f"{stem}-{digest}{wanted}" if name in taken else name

    def _is_same_host(self, address: str) -> bool:
        parts = urlsplit(address)
        return parts.scheme in {"http", "https"} and parts.netloc.lower() == self.host

    def _robots(self, folder: Path) -> Protego:
        """Return what robots.txt allows (RFC 9309). Raise IngestionError if it cannot be read: then nothing may be."""
        status, content = self._content(urljoin(self.address, "/robots.txt"), folder)
        if status >= FIRST_SERVER_ERROR:
            msg = f"its robots.txt answers with status {status}, so that nothing may be read; try again later"
            raise IngestionError(msg)
        return Protego.parse(content[:ROBOTS_BYTES].decode("utf-8", "replace"))
