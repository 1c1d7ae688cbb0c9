"""What processes that are forked find imported: the service, the command line, and what examples are made of."""

import langchain.agents
import langgraph.graph
import langserve
import mcp.client.streamable_http
import openai

import app.http.process
import app.http.server
import tests.ingest_and_stop

__all__ = ["app", "langchain", "langgraph", "langserve", "mcp", "openai", "tests"]
