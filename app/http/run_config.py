"""A request -> the config that its question is asked with: who asks, and what the call may see."""

from typing import Any

from fastapi import Request
from langchain_core.runnables import RunnableConfig

from app.adapters.sessions.identity import Identity


def config_of(request: Request) -> RunnableConfig:
    """Return the config; every route that asks the chain passes it on. Nobody in particular sees what is public."""
    identity = getattr(request.state, "identity", None) or Identity()
    known = {"request_id": getattr(request.state, "request_id", None), "user_id": identity.user_id}
    metadata: dict[str, Any] = {name: value for name, value in known.items() if value is not None}
    return {"configurable": {"audience": identity.audience}, "metadata": metadata}
