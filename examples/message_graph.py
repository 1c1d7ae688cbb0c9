"""The chain as a graph over messages, with a checkpointer that keeps the conversation, and annotated citations.

`langgraph dev --config examples/langgraph/langgraph.json` serves it to Studio, Agent Chat UI and RemoteGraph.
"""

from collections.abc import Sequence
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

import chains
from app.wiring import Service
from examples import services


def main(services: Service, questions: Sequence[str]) -> None:
    """Print the answers of one conversation, and the pages that they cite."""
    graph = chains.build_graph(services.chain, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    for question in questions:
        asked: Any = {"messages": [("human", question)]}
        reply = graph.invoke(asked, thread)["messages"][-1]
        print(reply.text)
        for block in reply.content_blocks:
            for citation in block.get("annotations", []):
                print("  cites", citation["title"], citation.get("url", "(internal)"))


if __name__ == "__main__":
    main(services(), ["What is the rate of GST on imports into Singapore?", "And the fee for a permit?"])
