"""API keys, known by their SHA-256 in the settings."""

import hmac
import re
from hashlib import sha256
from typing import ClassVar, Literal

from app.adapters.sessions.identity import Identity, Scope
from chains.errors import ConfigurationError

_ENTRY = re.compile(r"(?P<name>[\w.@-]+):(?P<hash>[0-9a-fA-F]{64}):(?P<scopes>[a-z:+]+)")


class ApiKeys:
    """The keys of API_KEYS: entries `name:SHA-256 of the key:scope+scope`, separated by commas.

    Raises:
        ConfigurationError: an entry is malformed, names an unknown scope, or repeats a caller's name.
    """

    credential: ClassVar[Literal["session", "key"]] = "key"

    def __init__(self, entries: str) -> None:
        self._keys = [_read(entry.strip(), number) for number, entry in enumerate(entries.split(","), start=1)]
        if len({identity.user_id for _, identity in self._keys}) < len(self._keys):
            msg = "API_KEYS names a caller twice; give each key a name of its own"
            raise ConfigurationError(msg)

    async def find(self, token: str) -> Identity | None:
        """Return the caller; every key is compared in constant time."""
        digest = sha256(token.encode()).digest()
        found = [identity for known, identity in self._keys if hmac.compare_digest(known, digest)]
        return found[0] if found else None

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""


def _read(entry: str, number: int) -> tuple[bytes, Identity]:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        msg = f"API_KEYS: entry {number} is not of the form name:SHA-256 of the key (64 hex digits):scope+scope"
        raise ConfigurationError(msg)
    try:
        scopes = frozenset(Scope(name) for name in match["scopes"].split("+"))
    except ValueError as error:
        msg = f"API_KEYS: entry {number}: {error}; allowed are {', '.join(Scope)}"
        raise ConfigurationError(msg) from None
    return bytes.fromhex(match["hash"]), Identity(match["name"], scopes=scopes)
