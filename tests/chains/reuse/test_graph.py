"""The chain as a graph of LangGraph, with a real checkpointer."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.messages.ai import add_ai_message_chunks
from langgraph.checkpoint.memory import InMemorySaver

from chains import build_graph
from chains.errors import QuestionError
from tests.chains.gst import ANSWER, QUESTION, Shelf, gst_chain, lasting
from tests.chains.reuse.test_agent_citations import GST

IMAGE: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
ASKED: Any = {"messages": [("human", "Rate?")]}


def graph(answer: str = ANSWER, **options: Any) -> Any:
    return build_graph(gst_chain(answer, retriever=Shelf(documents=[GST])), **options)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_the_reply_is_a_message_with_citations(way):
    state = graph().invoke(ASKED) if way == "invoke" else await graph().ainvoke(ASKED)

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
    asked: list[Any] = []

    def search(query: str) -> Any:
        asked.append(query)
        return [GST]

    kept = build_graph(gst_chain(retriever=search), checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    kept.invoke({"messages": [("human", "What is the rate of GST?")]}, thread)
    state = kept.invoke({"messages": [("human", "And since when?")]}, thread)

    assert len(state["messages"]) == 4
    assert "GST" in asked[-1]


TWO = "The rate of GST is 9% [1]. It is paid on imports at the rate of 9% [1]. "


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_checked_sentences_stream_with_their_citations(way):
    modes: Any = {"stream_mode": ["messages", "values"]}
    if way == "stream":
        parts = list(graph(TWO).stream(ASKED, **modes))
    else:
        parts = [part async for part in graph(TWO).astream(ASKED, **modes)]
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
