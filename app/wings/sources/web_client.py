"""Fetch pages of one web site politely: one after the other, within limits, only if they changed."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import httpx

from app.wings.sources.download import save
from app.wings.sources.public_network import PrivateAddressError
from chains.errors import IngestionError

AGENT = "waypoint-copilot"
REDIRECTS = 5
UNCHANGED = 304
NO_CONTENT = {404, 410}
# Requests are for the bytes as they are: a compressed reply may unpack to anything.
HEADERS = {"User-Agent": f"{AGENT} (ingestion)", "Accept-Encoding": "identity"}


class Marks(NamedTuple):
    """What a server said of a page's version; it is asked whether that still holds."""

    etag: str = ""
    last_modified: str = ""


NO_MARKS = Marks()


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply: the address after redirects, and the file with its content, if there is any."""

    status: int
    address: str
    type: str = ""
    marks: Marks = NO_MARKS
    content: Path | None = None


@dataclass
class WebClient:
    """Asks for one page at a time; `may_follow` decides on redirects, and `delay_s` passes between requests."""

    transport: httpx.BaseTransport
    max_bytes: int
    timeout_s: float
    delay_s: float
    sleep: Callable[[float], None] = time.sleep
    _client: httpx.Client = field(init=False, repr=False)
    _next: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._client = httpx.Client(
            transport=self.transport, headers=HEADERS, timeout=self.timeout_s, follow_redirects=False
        )

    def close(self) -> None:
        self._client.close()

    def get(self, address: str, folder: Path, *, known: Marks = NO_MARKS, may_follow: Callable[[str], bool]) -> Reply:
        """Fetch what is at an address; what comes is a file in `folder`, unless it is as it was `known`.

        Raise IngestionError if it cannot be fetched, is too large, or leads where nothing may be read.
        """
        headers = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
        for _ in range(REDIRECTS + 1):
            try:
                reply = self._ask(address, folder, {name: value for name, value in headers.items() if value})
            except PrivateAddressError as error:
                msg = f"{error}; WEB_ALLOW_PRIVATE=true allows that"
                raise IngestionError(msg) from error
            except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
                msg = f"it cannot be fetched ({type(error).__name__})"
                raise IngestionError(msg) from error
            if isinstance(reply, Reply):
                return reply
            address = urljoin(address, reply)
            if not may_follow(address):
                msg = f"it leads to {address}, which is not part of this source"
                raise IngestionError(msg)
        msg = f"it leads on more than {REDIRECTS} times"
        raise IngestionError(msg)

    def _ask(self, address: str, folder: Path, headers: dict[str, str]) -> Reply | str:
        """Return the reply to one request, or where it leads."""
        self.sleep(max(0.0, self._next - time.monotonic()))
        try:
            with self._client.stream("GET", address, headers=headers) as response:
                if response.has_redirect_location:
                    return response.headers["location"]
                content = self._save(response, folder) if response.is_success else None
                return Reply(
                    response.status_code,
                    address,
                    response.headers.get("content-type", "").partition(";")[0].strip().lower(),
                    Marks(response.headers.get("etag", ""), response.headers.get("last-modified", "")),
                    content,
                )
        finally:
            self._next = time.monotonic() + self.delay_s

    def _save(self, response: httpx.Response, folder: Path) -> Path:
        path = save(response.iter_raw(), folder, max_bytes=self.max_bytes, timeout_s=self.timeout_s)
        if response.headers.get("content-encoding", "identity") != "identity":
            path.unlink()
            msg = "it comes compressed, though it was asked for as it is"
            raise IngestionError(msg)
        return path
