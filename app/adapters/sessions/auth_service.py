"""A token -> the caller that the auth service vouches for; it is asked again after half a minute."""

from typing import ClassVar

import httpx

from app.adapters.sessions.identity import Identity, IdentityStoreError, session_identity
from chains.clock import Clock, SystemClock


class AuthService:
    """Asks `GET {url}/auth/validate` with the Bearer token, and remembers whom it found.

    A logout elsewhere is therefore noticed after at most `remember_s` seconds. What is refused is not remembered.

    Args:
        url: The service's address, without the path.
        timeout_s: How long to wait for it.
        remember_s: How long an answer holds.
        remember: For how many tokens; the oldest answer is forgotten first.
        clock: Tells the time.
    """

    proof: ClassVar[str] = "session"

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = 5,
        remember_s: float = 30,
        remember: int = 10_000,
        clock: Clock | None = None,
    ) -> None:
        self._url = f"{url.rstrip('/')}/auth/validate"
        self._client = httpx.AsyncClient(timeout=timeout_s)
        self._remember_s = remember_s
        self._remember = remember
        self._clock = clock or SystemClock()
        self._known: dict[str, tuple[Identity, float]] = {}

    async def find(self, token: str) -> Identity | None:
        """Return the caller; None where the service refuses the token.

        Raises:
            IdentityStoreError: the service does not answer, or not with what was agreed.
        """
        identity, until = self._known.pop(token, (None, 0.0))
        if identity is None or until <= self._clock.now():
            identity, until = await self._ask(token), self._clock.now() + self._remember_s
        if identity is not None:
            self._known[token] = (identity, until)
            if len(self._known) > self._remember:
                del self._known[next(iter(self._known))]
        return identity

    async def _ask(self, token: str) -> Identity | None:
        try:
            response = await self._client.get(self._url, headers={"Authorization": f"Bearer {token}"})
            if response.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
                return None
            return session_identity(response.raise_for_status().json())
        except (httpx.HTTPError, ValueError) as error:
            msg = "the auth service does not answer as agreed; check AUTH_URL"
            raise IdentityStoreError(msg) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()
