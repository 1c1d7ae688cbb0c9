"""Who asks -> what they may do and see."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal, Protocol

from chains.errors import WaypointError


class Scope(StrEnum):
    """What a caller may do."""

    ASK = "ask"
    INTERNAL = "ask:internal"
    FEEDBACK = "feedback"
    METRICS = "metrics"


class IdentityStoreError(WaypointError):
    """Who asks cannot be found out, because the store of sessions does not answer."""

    stage = "identity"


@dataclass(frozen=True, slots=True)
class Identity:
    """A caller; without `user_id` it is nobody in particular."""

    user_id: str | None = None
    email: str | None = None
    scopes: frozenset[Scope] = frozenset()

    def may(self, scope: Scope) -> bool:
        """Say whether the caller may do something; who may ask for internal documents may ask."""
        return scope in self.scopes or (scope is Scope.ASK and Scope.INTERNAL in self.scopes)

    @property
    def audience(self) -> Literal["public", "internal"]:
        """Return whose documents the caller sees: internal ones are for the staff."""
        return "internal" if Scope.INTERNAL in self.scopes else "public"


class Callers(Protocol):
    """Knows callers by what they show."""

    proof: ClassVar[str]  # What it is that they show: a session, or a key.

    async def find(self, token: str) -> Identity | None:
        """Return the caller; None is unknown or expired.

        Raises:
            IdentityStoreError: it cannot be said.
        """

    async def aclose(self) -> None:
        """Close what is open."""


def session_identity(session: object) -> Identity | None:
    """Return the caller of a session `{user_id, email, is_admin}`; None where it names nobody. Admins are the staff."""
    if not isinstance(session, dict) or not (user_id := session.get("user_id")):
        return None
    staff = session.get("is_admin") is True
    scopes = frozenset(Scope) if staff else frozenset({Scope.ASK, Scope.FEEDBACK})
    email = session.get("email")
    return Identity(str(user_id), email if isinstance(email, str) else None, scopes)
