"""uvicorn's connections with limits that uvicorn lacks, and its supervisor of workers with a drain."""

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from functools import partial
from ipaddress import ip_address
from typing import ClassVar, cast

from uvicorn import Config, Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from chains.logs import get_logger

log = get_logger(__name__)


class BoundedConnection(HttpToolsProtocol):
    """An HTTP connection that ends when its client sends a request's head or reads a response too slowly.

    The head is the request line and headers; uvicorn waits for it forever and accepts any size. A response of up to
    `send_buffer_bytes` is buffered at once; beyond that the application waits for the client to read, at most
    `send_timeout_s` for half of the buffer.
    """

    head_timeout_s: ClassVar[float] = 10
    head_max_bytes: ClassVar[int] = 64 * 1024
    send_timeout_s: ClassVar[float] = 30
    send_buffer_bytes: ClassVar[int] = 512 * 1024  # What stream_events sends for an answer of 500 tokens.

    _head_bytes = 0
    _in_head = True  # The next byte belongs to a head, not to a body.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        connection = cast("asyncio.Transport", transport)
        connection.set_write_buffer_limits(high=self.send_buffer_bytes, low=self.send_buffer_bytes // 2)
        self._timers: dict[str, asyncio.TimerHandle] = {}  # `head` and `send`, while they run.
        super().connection_made(connection)
        if self.client is not None:
            self.client = (unmapped(self.client[0]), self.client[1])
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Count the bytes of a head, pipelined ones included."""
        if self.cycle is None or self.cycle.response_complete:
            self._await_head()
        self._head_bytes += len(data) if self._in_head else 0
        super().data_received(data)
        if self._in_head and self._head_bytes > self.head_max_bytes:
            self._close("head_too_large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()

    def on_headers_complete(self) -> None:
        """Stop the clock: the head is complete.

        Raise ValueError if HTTP/1.1 does not name one Host (RFC 9112, 3.2); the parser makes it a 400.
        """
        self._in_head = False
        self._stop("head")
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts > 1 or (hosts == 0 and self.parser.get_http_version() == "1.1"):
            raise ValueError("a request of HTTP/1.1 names one host")
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0

    def on_response_complete(self) -> None:
        """Wait until the client has read the response."""
        super().on_response_complete()
        if self.transport.get_write_buffer_size():
            self._start("send", self.send_timeout_s, self._check_send)

    def pause_writing(self) -> None:
        """Wait until the client has read half of the buffer."""
        super().pause_writing()
        self._start("send", self.send_timeout_s, self._check_send)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop("send")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop("head", "send")
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._in_head:
            self._start("head", self.head_timeout_s, partial(self._close, "head_too_slow"))

    def _start(self, name: str, seconds: float, call: Callable[[], None]) -> None:
        if name not in self._timers:
            self._timers[name] = self.loop.call_later(seconds, call)

    def _stop(self, *names: str) -> None:
        for timer in (self._timers.pop(name, None) for name in names):
            if timer is not None:
                timer.cancel()

    def _check_send(self) -> None:
        self._stop("send")
        if self.transport.get_write_buffer_size():
            log.info("client_does_not_read", client=self.client)
            self.transport.abort()

    def _close(self, reason: str) -> None:
        self._stop("head")
        log.info(reason, client=self.client)
        self.transport.close()


def unmapped(host: str) -> str:
    """Return the IPv4 address of `::ffff:192.0.2.7`, as a socket on `::` reports it: limits know one name of it."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return str(getattr(address, "ipv4_mapped", None) or host)


class OneProcess(Server):
    """A server that calls `on_started` once it listens, before it answers anything."""

    def __init__(self, config: Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()


class Workers(Multiprocess):
    """Worker processes that share a socket; each is restarted when it dies, and a signal drains them all.

    `on_started` is called once, when the first of them listens.
    """

    def __init__(self, config: Config, sockets: list[socket.socket], on_started: Callable[[], None]) -> None:
        super().__init__(config, sockets)
        self._on_started: Callable[[], None] | None = on_started

    def keep_subprocess_alive(self) -> None:
        """Restart dead workers; uvicorn calls this twice a second."""
        super().keep_subprocess_alive()
        if self._on_started and any(child.is_ready() for child in self.processes):
            self._on_started()
            self._on_started = None

    def join_all(self) -> None:
        """Wait until all have drained; another signal stops them at once."""
        for child in self.processes:
            while child.process.is_alive():
                child.process.join(0.1)
                if self.signal_queue:
                    for other in self.processes:
                        other.process.kill()
                    os._exit(128 + self.signal_queue[0])
        if any(child.exitcode == STARTUP_FAILURE for child in self.processes):
            sys.exit(STARTUP_FAILURE)
