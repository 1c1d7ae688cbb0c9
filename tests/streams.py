"""Ask a chain in each of its ways, and merge the parts of a stream into the answer that a client ends up with."""

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain_core.runnables import Runnable

from tests.chains.gst import QUESTION

every_way = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream", "batch", "abatch"])


def merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of the stream, the pieces of the answer joined."""
    whole: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            whole[name] = whole[name] + value if name == "answer" and name in whole else value
    return whole


async def asked(chain: Runnable[Any, Any], way: str, question: Any = QUESTION, config: Any = None) -> Any:
    """Return the answer in one of the ways to call a runnable; the parts of a stream are added, as LangChain does."""
    match way:
        case "invoke":
            return chain.invoke(question, config)
        case "ainvoke":
            return await chain.ainvoke(question, config)
        case "batch":
            return chain.batch([question], config)[0]
        case "abatch":
            return (await chain.abatch([question], config))[0]
    return reduce(add, [part async for part in streamed(chain, way, question, config)])


async def streamed(chain: Any, way: str, question: Any = QUESTION, config: Any = None, **more: Any) -> Any:
    """Yield the parts of the answer as they come, by `stream` or `astream`."""
    if way == "astream":
        async for part in chain.astream(question, config, **more):
            yield part
    else:
        for part in chain.stream(question, config, **more):
            yield part
