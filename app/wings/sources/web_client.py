"""Fetch pages of one web site politely: one after the other, within limits, only if they changed."""

import ipaddress
import socket
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import httpx

from chains.errors import IngestionError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Called global, and inside: addresses of protocols, relays to IPv6, and of Azure's hosts for their guests.
INSIDE_IPV4 = [ipaddress.IPv4Network(network) for network in ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32")]
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
# Within it: Teredo and other protocols, and what is for documentation (RFC 9637).
INSIDE_IPV6 = [ipaddress.IPv6Network(network) for network in ("2001::/23", "2002::/16", "3fff::/20")]
ISATAP = (0x00005EFE, 0x02005EFE)  # What stands before the IPv4 address (RFC 5214).


class PrivateAddressError(Exception):
    """A name leads into a private network, or to this machine."""


@dataclass(eq=False, kw_only=True)
class PublicTransport(httpx.BaseTransport):
    """Looks up the host of each request, checks all its addresses, and connects to one of those.

    A name that is looked up a second time may lead elsewhere (DNS rebinding), so that only the checked address is used;
    the certificate is still checked for the name. Redirects are requests of their own, and checked like any other.
    `connect` makes what carries the requests to one host.
    """

    allow_private: bool = False
    connect: Callable[[], httpx.BaseTransport] = httpx.HTTPTransport
    # Of each host its own: a connection that was opened for one name is not used for another.
    _transports: dict[str, httpx.BaseTransport] = field(default_factory=dict, init=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to a checked address of its host. Raise PrivateAddressError if one of them is not public."""
        host, port = request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpx.ConnectError(f"{host} has no address", request=request) from error
        addresses = [str(entry[4][0]) for entry in found]
        if not self.allow_private and not all(is_public(address) for address in addresses):
            raise PrivateAddressError(f"{host} leads into a private network")
        checked = httpx.Request(
            request.method,
            request.url.copy_with(host=addresses[0]),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )
        if host not in self._transports:
            self._transports[host] = self.connect()
        return self._transports[host].handle_request(checked)

    def close(self) -> None:
        for transport in self._transports.values():
            transport.close()


def is_public(text: str) -> bool:
    """Say whether an address is one of the public Internet, also where it carries an IPv4 address inside."""
    try:
        address: Address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and (inner := address.ipv4_mapped or address.sixtofour):
        address = inner
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast and not any(address in some for some in INSIDE_IPV4)
    # What registries give to hosts; not what stands for an IPv4 address that only a router knows.
    given = address in GLOBAL_UNICAST and not any(address in network for network in INSIDE_IPV6)
    return given and address.is_global and (int(address) & (2**64 - 1)) >> 32 not in ISATAP


def save(parts: Iterable[bytes], folder: Path) -> Path:
    """Write the parts into a new file in the folder, and return it; of one that cannot be had whole nothing is left.

    Raise IngestionError if it is larger or slower than the limits allow.
    """
    end, size = time.monotonic() + TIMEOUT_S, 0
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as file:
        path = Path(file.name)
        try:
            for part in parts:
                size += len(part)
                if size > MAX_BYTES or time.monotonic() > end:
                    limit = f"{MAX_BYTES // 2**20} MB or {TIMEOUT_S} seconds"
                    raise IngestionError(f"it is larger or slower than {limit} allows")
                file.write(part)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return path


AGENT = "waypoint-copilot"
# Of a file, and for its download.
MAX_BYTES, TIMEOUT_S = 50 * 2**20, 60
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
    delay_s: float
    _client: httpx.Client = field(init=False, repr=False)
    _next: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._client = httpx.Client(
            transport=self.transport, headers=HEADERS, timeout=TIMEOUT_S, follow_redirects=False
        )

    def get(self, address: str, folder: Path, *, known: Marks = NO_MARKS, may_follow: Callable[[str], bool]) -> Reply:
        """Fetch what is at an address; what comes is a file in `folder`, unless it is as it was `known`.

        Raise IngestionError if it cannot be fetched, is too large, or leads where nothing may be read.
        """
        headers = {"If-None-Match": known.etag, "If-Modified-Since": known.last_modified}
        for _ in range(REDIRECTS + 1):
            try:
                reply = self._ask(address, folder, {name: value for name, value in headers.items() if value})
            except PrivateAddressError as error:
                raise IngestionError(f"{error}; WEB_ALLOW_PRIVATE=true allows that") from error
            except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
                raise IngestionError(f"it cannot be fetched ({type(error).__name__})") from error
            if isinstance(reply, Reply):
                return reply
            address = urljoin(address, reply)
            if not may_follow(address):
                raise IngestionError(f"it leads to {address}, which is not part of this source")
        raise IngestionError(f"it leads on more than {REDIRECTS} times")

    def _ask(self, address: str, folder: Path, headers: dict[str, str]) -> Reply | str:
        time.sleep(max(0.0, self._next - time.monotonic()))
        try:
            with self._client.stream("GET", address, headers=headers) as response:
                if response.has_redirect_location:
                    return response.headers["location"]
                content = None
                if response.is_success:
                    content = save(response.iter_raw(), folder)
                    if response.headers.get("content-encoding", "identity") != "identity":
                        content.unlink()
                        raise IngestionError("it comes compressed, though it was asked for as it is")
                return Reply(
                    response.status_code,
                    address,
                    response.headers.get("content-type", "").partition(";")[0].strip().lower(),
                    Marks(response.headers.get("etag", ""), response.headers.get("last-modified", "")),
                    content,
                )
        finally:
            self._next = time.monotonic() + self.delay_s
