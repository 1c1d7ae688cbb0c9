"""Who is calling and what they may do; API keys, known by their SHA-256 in the settings."""

import hmac
import json
import re
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, ClassVar, Literal, Protocol

from chains.errors import ConfigurationError, WaypointError
from chains.question import is_text


class Scope(StrEnum):
    """What a caller may do."""

    ASK = "ask"
    INTERNAL = "ask:internal"
    FEEDBACK = "feedback"
    METRICS = "metrics"
    INGEST = "ingest"


class IdentityStoreError(WaypointError):
    """The session store is unavailable."""

    stage = "identity"


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller; an anonymous one has no `user_id`."""

    user_id: str | None = None
    email: str | None = None
    scopes: frozenset[Scope] = frozenset()

    def may(self, scope: Scope) -> bool:
        """Return whether the caller has a scope; `ask:internal` includes `ask`."""
        return scope in self.scopes or (scope is Scope.ASK and Scope.INTERNAL in self.scopes)

    @property
    def audience(self) -> Literal["public", "internal"]:
        """Return which documents the caller sees: internal ones are for the staff."""
        return "internal" if Scope.INTERNAL in self.scopes else "public"


class Authenticator(Protocol):
    """Finds the identity behind a token."""

    credential: ClassVar[Literal["session", "key"]]

    async def find(self, token: str) -> Identity | None:
        """Return the caller; None if the token is unknown or expired. Raise IdentityStoreError without an answer."""

    async def aclose(self) -> None: ...


def session_identity(text: bytes | str) -> Identity | None:
    """Return the caller of a session, JSON `{user_id, email, is_admin}`; None without a user. Admins are the staff.

    Raise ValueError, RecursionError if it is no JSON, or names a field twice, which two programs may read differently.
    """
    session = json.loads(text, object_pairs_hook=_each_once)
    user_id = session.get("user_id") if isinstance(session, dict) else None
    if not user_id or not isinstance(user_id, str | int) or user_id is True or not is_text(str(user_id)):
        return None
    staff = session.get("is_admin") is True
    scopes = frozenset(Scope) if staff else frozenset({Scope.ASK, Scope.FEEDBACK})
    email = session.get("email")
    return Identity(str(user_id), email if isinstance(email, str) else None, scopes)


def _each_once(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(fields)) < len(fields):
        raise ValueError("a field is named twice")
    return found


_ENTRY = re.compile(r"(?P<name>[\w.@-]+):(?P<hash>[0-9a-fA-F]{64}):(?P<scopes>[a-z:+]+)")


class ApiKeys:
    """The keys of API_KEYS: entries `name:SHA-256 of the key:scope+scope`, separated by commas.

    Raise ConfigurationError if an entry is malformed, names an unknown scope, or repeats a caller's name.
    """

    credential: ClassVar[Literal["session", "key"]] = "key"

    def __init__(self, entries: str) -> None:
        self._keys: list[tuple[bytes, Identity]] = []
        for number, entry in enumerate(entries.split(","), start=1):
            match = _ENTRY.fullmatch(entry.strip())
            if match is None:
                form = "name:SHA-256 of the key (64 hex digits):scope+scope"
                raise ConfigurationError(f"API_KEYS: entry {number} is not of the form {form}")
            try:
                scopes = frozenset(Scope(name) for name in match["scopes"].split("+"))
            except ValueError as error:
                msg = f"API_KEYS: entry {number}: {error}; allowed are {', '.join(Scope)}"
                raise ConfigurationError(msg) from None
            self._keys.append((bytes.fromhex(match["hash"]), Identity(match["name"], scopes=scopes)))
        if len({identity.user_id for _, identity in self._keys}) < len(self._keys):
            raise ConfigurationError("API_KEYS names a caller twice; give each key a name of its own")

    async def find(self, token: str) -> Identity | None:
        """Return the caller; every key is compared in constant time."""
        digest = sha256(token.encode()).digest()
        found = [identity for known, identity in self._keys if hmac.compare_digest(known, digest)]
        return found[0] if found else None

    async def aclose(self) -> None:
        """Do nothing: nothing is open."""
