"""Ask a chain in each of its ways, and merge the parts of a stream into the answer that a client ends up with."""

from collections.abc import Iterable, Mapping
from typing import Any

from chains.output import merge


def merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of the stream, the pieces of the answer joined."""
    whole: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            whole[name] = whole[name] + value if name == "answer" and name in whole else value
    return whole


async def asked(chain: Any, way: str, question: Any) -> Any:
    """Return the answer, by `invoke`, `ainvoke`, `stream` or `astream`."""
    match way:
        case "invoke":
            return chain.invoke(question)
        case "ainvoke":
            return await chain.ainvoke(question)
        case "stream":
            return merge(chain.stream(question))
    return merge([part async for part in chain.astream(question)])
