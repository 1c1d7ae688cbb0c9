"""Name the pages of a web site, and read links out of pages and addresses out of sitemaps."""

import gzip
import hashlib
import mimetypes
import re
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from lxml import etree

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


@dataclass(frozen=True)
class SiteScope:
    """The part of a site that is read: the same host, and below the folder of the address that was given."""

    scheme: str
    host: str
    folder: str

    @classmethod
    def of(cls, address: str) -> "SiteScope":
        """Return the scope of an address; one without an ending is a folder, with a slash or without."""
        parts = urlsplit(address)
        path = parts.path.rpartition("/")[0] if ENDING.search(parts.path) else parts.path
        return cls(parts.scheme, parts.netloc.lower(), path.rstrip("/"))

    def normal(self, address: str) -> str | None:
        """Return an address of this scope in its one form, without a fragment; None for any other."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return None
        path = parts.path or "/"
        inside = path == self.folder or path.startswith(f"{self.folder}/")
        if parts.scheme not in {"http", "https"} or parts.netloc.lower() != self.host or not inside:
            return None
        if mimetypes.guess_type(path)[0] is not None and str(mimetypes.guess_type(path)[0]).startswith(NO_DOCUMENTS):
            return None
        return urlunsplit((self.scheme, self.host, path, parts.query, ""))

    def name(self, address: str, kind: str, endings: Collection[str], taken: Collection[str]) -> str | None:
        """Return the name of the file for what is at an address; None where no loader reads its type.

        `/docs/fees` and `/docs/fees/` are `docs/fees.html`; a query, or a name that is taken, adds a short digest.
        """
        parts = urlsplit(address)
        path = unquote(parts.path.removeprefix(self.folder)).strip("/") or "index"
        ending = PurePosixPath(path).suffix.lower()
        if kind in PAGES:
            wanted = ending if ending in HTML else ".html"
        else:
            wanted = ending if ending in endings else TYPES.get(kind, "")
        if wanted not in endings:
            return None
        stem = path[: -len(ending)] if ending == wanted and ending else path
        digest = hashlib.sha256(address.encode()).hexdigest()[:8]
        name = f"{stem}-{digest}{wanted}" if parts.query else f"{stem}{wanted}"
        return f"{stem}-{digest}{wanted}" if name in taken else name


MOST_BYTES = 20 * 2**20
MOST_LINKS = 10_000


@dataclass
class Links:
    """The addresses that a page links to, and whether it wants to be found."""

    addresses: list[str] = field(default_factory=list)
    may_index: bool = True


def links_of(page: Path, address: str) -> Links:
    """Return the links of a page at an address, in order; none where it asks that they are not followed."""
    found, base, follow = Links(), address, True
    for tag in _tags(page.read_bytes()[:MOST_BYTES]):
        if tag.tag == "base" and tag.get("href"):
            base = _joined(address, tag.get("href"))
        elif tag.tag == "meta" and (tag.get("name") or "").lower() == "robots":
            wishes = {wish.strip() for wish in (tag.get("content") or "").lower().split(",")}
            found.may_index = found.may_index and not wishes & {"noindex", "none"}
            follow = follow and not wishes & {"nofollow", "none"}
        elif tag.tag == "a" and tag.get("href") and "nofollow" not in (tag.get("rel") or ""):
            found.addresses.append(_joined(base, tag.get("href")))
        tag.clear()
        if len(found.addresses) >= MOST_LINKS:
            break
    found.addresses = [link for link in found.addresses if link] if follow else []
    return found


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


def _tags(content: bytes) -> Iterator[Any]:
    try:
        for _, tag in etree.iterparse(BytesIO(content), events=("end",), tag=("a", "base", "meta"), html=True):
            yield tag
    except etree.XMLSyntaxError:  # Not even the parser of HTML makes anything of it.
        return


def _joined(base: str, link: str) -> str:
    try:
        return urljoin(base, link.strip())
    except ValueError:
        return ""
