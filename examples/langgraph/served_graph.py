"""The graph of `message_graph` for LangGraph's server, which opens it once: `langgraph dev --config langgraph.json`."""

import chains
from examples import services

graph = chains.build_graph(services().chain)
