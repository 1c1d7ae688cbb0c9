"""A FastAPI route that only calls the language model, for comparison under load."""

import sys
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from benchmarks.processes import free_port


def application(provider: str) -> FastAPI:
    """Return the application; its one route answers like the service's, with what the provider says."""
    client = httpx.AsyncClient(limits=httpx.Limits(max_connections=1000, max_keepalive_connections=100), timeout=60)
    app = FastAPI()

    @app.post("/api/query")
    async def query(body: dict[str, Any]) -> dict[str, Any]:
        asked = {"model": "m", "messages": [{"role": "user", "content": body["query"]}]}
        reply = (await client.post(f"{provider}/openai/v1/chat/completions", json=asked)).json()
        return {"answer": reply["choices"][0]["message"]["content"], "outcome": "answered"}

    return app


if __name__ == "__main__":
    port = free_port()
    print(f"http://127.0.0.1:{port}", flush=True)
    uvicorn.run(application(sys.argv[1]), port=port, log_level="error", access_log=False)
