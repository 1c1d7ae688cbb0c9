"""The links of a document's sources: from what its front matter, an index or another service gives, to addresses.

`source_urls` is a list of addresses or of `{url: ...}`, such a list as JSON, or one string. A string may hold several
addresses: it is split at a comma before `http://`, `https://` or `N/A`, and only there, because a comma is legal in an
address (RFC 3986).
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

_NEXT = re.compile(r"\s*,\s*(?=https?://|N/A\b)", re.IGNORECASE)
_NONE = {"", "n/a", "none", "-"}
# Browsers take a backslash for a slash, and leave out tabs: such an address leads elsewhere than it seems to.
_NO_ADDRESS = re.compile(r"[\s\x00-\x20\x7f\\<>\"]")


def source_urls(given: object, *, hosts: Collection[str] = ()) -> list[str]:
    """Return the links among what is given, each once, in order; only those to the `hosts`, where there are any."""
    return list(dict.fromkeys(text for text in _texts(given) if is_link(text) and leads_to(text, hosts)))


def not_links(given: object) -> list[str]:
    return [text for text in _texts(given) if not is_link(text)]


def is_link(text: str) -> bool:
    """Return whether a text is an http(s) address with a host."""
    try:
        parts = urlsplit(text)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
    return known and _NO_ADDRESS.search(text) is None


def leads_to(url: str, hosts: Collection[str]) -> bool:
    """Return whether a link leads to one of the hosts, or to a subdomain of one; without hosts, to any."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    return not hosts or any(host == known or host.endswith(f".{known}") for known in hosts)


def with_hosts(metadata: Mapping[str, Any], hosts: Collection[str]) -> dict[str, Any]:
    """Return a chunk's metadata with links to these hosts only; without hosts, with all of them."""
    if not hosts or "source_urls" not in metadata:
        return dict(metadata)
    return {**metadata, "source_urls": json.dumps(source_urls(metadata["source_urls"], hosts=hosts))}


def _texts(given: object) -> Iterator[str]:
    if isinstance(given, str):
        decoded: object = given
        with suppress(ValueError, RecursionError):
            decoded = json.loads(given) if given.lstrip().startswith("[") else given
        if isinstance(decoded, list):
            yield from _texts(decoded)
        else:
            parts = (part.strip().rstrip(",") for part in _NEXT.split(given))
            yield from (part for part in parts if part.lower() not in _NONE)
    elif isinstance(given, Mapping):
        yield from _texts(given.get("url"))
    elif isinstance(given, list | tuple):
        for one in given:
            yield from _texts(one)
