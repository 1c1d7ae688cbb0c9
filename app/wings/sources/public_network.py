"""Connect to public addresses only, and to the very address that was checked."""

import ipaddress
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import httpx

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
        """Send the request to a checked address of its host.

        Raise PrivateAddressError if one of the host's addresses is not public; httpx.ConnectError if the host has no
        address.
        """
        host = request.url.host
        address = self._checked_address(request)
        checked = httpx.Request(
            request.method,
            request.url.copy_with(host=address),
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

    def _checked_address(self, request: httpx.Request) -> str:
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            msg = f"{host} has no address"
            raise httpx.ConnectError(msg, request=request) from error
        addresses = [str(entry[4][0]) for entry in found]
        if not self.allow_private and not all(is_public(address) for address in addresses):
            msg = f"{host} leads into a private network"
            raise PrivateAddressError(msg)
        return addresses[0]


def is_public(text: str) -> bool:
    """Say whether an address is one of the public Internet, also where it carries an IPv4 address inside."""
    with suppress(ValueError):
        address: Address = ipaddress.ip_address(text.partition("%")[0])
        if isinstance(address, ipaddress.IPv6Address):
            inner = address.ipv4_mapped or address.sixtofour
            return _is_public_ipv6(address) if inner is None else _is_public_ipv4(inner)
        return _is_public_ipv4(address)
    return False


def _is_public_ipv4(address: ipaddress.IPv4Address) -> bool:
    return address.is_global and not address.is_multicast and not any(address in network for network in INSIDE_IPV4)


def _is_public_ipv6(address: ipaddress.IPv6Address) -> bool:
    """Only what registries give to hosts is public; not what stands for an IPv4 address that only a router knows."""
    host = int(address) & (2**64 - 1)
    given = address in GLOBAL_UNICAST and not any(address in network for network in INSIDE_IPV6)
    return given and address.is_global and host >> 32 not in ISATAP
