import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from typing import Any

from chains.generation.generate import MOST_UNREAD, PIECE_S, apieces, pieces
from tests.clocks import StoppedClock


def test_the_first_chunk_comes_at_once_and_then_what_has_come_in_its_time():
    clock = StoppedClock()

    def chunks() -> Iterator[str]:
        for chunk in "abcdefg":
            yield chunk
            clock.sleep(PIECE_S / 2)

    assert list(pieces(chunks(), clock.now)) == [["a"], ["b", "c"], ["d", "e"], ["f", "g"]]


def test_two_hundred_words_in_half_a_second_are_some_thirty_pieces():
    clock = StoppedClock()

    def words() -> Iterator[str]:
        for number in range(200):
            clock.sleep(0.5 / 200)
            yield f"word{number} "

    cut = list(pieces(words(), clock.now))

    assert [chunk for piece in cut for chunk in piece] == [f"word{number} " for number in range(200)]
    assert 20 <= len(cut) <= 30


async def test_what_has_come_is_shown_while_the_next_chunk_is_not_there_yet():
    more = asyncio.Event()

    async def chunks() -> AsyncIterator[str]:
        for chunk in "abc":
            yield chunk
        await more.wait()
        yield "d"

    seen: list[str] = []
    async for piece in apieces(chunks(), None, nullcontext()):
        seen += piece
        if seen == ["a", "b", "c"]:
            more.set()

    assert seen == ["a", "b", "c", "d"]


async def test_the_model_is_read_no_further_ahead_of_its_reader_than_a_bound():
    written = 0

    async def chunks() -> AsyncIterator[int]:
        nonlocal written
        while True:
            written += 1
            yield written
            await asyncio.sleep(0)

    stream: Any = apieces(chunks(), None, nullcontext())
    await anext(stream)
    for _ in range(10 * MOST_UNREAD):  # The reader is busy elsewhere.
        await asyncio.sleep(0)
    assert written <= MOST_UNREAD + 1

    await stream.aclose()
    stopped = written
    await asyncio.sleep(0)
    assert written == stopped


async def test_an_error_comes_after_the_words_before_it():
    async def chunks() -> AsyncIterator[str]:
        yield "a"
        raise ConnectionError

    seen: list[str] = []
    try:
        async for piece in apieces(chunks(), None, nullcontext()):
            seen += piece
    except ConnectionError:
        seen.append("error")

    assert seen == ["a", "error"]
