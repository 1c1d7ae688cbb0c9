"""Decide which links of an answer may stay: those to the hosts of its sources."""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import SplitResult, urlsplit

from chains.source_urls import source_urls
from chains.state import Passage

_WEB = ("http", "https")
# Ends an address in a text without blanks between the words.
WIDE_SIGNS = "\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_ADDRESS = re.compile(rf"https?://[^\s<>\"'\[\]|`{WIDE_SIGNS}]+", re.IGNORECASE)
# What ends a sentence or closes a bracket around an address, and is not part of it.
TRAILING = ".,;:!?*_~'\"\u201d\u2019>]}"


class KnownLinks:
    """The addresses that the passages shown to the model give as their sources, and those in their texts.

    A link stays where its host is one of a source. Its query and its path can carry words of the conversation away, so
    they have to stand in a passage as well; the beginning of a known path is known.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._addresses: set[str] | None = None
        self._hosts: set[str] = set()

    def allow(self, url: str) -> bool:
        """Return whether a link to this address may stay."""
        try:
            parts = urlsplit(url)
            host = _host(parts)
        except ValueError:
            return False
        if parts.scheme.lower() not in _WEB or not host or parts.username is not None:
            return False
        known = self._known()
        if host not in self._hosts:
            return False
        address = _plain(url)
        if parts.query or parts.fragment:
            return address in known
        return any(one == address or one.startswith((f"{address}/", f"{address}?", f"{address}#")) for one in known)

    def _known(self) -> set[str]:
        if self._addresses is None:
            sources = {url for passage in self._passages for url in source_urls(passage["metadata"].get("source_urls"))}
            self._hosts = set(_hosts(sources))
            texts = (_ADDRESS.findall(passage["content"]) for passage in self._passages)
            written = {url.rstrip(TRAILING + ")") for urls in texts for url in urls}
            self._addresses = {_plain(url) for url in sources | written}
        return self._addresses


def _plain(url: str) -> str:
    """Return the address without its scheme, `www.` and the slash at its end, the host in lower case."""
    _, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{host.lower().removeprefix('www.')}{slash}{path}".rstrip("/")


def _host(parts: SplitResult) -> str:
    name = (parts.hostname or "").removeprefix("www.")
    return f"{name}:{parts.port}" if parts.port else name


def _hosts(urls: Iterable[str]) -> Iterator[str]:
    for url in urls:
        try:
            yield _host(urlsplit(url))
        except ValueError:
            continue
