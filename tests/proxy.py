"""A TCP proxy that can be cut, to test what a broken network does to its clients."""

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from types import TracebackType


class Proxy:
    """A TCP proxy on loopback before `target`; as a context manager it is open while the body runs.

    Attributes:
        deaf: What the target answers is thrown away, while what it is told still arrives.
        accepted: How many connections there have been.
        held: How many bytes are kept back.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._clients: set[StreamWriter] = set()
        self._targets: set[StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._holding = 0
        # Bound and never listening: while the proxy is cut, nobody else can take its port.
        self._place = socket.socket()
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port = int(self._place.getsockname()[1])
        self.deaf = False
        self.accepted = 0
        self.held = 0

    async def __aenter__(self) -> "Proxy":
        await self.restore()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.cut()
        self._place.close()

    async def restore(self) -> None:
        """Accept connections, on the same port as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, reuse_address=True)

    async def cut(self) -> None:
        """Break all connections, and refuse new ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self.flow()
        for writer in self._clients | self._targets:
            writer.transport.abort()
        while self._clients:  # noqa: ASYNC110 - each takes its own leave.
            await asyncio.sleep(0)

    def hold(self) -> None:
        """Keep back what the clients say, on the connections that there are."""
        self._holding = self.accepted
        self._flowing.clear()

    def flow(self) -> None:
        self._flowing.set()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.accepted += 1
        number = self.accepted
        self._clients.add(writer)
        with suppress(OSError):
            onward, away = await asyncio.open_connection("127.0.0.1", self._target)
            self._targets.add(away)
            await asyncio.gather(self._tell(number, reader, away), self._answer(onward, writer))
            self._targets.discard(away)
        writer.transport.abort()
        self._clients.discard(writer)

    async def _tell(self, number: int, reader: StreamReader, target: StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if number <= self._holding:
                    self.held += len(data)
                    await self._flowing.wait()
                target.write(data)
                await target.drain()
        target.close()

    async def _answer(self, reader: StreamReader, client: StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                if not self.deaf and not client.is_closing():
                    client.write(data)
                    await client.drain()
        client.close()
