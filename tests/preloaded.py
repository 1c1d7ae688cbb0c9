"""What processes that are forked find imported: the service, the command line, and what examples are made of."""

import langchain.agents
import langgraph.graph
import langserve
import mcp.client.streamable_http
import openai

import app.http.process
import app.http.server
import tests.ingest_and_stop
from tests.releasing import keep_what_is_loaded

__all__ = ["app", "langchain", "langgraph", "langserve", "mcp", "openai", "tests"]

keep_what_is_loaded()  # Else each process walks through all of it, and copies what it walks through.
