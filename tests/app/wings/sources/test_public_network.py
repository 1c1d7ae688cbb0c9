import socket

import httpx
import pytest

from app.wings.sources.web_client import PrivateAddressError, PublicTransport, is_public


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f::1", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.1", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
        ("2002:808:808::1", True),
        ("::ffff:8.8.8.8", True),
        ("168.63.129.16", False),
        ("::ffff:168.63.129.16", False),
        ("192.0.0.9", False),
        ("192.88.99.1", False),
        ("64:ff9b:1::7f00:1", False),
        ("::127.0.0.1", False),
        ("::ffff:0:127.0.0.1", False),
        ("fec0::1", False),
        ("2606:4700::5efe:127.0.0.1", False),
        ("2606:4700::200:5efe:7f00:1", False),
        ("5f00::1", False),
        ("3fff::1", False),
        ("2001:0:1::", False),
        ("no address", False),
    ],
)
def test_an_address_is_public_only_if_it_is_one_of_the_internet(address, public):
    assert is_public(address) is public


class Recorded(httpx.BaseTransport):
    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return httpx.Response(200)


def answers(*rounds: list[str]):
    """Return a resolver that gives other addresses each time it is asked."""
    left = list(rounds)
    return lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 443)) for one in left.pop(0)]


def test_the_connection_goes_to_the_address_that_was_checked_under_the_name(monkeypatch):
    inner = Recorded()
    monkeypatch.setattr(socket, "getaddrinfo", answers(["93.184.215.14"], ["127.0.0.1"]))
    with httpx.Client(transport=PublicTransport(connect=lambda: inner)) as client:
        client.get("https://www.example.org/x")
        with pytest.raises(PrivateAddressError):
            client.get("https://www.example.org/y")

    (request,) = inner.requests
    assert (request.url.host, request.headers["host"]) == ("93.184.215.14", "www.example.org")
    assert request.extensions["sni_hostname"] == "www.example.org"


def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", answers(["93.184.215.14", "10.0.0.1"]))
    with httpx.Client(transport=PublicTransport(connect=Recorded)) as client, pytest.raises(PrivateAddressError):
        client.get("https://www.example.org/")


@pytest.mark.parametrize("address", ["http://2130706433/", "http://0x7f.1/", "http://localhost/", "http://[::1]/"])
def test_other_ways_to_write_this_machine_are_refused(address):
    with httpx.Client(transport=PublicTransport()) as client, pytest.raises(PrivateAddressError):
        client.get(address)
