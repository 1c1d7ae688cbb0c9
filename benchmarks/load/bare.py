"""A FastAPI route that only calls the language model, for comparison under load."""

import argparse
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI


def application(provider: str) -> FastAPI:
    """Return the application; its one route answers like the service's, with what the provider says."""
    client = httpx.AsyncClient(limits=httpx.Limits(max_connections=1000, max_keepalive_connections=100), timeout=60)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with client:
            yield

    app = FastAPI(lifespan=lifespan)

    @app.post("/api/query")
    async def query(body: dict[str, Any]) -> dict[str, Any]:
        asked = {"model": "m", "messages": [{"role": "user", "content": body["query"]}]}
        reply = (await client.post(f"{provider}/openai/v1/chat/completions", json=asked)).json()
        return {"answer": reply["choices"][0]["message"]["content"], "outcome": "answered"}

    return app


def main() -> None:
    """Serve until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("provider")
    parser.add_argument("port", type=int)
    given = parser.parse_args()
    uvicorn.run(application(given.provider), port=given.port, log_level="error", access_log=False)


if __name__ == "__main__":
    main()
