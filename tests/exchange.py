"""HTTP exchanges of the fake language model, written byte by byte, so that it can also answer badly."""

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_REASONS = {200: "OK"}


@dataclass(frozen=True)
class Pace:
    """How long the server thinks before it answers, and pauses after each word, each drip; in seconds."""

    thinking_s: float = 0.0
    word_s: float = 0.0
    drip_s: float = 0.02


@dataclass
class Exchange:
    """One request, and the connection that its answer goes back on."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    pace: Pace
    keep_alive: bool

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def at_groq(self) -> bool:
        """Return whether the path is Groq's, where usage has a place of its own."""
        return self.path.startswith("/openai/")

    @property
    def left(self) -> bool:
        """Return whether the client is gone, by an end or, where it had not read all, by a reset."""
        return self.reader.at_eof() or self.reader.exception() is not None

    async def send_json(self, status: int, value: object, headers: Mapping[str, str] | None = None) -> None:
        await self.send(status, json.dumps(value).encode(), {"Content-Type": "application/json"} | dict(headers or {}))

    async def send(self, status: int, payload: bytes, headers: Mapping[str, str]) -> None:
        await self.open(status, {"Content-Length": str(len(payload))} | dict(headers))
        await self.write(payload)

    async def open(self, status: int, headers: Mapping[str, str]) -> None:
        connection = {"Connection": "keep-alive" if self.keep_alive else "close"}
        lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Scripted')}"]
        lines += [f"{name}: {value}" for name, value in (connection | dict(headers)).items()]
        await self.write("\r\n".join([*lines, "", ""]).encode())

    async def open_stream(self, headers: Mapping[str, str] | None = None) -> None:
        """Send the headers of a stream of events, which comes in chunks."""
        kind = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
        await self.open(200, kind | dict(headers or {}))

    async def write_event(self, event: object) -> None:
        """Send one event; a string goes as it is."""
        data = event if isinstance(event, str) else json.dumps(event)
        await self.write_chunk(f"data: {data}\n\n".encode())

    async def write_chunk(self, payload: bytes) -> None:
        """Send one chunk; an empty one ends the answer."""
        await self.write(b"%x\r\n%s\r\n" % (len(payload), payload))

    async def end_stream(self) -> None:
        await self.write_event("[DONE]")
        await self.write_chunk(b"")

    async def write(self, payload: bytes) -> None:
        self.writer.write(payload)
        await self.writer.drain()

    async def until_left(self) -> None:
        while await self.reader.read(65_536):
            pass

    def close(self) -> None:
        """Close the connection once all is sent; the client sees an end where it comes too early."""
        self.keep_alive = False

    def reset(self) -> None:
        self.keep_alive = False
        raw: socket.socket = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


async def read_exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, pace: Pace, keep_alive: bool
) -> Exchange:
    """Return the next request of the connection.

    Raises:
        asyncio.IncompleteReadError: the client has closed the connection.
    """
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Exchange(method, path, headers, json.loads(body) if body else {}, reader, writer, pace, keep_alive)
