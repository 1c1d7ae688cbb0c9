"""The chain as a graph of LangGraph, and the context that agents and graphs run with."""

from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.ai import add_ai_message_chunks
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from pydantic import BaseModel

import chains
from app.wings.offline.model import OfflineChatModel
from chains import build_graph
from chains.errors import ConfigurationError, QuestionError
from tests.chains.gst import ANSWER, QUESTION, Shelf, gst_chain, lasting, noting
from tests.chains.reuse.test_agent_citations import GST, call
from tests.streams import asked, streamed

IMAGE: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
ASKED: Any = {"messages": [("human", "Rate?")]}


def graph(answer: str = ANSWER, **options: Any) -> Any:
    return build_graph(gst_chain(answer, retriever=Shelf(documents=[GST])), **options)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_the_reply_is_a_message_with_citations(way):
    state = await asked(graph(), way, ASKED)

    reply = state["messages"][-1]
    [block] = reply.content_blocks
    [citation] = block["annotations"]
    assert block["text"] == ANSWER
    assert ANSWER[citation["start_index"] : citation["end_index"]] == "[GST Guide > Rate]"
    assert (citation["title"], citation["url"], citation["cited_text"]) == (
        *("GST Guide", "https://example.org/gst"),
        GST.page_content,
    )
    assert citation["extras"] == {
        "number": 1,
        "section": "Rate",
        "page": 3,
        "doc_id": "gst",
        "support": 1.0,
        "contradicted": False,
    }
    assert lasting(state["cited_answer"]) == lasting(gst_chain(retriever=Shelf(documents=[GST])).invoke(QUESTION))
    assert reply.response_metadata["outcome"] == "answered"


def test_a_checkpointer_keeps_the_conversation():
    queries: list[Any] = []

    def search(query: str) -> Any:
        queries.append(query)
        return [GST]

    kept = build_graph(gst_chain(retriever=search), checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    kept.invoke({"messages": [("human", "What is the rate of GST?")]}, thread)
    state = kept.invoke({"messages": [("human", "And since when?")]}, thread)

    assert len(state["messages"]) == 4
    assert "GST" in queries[-1]


TWO = "The rate of GST is 9% [1]. It is paid on imports at the rate of 9% [1]. "


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_checked_sentences_stream_with_their_citations(way):
    parts = [part async for part in streamed(graph(TWO), way, ASKED, stream_mode=["messages", "values"])]
    chunks: list[Any] = [part[0] for mode, part in parts if mode == "messages"]
    reply = parts[-1][1]["messages"][-1]
    blocks: Any = add_ai_message_chunks(*chunks).content_blocks
    [block] = blocks

    assert block["text"] == str(reply.text) == TWO.replace("[1]", "[GST Guide > Rate]")
    assert block["annotations"] == reply.content_blocks[0]["annotations"]
    assert len(block["annotations"]) == 2
    for chunk in chunks:
        annotations = [one for block in chunk.content_blocks for one in block.get("annotations", [])]
        assert len(annotations) == str(chunk.text).count("[GST Guide > Rate]")
    assert {chunk.id for chunk in chunks} == {reply.id}


def test_the_audience_holds():
    config: Any = {"configurable": {"audience": "public"}}

    assert graph().invoke(ASKED, config)["cited_answer"]["outcome"] == "no_results"


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([], "the last message must be the user's question"),
        ([("human", "Rate?"), ("ai", "9 %.")], "the last message must be the user's question"),
        ([HumanMessage("")], "Query cannot be empty"),
        ([HumanMessage([{"type": "text", "text": "Rate?"}, IMAGE])], "only text is supported; leave out images"),
    ],
)
def test_a_conversation_without_a_question_or_with_an_image_is_refused(messages, told):
    with pytest.raises(QuestionError, match=told):
        graph().invoke({"messages": messages})


PUBLIC = Document("The rate of GST is 9 %.", metadata={"title": "GST Guide", "audience": "public", "score": 0.8})
SECRET = Document(
    "The rate of GST in our margin is 3 %.", metadata={"title": "Margins", "audience": "internal", "score": 0.9}
)
RATE = "What is the rate of GST?"


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
    return create_agent(noting(AIMessage("", tool_calls=[call("ask")]), AIMessage("Done.")), [tool])


def graph_answer(context: Any, config: Any = None, **options: Any) -> Any:
    state = chains.build_graph(chain(), **options).invoke({"messages": [("human", RATE)]}, config, context=context)
    return state["cited_answer"]


def titles(answer: Any) -> set[str]:
    return {document["metadata"]["title"] for document in answer["documents"]}


@pytest.mark.parametrize(
    "context", [{"audience": "public"}, Fields("public"), Model(), {"audience": "public", "user": 1}]
)
async def test_the_audience_of_the_context_holds_in_agents_and_graphs(context):
    question: Any = {"messages": [("human", RATE)]}
    states = [agent().invoke(question, context=context), await agent().ainvoke(question, context=context)]
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
    state = agent(audience="public").invoke({"messages": [("human", RATE)]})
    [answer] = [message.artifact for message in state["messages"] if message.type == "tool"]
    assert titles(answer) == {"GST Guide"}


def test_a_graph_around_the_chain_hands_its_context_on():
    seen: list[set[str]] = []
    outer: Any = StateGraph(MessagesState)
    outer.add_node("answer", lambda _: seen.append(titles(chain().invoke({"question": RATE}))))
    outer.add_edge(START, "answer")
    outer.compile().invoke({"messages": [("human", RATE)]}, context={"audience": "public"})

    assert seen == [{"GST Guide"}]
