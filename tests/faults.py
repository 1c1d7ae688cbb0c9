"""What the fake language model can do with a request: answers and faults, by name."""

import asyncio
import gzip
import json
from collections.abc import Awaitable, Callable

from tests.completions import answer_to, completion, events
from tests.exchange import Exchange

Deed = Callable[[Exchange], Awaitable[None]]

ERROR = {"error": {"message": "scripted", "type": "test"}}
HUGE_CHARACTERS = 200_000
STATUSES = (400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503)


async def answer(exchange: Exchange) -> None:
    await _answer(exchange, answer_to(exchange.body))


async def answer_hugely(exchange: Exchange) -> None:
    text = answer_to(exchange.body)
    await _answer(exchange, text + " And so on" * ((HUGE_CHARACTERS - len(text)) // 10))


async def answer_in_gzip(exchange: Exchange) -> None:
    text = answer_to(exchange.body)
    if exchange.streamed:
        shown = [json.dumps(event) for event in events(exchange.body, text, at_groq=exchange.at_groq)]
        payload = "".join(f"data: {data}\n\n" for data in [*shown, "[DONE]"]).encode()
        kind = "text/event-stream"
    else:
        payload, kind = json.dumps(completion(exchange.body, text)).encode(), "application/json"
    await exchange.send(200, gzip.compress(payload), {"Content-Type": kind, "Content-Encoding": "gzip"})


async def drip(exchange: Exchange) -> None:
    text = answer_to(exchange.body)
    if exchange.streamed:
        await exchange.open_stream()
        for event in events(exchange.body, text, at_groq=exchange.at_groq):
            await asyncio.sleep(exchange.pace.drip_s)
            await exchange.write_event(event)
        await exchange.end_stream()
        return
    payload = json.dumps(completion(exchange.body, text)).encode()
    await exchange.open(200, {"Content-Type": "application/json", "Content-Length": str(len(payload))})
    for start in range(0, len(payload), 50):
        await asyncio.sleep(exchange.pace.drip_s)
        await exchange.write(payload[start : start + 50])


async def answer_endlessly(exchange: Exchange) -> None:
    """Say the answer again and again, until the client leaves."""
    await exchange.open_stream()
    text = answer_to(exchange.body)
    first = next(events(exchange.body, "", at_groq=exchange.at_groq))
    first["choices"][0] |= {"delta": {"role": "assistant", "content": f"{text} {text} "}, "finish_reason": None}
    while not exchange.left:
        await exchange.write_event(first)
        await asyncio.sleep(exchange.pace.drip_s)


async def drip_forever(exchange: Exchange) -> None:
    """Send a blank now and then, and never a word."""
    await exchange.open_stream({} if exchange.streamed else {"Content-Type": "application/json"})
    while not exchange.left:
        await exchange.write_chunk(b": wait\n\n" if exchange.streamed else b" ")
        await asyncio.sleep(exchange.pace.drip_s)


async def hang(exchange: Exchange) -> None:
    await exchange.until_left()
    exchange.close()


async def reset_before_headers(exchange: Exchange) -> None:
    exchange.reset()


async def reset_after_headers(exchange: Exchange) -> None:
    await exchange.open_stream({} if exchange.streamed else {"Content-Type": "application/json"})
    exchange.reset()


async def cut(exchange: Exchange) -> None:
    if exchange.streamed:
        await _half_of_stream(exchange)
    else:
        payload = json.dumps(completion(exchange.body, answer_to(exchange.body))).encode()
        await exchange.open(200, {"Content-Type": "application/json", "Content-Length": str(len(payload))})
        await exchange.write(payload[: len(payload) // 2])
    exchange.close()


async def end_early(exchange: Exchange) -> None:
    """End a stream in the middle as if it were whole; cut what is no stream."""
    if not exchange.streamed:
        await cut(exchange)
        return
    await _half_of_stream(exchange)
    await exchange.write_chunk(b"")


async def send_error(exchange: Exchange) -> None:
    """Report an error under status 200; in a stream after the first words."""
    error = {"error": {"message": "scripted", "type": "server_error", "status_code": 500}}
    if not exchange.streamed:
        await exchange.send_json(200, error)
        return
    await _half_of_stream(exchange)
    await exchange.write_chunk(f"event: error\ndata: {json.dumps(error)}\n\n".encode())
    await exchange.write_chunk(b"")


async def send_no_json(exchange: Exchange) -> None:
    """Send what looks like an answer and cannot be read."""
    if not exchange.streamed:
        await exchange.send(200, b'{"choices": [{"message": ', {"Content-Type": "application/json"})
        return
    await exchange.open_stream()
    await exchange.write_event('{"choices": [{"delta": ')
    await exchange.end_stream()


async def send_no_choices(exchange: Exchange) -> None:
    reply = completion(exchange.body, "") | {"choices": []}
    if not exchange.streamed:
        await exchange.send_json(200, reply)
        return
    await exchange.open_stream()
    await exchange.write_event(reply | {"object": "chat.completion.chunk"})
    await exchange.end_stream()


async def send_a_page(exchange: Exchange) -> None:
    """Send a web page, as a proxy in between does."""
    await exchange.send(200, b"<html><body>Please log in.</body></html>", {"Content-Type": "text/html"})


def refuse(status: int, retry_after: str | None = None) -> Deed:
    headers = {} if retry_after is None else {"Retry-After": retry_after}

    async def deed(exchange: Exchange) -> None:
        await exchange.send_json(status, ERROR, headers)

    return deed


async def _answer(exchange: Exchange, text: str) -> None:
    await asyncio.sleep(exchange.pace.thinking_s)
    if not exchange.streamed:
        await exchange.send_json(200, completion(exchange.body, text))
        return
    await exchange.open_stream()
    for event in events(exchange.body, text, at_groq=exchange.at_groq):
        await exchange.write_event(event)
        await asyncio.sleep(exchange.pace.word_s)
    await exchange.end_stream()


async def _half_of_stream(exchange: Exchange) -> None:
    await exchange.open_stream()
    shown = list(events(exchange.body, answer_to(exchange.body), at_groq=exchange.at_groq))
    for event in shown[: len(shown) // 2]:
        await exchange.write_event(event)


GOOD: dict[str, Deed] = {"answer": answer, "gzip": answer_in_gzip, "huge answer": answer_hugely, "slow drip": drip}
FAULTS: dict[str, Deed] = {
    **{str(status): refuse(status) for status in STATUSES},
    "429, Retry-After: 2": refuse(429, "2"),
    "429, Retry-After: 3600": refuse(429, "3600"),
    "reset before headers": reset_before_headers,
    "reset after headers": reset_after_headers,
    "hang": hang,
    "endless drip": drip_forever,
    "cut in the middle": cut,
    "early end": end_early,
    "error under status 200": send_error,
    "invalid JSON": send_no_json,
    "no choices": send_no_choices,
    "wrong content type": send_a_page,
}
DEEDS = GOOD | FAULTS | {"endless answer": answer_endlessly}
# One that asks for an hour's rest ends everything for an hour, and is no accident that just happens.
ACCIDENTS = tuple(name for name in FAULTS if name != "429, Retry-After: 3600")
