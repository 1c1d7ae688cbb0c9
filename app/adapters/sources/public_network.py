"""Connect to public addresses only, and to the very address that was checked."""

import ipaddress
import socket
from collections.abc import Callable
from contextlib import suppress

import httpx

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class PrivateAddressError(Exception):
    """A name leads into a private network, or to this machine."""


class PublicTransport(httpx.BaseTransport):
    """Looks up the host of each request, checks all its addresses, and connects to one of those.

    A name that is looked up a second time may lead elsewhere (DNS rebinding), so that only the checked address is used;
    the certificate is still checked for the name. Redirects are requests of their own, and checked like any other.

    Args:
        allow_private: Whether private networks and this machine may be asked as well.
        connect: Makes what carries the requests to one host.
    """

    def __init__(
        self, *, allow_private: bool = False, connect: Callable[[], httpx.BaseTransport] = httpx.HTTPTransport
    ) -> None:
        self._allow_private = allow_private
        self._connect = connect
        # Of each host its own: a connection that was opened for one name is not used for another.
        self._transports: dict[str, httpx.BaseTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request to a checked address of its host.

        Raises:
            PrivateAddressError: one of the host's addresses is not public.
            httpx.ConnectError: the host has no address.
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
            self._transports[host] = self._connect()
        return self._transports[host].handle_request(checked)

    def close(self) -> None:
        """Close all connections."""
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
        addresses = [str(one[4][0]) for one in found]
        if not self._allow_private and not all(is_public(address) for address in addresses):
            msg = f"{host} leads into a private network"
            raise PrivateAddressError(msg)
        return addresses[0]


def is_public(text: str) -> bool:
    """Say whether an address is one of the public Internet, also where it carries an IPv4 address inside."""
    with suppress(ValueError):
        address: Address | None = ipaddress.ip_address(text.partition("%")[0])
        if isinstance(address, ipaddress.IPv6Address):
            if address in ipaddress.ip_network("64:ff9b::/96") or address.teredo:
                return False  # Translated by a router, to what only that knows.
            address = address.ipv4_mapped or address.sixtofour or address
        return address is not None and address.is_global and not address.is_multicast
    return False
