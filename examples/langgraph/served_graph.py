"""The graph of `message_graph` for LangGraph's server, which opens it once: `langgraph dev --config langgraph.json`."""

import chains
from examples import services

opened = services()
opened.warm_up()  # The server refuses to open files while it answers.
graph = chains.build_graph(opened.chain)
