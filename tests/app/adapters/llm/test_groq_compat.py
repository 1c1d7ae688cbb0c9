"""What ClosingChatGroq relies on in ChatGroq and Groq's client: fails on the version that changes it."""

from collections.abc import Iterator
from contextlib import aclosing, closing
from typing import Any, cast

import pytest
from langchain_groq import ChatGroq
from pydantic import SecretStr

from app.adapters.llm.groq_compat import ClosingChatGroq
from tests.fakes import MODEL
from tests.faulty import FaultyGroq, faulty_groq
from tests.waiting import await_until


@pytest.fixture
def endless() -> Iterator[FaultyGroq]:
    with faulty_groq() as server:
        server.always = "endless answer"
        yield server


def connect(url: str, kind: type[ChatGroq] = ClosingChatGroq) -> ChatGroq:
    return kind(api_key=SecretStr("gsk_test"), model_name=MODEL, base_url=url, max_retries=0)


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_a_stream_that_is_left_is_closed_at_once(endless, way):
    model = connect(endless.url)
    if way == "stream":
        with closing(cast("Any", model.stream("?"))) as chunks:
            next(chunk for chunk in chunks if chunk.text)
    else:
        async with aclosing(cast("Any", model.astream("?"))) as chunks:
            async for chunk in chunks:
                if chunk.text:
                    break
    await await_until(lambda: endless.connections == 0)


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_its_chunks_are_those_of_chat_groq(groq, way):
    async def chunks(kind: type[ChatGroq]) -> list[Any]:
        model = connect(groq.url, kind)
        read = list(model.stream("?")) if way == "stream" else [chunk async for chunk in model.astream("?")]
        return [chunk.model_copy(update={"id": None}) for chunk in read]

    ours = await chunks(ClosingChatGroq)
    assert ours == await chunks(ChatGroq)
    assert len(ours) > 3
