"""An agent of LangChain that asks the documents, with citations its caller can follow: needs the extra `agents`."""

import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk

import chains
from app.wiring import Service
from app.wiring.llm import first_model
from examples import services

DESCRIPTION = "Answer a question from the customs handbook."


def main(services: Service, model: BaseChatModel, question: str) -> None:
    """Print the agent's answer as it is written, and what its numbers stand for."""
    tool = chains.as_tool(services.chain, name="ask_handbook", description=DESCRIPTION)
    prompt, resolving = "Answer by the handbook, and keep its citations.", [chains.CitationMiddleware()]
    agent = create_agent(model, tools=[tool], system_prompt=prompt, middleware=resolving)
    asked: Any = {"messages": [("user", question)]}
    parts: Any = agent.stream(asked, stream_mode=["messages", "values"])
    state: Any = {}
    for mode, part in parts:
        if mode == "values":
            state = part
        elif isinstance(part[0], AIMessageChunk) and part[1]["langgraph_node"] == "model":
            print(part[0].text, end="")
    print()
    for block in state["messages"][-1].content_blocks:
        for citation in block.get("annotations", []):
            print(f"[{citation['extras']['number']}]", citation["title"], repr(citation["cited_text"]))


if __name__ == "__main__":
    opened = services()
    if opened.settings.llm.provider == "offline":
        sys.exit("An agent needs a language model: set LLM_API_KEY")
    main(opened, first_model(opened.settings), "What is the rate of GST on imports into Singapore?")
