"""Connections -> requests, as uvicorn makes them, whose heads have to arrive whole, soon, and not too large."""

import asyncio
import sys
from typing import ClassVar, cast

import structlog
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if sys.platform != "win32":
    import resource

log = structlog.get_logger(__name__)


def allow_many() -> None:
    """Let the process hold as many connections as the system grants, not the 1,024 that are usual to begin with."""
    if sys.platform != "win32":  # Which has no such limit.
        _, granted = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (granted, granted))


class BoundedConnection(HttpToolsProtocol):
    """An HTTP connection that is closed where a request's head (its first line and headers) takes too long or too much.

    uvicorn bounds neither: it waits for the first request for ever, and its fast parser takes headers of any size.
    """

    head_timeout_s: ClassVar[float] = 10
    head_max_bytes: ClassVar[int] = 64 * 1024

    _head_timer: asyncio.TimerHandle | None = None
    _head_bytes: int = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first head."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Count the bytes of a head; those of a body are the application's business."""
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._await_head()
        self._head_bytes += len(data)
        super().data_received(data)
        if self._head_timer is not None and self._head_bytes > self.head_max_bytes:
            self._give_up("head_too_large")

    def on_headers_complete(self) -> None:
        """Stop the clock: the head is there."""
        self._head_arrived()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock: the client is gone."""
        self._head_arrived()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._head_timer = self.loop.call_later(self.head_timeout_s, self._give_up, "head_too_slow")

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self, reason: str) -> None:
        self._head_arrived()
        log.info(reason, client=self.client)
        self.transport.close()
