"""Find out whether a model server listens somewhere, without importing a client library."""

import socket
from typing import Final
from urllib.parse import urlsplit

TIMEOUT_S: Final = 0.3


def lists_models(url: str) -> bool:
    """Return whether a server at the address, up to and with `/v1`, lists models; where none is, this takes no time."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname, parts.port), TIMEOUT_S).close()
    except OSError:
        return False
    import httpx  # noqa: PLC0415 - imported where something listens.

    try:
        reply = httpx.get(f"{url}/models", timeout=TIMEOUT_S, trust_env=False)
        return reply.status_code == httpx.codes.OK and isinstance(reply.json()["data"], list)
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return False
