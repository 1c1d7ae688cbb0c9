"""Read links out of pages and addresses out of sitemaps, by lxml, which neither recurses nor follows entities."""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from lxml import etree

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
    found.addresses = [one for one in found.addresses if one] if follow else []
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
    return [one for one in addresses if one], is_index


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
