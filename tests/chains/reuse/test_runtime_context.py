"""The context that an agent or a graph of LangGraph runs with says what may be seen, as `configurable` does."""

from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

import chains
from app.wings.offline.model import OfflineChatModel
from chains.errors import ConfigurationError
from tests.chains.gst import Shelf
from tests.chains.reuse.test_agent_citations import Scripted, call

PUBLIC = Document("The rate of GST is 9 %.", metadata={"title": "GST Guide", "audience": "public", "score": 0.8})
SECRET = Document(
    "The rate of GST in our margin is 3 %.", metadata={"title": "Margins", "audience": "internal", "score": 0.9}
)
QUESTION = "What is the rate of GST?"


@dataclass
class Fields:
    audience: str | None = None
    user: str = "ann"


class Model(BaseModel):
    audience: str = "public"


def chain() -> Any:
    return chains.build_chain(retriever=Shelf(documents=[SECRET, PUBLIC]), model=OfflineChatModel())


def agent(**options: Any) -> Any:
    tool = chains.as_tool(chain(), name="ask", **options)
    return create_agent(
        Scripted(messages=iter([AIMessage("", tool_calls=[call("ask")]), AIMessage("Done.")]), asked=[]), [tool]
    )


def graph_answer(context: Any, config: Any = None, **options: Any) -> Any:
    state = chains.build_graph(chain(), **options).invoke({"messages": [("human", QUESTION)]}, config, context=context)
    return state["cited_answer"]


def titles(answer: Any) -> set[str]:
    return {document["metadata"]["title"] for document in answer["documents"]}


@pytest.mark.parametrize(
    "context", [{"audience": "public"}, Fields("public"), Model(), {"audience": "public", "user": 1}]
)
async def test_the_audience_of_the_context_holds_in_agents_and_graphs(context):
    asked: Any = {"messages": [("human", QUESTION)]}
    states = [agent().invoke(asked, context=context), await agent().ainvoke(asked, context=context)]
    answers = [message.artifact for state in states for message in state["messages"] if message.type == "tool"]

    assert [titles(answer) for answer in [*answers, graph_answer(context)]] == [{"GST Guide"}] * 3


@pytest.mark.parametrize("context", [None, {}, Fields(), {"user": "ann"}])
def test_a_context_that_names_no_audience_leaves_the_default(context):
    assert titles(graph_answer(context)) == {"GST Guide", "Margins"}
    assert titles(graph_answer(context, audience="public")) == {"GST Guide"}
    assert titles(graph_answer({"audience": "internal"}, audience="public")) == {"GST Guide", "Margins"}


@pytest.mark.parametrize(
    ("context", "config", "told"),
    [
        ("public", None, "has no fields"),
        ({"audience": "everybody"}, None, "is not one of public, internal"),
        ({"audience": "public"}, {"configurable": {"audience": "internal"}}, "in the context and 'internal'"),
    ],
)
def test_an_audience_that_cannot_be_read_is_an_error(context, config, told):
    with pytest.raises(ConfigurationError, match=told):
        graph_answer(context, config)


def test_a_tool_made_for_the_public_answers_so_where_no_audience_is_named():
    state = agent(audience="public").invoke({"messages": [("human", QUESTION)]})
    [answer] = [message.artifact for message in state["messages"] if message.type == "tool"]
    assert titles(answer) == {"GST Guide"}


def test_a_graph_around_the_chain_hands_its_context_on():
    seen: list[set[str]] = []
    outer: Any = StateGraph(MessagesState)
    outer.add_node("answer", lambda _: seen.append(titles(chain().invoke({"question": QUESTION}))))
    outer.add_edge(START, "answer")
    outer.compile().invoke({"messages": [("human", QUESTION)]}, context={"audience": "public"})

    assert seen == [{"GST Guide"}]
