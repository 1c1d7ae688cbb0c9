"""`waypoint serve` with a route beside it that reports tasks, connections and memory.

The product has no such route; this command puts it in front of the product's own.
"""

import asyncio
import gc

import psutil
from fastapi import FastAPI

import app.cli
import app.http.server
from app.http.server import create_app
from app.wiring import Service

PROBE = "/probe"


async def probe() -> dict[str, int]:
    """Return the tasks of the event loop, the open internet connections, and the resident memory in bytes."""
    gc.collect()
    process = psutil.Process()
    connections = [one for one in process.net_connections("inet") if one.status != psutil.CONN_LISTEN]
    return {"tasks": len(asyncio.all_tasks()), "connections": len(connections), "memory": process.memory_info().rss}


def probed(services: Service) -> FastAPI:
    """Return the product's application with the probe in front of its own routes."""
    application = create_app(services)
    application.add_api_route(PROBE, probe)
    application.router.routes.insert(0, application.router.routes.pop())
    return application


def main() -> None:
    app.http.server.create_app = probed
    app.cli.main()


if __name__ == "__main__":
    main()
