"""A language model for load tests: a cited answer after a fixed delay.

The first word of a stream is the time at which it was sent, in seconds since the epoch: a reader on the same machine
knows how long it was under way.
"""

import argparse
import asyncio
import json
import re
import time
from collections.abc import Iterator
from typing import Any

ANSWER = "The rule is written there, and nobody has to look for it twice. " * 4
WORD_S = 0.005


def main() -> None:
    """Serve until the process is ended; the address is the first line of the output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay-ms", type=float, default=500)
    asyncio.run(_serve(parser.parse_args().delay_ms / 1000))


async def _serve(delay_s: float) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while body := await _request(reader):
                await asyncio.sleep(delay_s)
                await _reply(writer, body)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


async def _request(reader: asyncio.StreamReader) -> dict[str, Any]:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(re.findall(rb"(?i)content-length: (\d+)", head)[0])
    body: dict[str, Any] = json.loads(await reader.readexactly(length))
    return body


async def _reply(writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
    words = f"{time.time():.4f} {ANSWER}{_citation(body)}"
    if not body.get("stream"):
        _write(writer, json.dumps(_completion(body, words)).encode(), b"application/json")
        await writer.drain()
        return
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for event in _events(body, words):
        writer.write(b"%x\r\n%s\r\n" % (len(event), event))
        await writer.drain()
        await asyncio.sleep(WORD_S)
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _citation(body: dict[str, Any]) -> str:
    """Return the first header of the context, which is a citation of its passage; none where there is no context."""
    found = re.search(r"(?m)^(\[[^\n]+\])$", str(body["messages"][0]["content"]))
    return found.group(1) if found else ""


def _write(writer: asyncio.StreamWriter, payload: bytes, kind: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
    writer.write(head % (kind, len(payload)) + payload)


def _completion(body: dict[str, Any], words: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 400, "completion_tokens": 60, "total_tokens": 460}
    kind = {"id": "c", "object": "chat.completion", "created": 1}
    return kind | {"model": body["model"], "choices": [choice], "usage": usage}


def _events(body: dict[str, Any], words: str) -> Iterator[bytes]:
    common = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    for word in re.findall(r"\S+\s*", words):
        yield _event(common | {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]})
    yield _event(common | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    yield b"data: [DONE]\n\n"


def _event(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


if __name__ == "__main__":
    main()
