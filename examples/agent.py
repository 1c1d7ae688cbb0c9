"""An agent of LangChain that asks the documents: needs the extra `agents` and a key of Groq."""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, ToolMessage

import chains
from app.wiring import Services
from app.wiring.llm import first_model
from examples import services

DESCRIPTION = "Answer a question from the customs handbook."


def main(services: Services, model: BaseChatModel, question: str) -> None:
    """Print which passages the agent was given, and its answer as it is written."""
    tool = chains.as_tool(services.chain, name="ask_handbook", description=DESCRIPTION)
    agent = create_agent(model, tools=[tool], system_prompt="Answer by the handbook, and keep its citations.")
    asked: Any = {"messages": [("user", question)]}
    parts: Any = agent.stream(asked, stream_mode="messages")
    for message, place in parts:
        if isinstance(message, ToolMessage):
            print("cited:", [citation["doc_id"] for citation in message.artifact["citations"]])
        elif isinstance(message, AIMessageChunk) and place["langgraph_node"] == "model":
            print(message.text, end="")
    print()


if __name__ == "__main__":
    opened = services()
    main(opened, first_model(opened.settings), "What is the rate of GST on imports into Singapore?")
