"""A request -> the config that its question is asked with: who asks, and what the call may see."""

from fastapi import Request
from langchain_core.runnables import RunnableConfig


def config_of(request: Request) -> RunnableConfig:
    """Return the config; every route that asks the chain passes it on."""
    request_id = getattr(request.state, "request_id", None)
    return {"metadata": {"request_id": request_id}} if request_id else {}
