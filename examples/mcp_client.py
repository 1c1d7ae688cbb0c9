"""A running `waypoint serve` asked by the Model Context Protocol: needs the extra `mcp`."""

import asyncio
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client


async def main(url: str, question: str) -> None:
    """Print the tools, the answer, and the documents."""
    async with (
        streamable_http_client(f"{url}/mcp") as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        print("tools:", [tool.name for tool in (await session.list_tools()).tools])
        result = await session.call_tool("ask", {"question": question})
        print("answer:", (result.structuredContent or {})["answer"])
        print("documents:", [resource.title for resource in (await session.list_resources()).resources])


if __name__ == "__main__":
    address = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:3000"
    asyncio.run(main(address, "What is the rate of GST on imports?"))
