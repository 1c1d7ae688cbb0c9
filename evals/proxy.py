"""A port -> another port that leads there, until it is cut: how a broken network looks to those who speak through it."""

import asyncio
from asyncio import StreamReader, StreamWriter
from types import TracebackType


class Proxy:
    """A TCP proxy on loopback before `target`; as a context manager it is open while the body runs.

    Attributes:
        deaf: What the target answers is thrown away, while what it is told still arrives.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._writers: set[StreamWriter] = set()
        self.port = 0
        self.deaf = False

    async def __aenter__(self) -> "Proxy":
        await self.restore()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.cut()

    async def restore(self) -> None:
        """Accept connections, on the same port as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Break all connections, and refuse new ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in self._writers:
            writer.transport.abort()
        while self._writers:
            await asyncio.sleep(0)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._writers.add(writer)
        try:
            onward, away = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            self._writers.discard(writer)
            writer.transport.abort()
            return
        self._writers.add(away)
        await asyncio.gather(self._pass(reader, away), self._pass(onward, writer, answers=True))
        for done in (writer, away):
            self._writers.discard(done)
            done.transport.abort()

    async def _pass(self, reader: StreamReader, writer: StreamWriter, *, answers: bool = False) -> None:
        try:
            while data := await reader.read(65536):
                if not (answers and self.deaf):
                    writer.write(data)
                    await writer.drain()
        except OSError:
            pass
        finally:
            writer.transport.abort()
