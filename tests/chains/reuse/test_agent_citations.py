"""Citations of an agent's final message: real agents and graphs of LangChain, models that say what they are told."""

import sys
import threading
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_model_call
from langchain.agents.structured_output import ToolStrategy
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.prompts import PromptTemplate
from langchain_core.tools import create_retriever_tool, tool
from langchain_groq import ChatGroq
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel, SecretStr

import chains
from app.wings.mcp.server import AnswerSource, AskOutput, FoundPassage, SearchOutput
from chains import CitationMiddleware
from tests.chains.gst import Shelf, gst_chain, noting
from tests.fakes import MODEL, Reply, fake_groq
from tests.streams import asked, streamed

GST = Document(
    "The rate of GST is 9%.",
    metadata={
        "title": "GST Guide",
        "section": "Rate",
        "doc_id": "gst",
        "page": 3,
        "score": 0.8,
        "source_urls": ["https://example.org/gst"],
    },
)
FEES = Document(
    "The fee for a permit is 2.88 dollars.",
    metadata={"title": "Fees", "section": "Permits", "doc_id": "fees", "score": 0.8},
)


def call(name: str, number: int = 1) -> Any:
    return {
        "name": name,
        "args": {"question": "What is the rate of GST and the fee for a permit?"},
        "id": str(number),
        "type": "tool_call",
    }


def tools() -> list[Any]:
    return [
        chains.as_tool(
            gst_chain("The rate of GST is 9% [GST Guide > Rate].", retriever=Shelf(documents=[GST])), name="ask_customs"
        ),
        chains.as_tool(
            gst_chain("The fee for a permit is 2.88 dollars [Fees > Permits].", retriever=Shelf(documents=[FEES])),
            name="ask_desk",
        ),
    ]


def agent(*replies: AIMessage, **options: Any) -> Any:
    return create_agent(noting(*replies), **{"tools": tools(), "middleware": [CitationMiddleware()]} | options)


def calling(*names: str) -> AIMessage:
    return AIMessage("", tool_calls=[call(name, number) for number, name in enumerate(names, start=1)])


def cited(message: AIMessage) -> list[tuple[Any, ...]]:
    """Return marker, title, words of the source and support of each citation."""
    [block] = message.content_blocks
    annotations: Any = block.get("annotations", [])
    return [
        (
            str(message.text)[one["start_index"] : one["end_index"]],
            one.get("title"),
            one.get("cited_text"),
            one["extras"]["verified"],
        )
        for one in annotations
    ]


ASKED: Any = {"messages": [("human", "Which rate and which fee?")]}
BOTH = AIMessage("The rate of GST is 9% [1]. The fee for a permit is 2.88 dollars [2].")
RESOLVED = [("[1]", "GST Guide", GST.page_content, True), ("[2]", "Fees", FEES.page_content, True)]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_the_numbers_of_parallel_calls_of_two_tools_never_meet(way):
    state = await asked(agent(calling("ask_customs", "ask_desk"), BOTH), way, ASKED)

    first, second = (str(message.content) for message in state["messages"] if message.type == "tool")
    assert first.startswith("The rate of GST is 9% [1].\n\nSources:\n[1] GST Guide > Rate, page 3")
    assert second.startswith("The fee for a permit is 2.88 dollars [2].\n\nSources:\n[2] Fees > Permits")
    assert cited(state["messages"][-1]) == RESOLVED


def test_a_citation_carries_document_page_and_link():
    state = agent(calling("ask_customs"), AIMessage("GST is 9% [1].")).invoke(ASKED)

    [citation] = state["messages"][-1].content_blocks[0]["annotations"]
    extras = citation.pop("extras")
    assert citation == {
        "type": "citation",
        "title": "GST Guide",
        "url": "https://example.org/gst",
        "cited_text": "GST is 9%.",
        "start_index": 10,
        "end_index": 13,
    }
    assert {**extras, "support": 1} == {
        "number": 1,
        "section": "Rate",
        "page": 3,
        "doc_id": "gst",
        "support": 1,
        "contradicted": False,
        "verified": True,
    }


def test_what_the_agent_itself_gets_wrong_is_not_verified():
    state = agent(calling("ask_customs"), AIMessage("The rate of GST is 12% [1]. It floats [7]. `a[1]`")).invoke(ASKED)

    assert [(marker, title, verified) for marker, title, _, verified in cited(state["messages"][-1])] == [
        ("[1]", "GST Guide", False),
        ("[7]", "", False),
    ]
    assert state["messages"][-1].content_blocks[0]["annotations"][0]["extras"]["contradicted"]


def test_numbers_go_on_over_a_thread_and_the_model_gets_plain_text_back():
    model = noting(calling("ask_customs"), AIMessage("GST is 9% [1]."), calling("ask_desk"), BOTH)
    found: Any = create_agent(model, tools=tools(), middleware=[CitationMiddleware()], checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    found.invoke(ASKED, thread)
    state = found.invoke({"messages": [("human", "And the fee?")]}, thread)

    assert cited(state["messages"][-1]) == RESOLVED
    assert [source["title"] for source in state["cited_sources"]] == ["GST Guide", "Fees"]
    assert [message.content for message in model.asked[-1] if message.type == "ai" and message.text] == [
        "GST is 9% [1]."
    ]


def test_a_supervisor_counts_on_what_its_sub_agents_cite():
    customs = agent(calling("ask_customs"), AIMessage("The rate of GST is 9% [1]."))
    desk = agent(calling("ask_desk"), AIMessage("The fee for a permit is 2.88 dollars [1]."))

    @tool
    def customs_agent(question: str) -> Any:
        """Ask the customs agent."""
        return customs.invoke({"messages": [("human", question)]})["messages"][-1].content

    @tool
    def desk_agent(question: str) -> Any:
        """Ask the desk agent."""
        return desk.invoke({"messages": [("human", question)]})["messages"][-1].content

    supervisor: Any = agent(calling("customs_agent", "desk_agent"), BOTH, tools=[customs_agent, desk_agent])
    state = supervisor.invoke(ASKED)

    assert cited(state["messages"][-1]) == RESOLVED


def test_what_a_sub_agents_provider_cites_has_no_number_and_stays_as_it_is():
    said = {"type": "text", "text": "Rates rose.", "annotations": [{"type": "citation", "title": "A web page"}]}

    @tool
    def web_agent(question: str) -> Any:
        """Search the web."""
        return [said]

    state = agent(calling("web_agent"), AIMessage("Rates rose."), tools=[web_agent]).invoke(ASKED)

    assert [message.content for message in state["messages"] if message.type == "tool"] == [[said]]


def test_without_langchain_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name == "langchain" or name.startswith("langchain.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "langchain", None)
    monkeypatch.delitem(sys.modules, "chains.reuse.agents")

    with pytest.raises(ImportError, match="CitationMiddleware needs langchain: run `pip install"):
        _ = chains.CitationMiddleware


def retriever_tool(documents: list[Document], **options: Any) -> Any:
    return create_retriever_tool(
        Shelf(documents=documents), "ask_customs", "Search.", response_format="content_and_artifact", **options
    )


def searching(name: str = "ask_customs") -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": {"query": "rate"}, "id": "1", "type": "tool_call"}])


@pytest.mark.parametrize("prompt", [None, PromptTemplate.from_template("Found: {page_content} (in {title})")])
def test_the_documents_of_a_retriever_tool_are_numbered_and_counted(prompt):
    tool = retriever_tool([GST, FEES], document_prompt=prompt)
    state = agent(searching(), BOTH, tools=[tool]).invoke(ASKED)

    [message] = [message for message in state["messages"] if message.type == "tool"]
    assert "[1] GST Guide > Rate\nThe rate of GST is 9%." in message.content
    assert ("Found: [1]" in message.content) is (prompt is not None)
    assert cited(state["messages"][-1]) == RESOLVED


def test_documents_without_titles_are_told_apart_and_a_false_sentence_is_not_verified():
    bare = [Document("The rate of GST is 9%."), Document("The fee for a permit is 2.88 dollars.")]
    said = AIMessage("The rate of GST is 12% [1]. The fee for a permit is 2.88 dollars [2].")
    state = agent(searching(), said, tools=[retriever_tool(bare)]).invoke(ASKED)

    assert [verified for *_, verified in cited(state["messages"][-1])] == [False, True]


SOURCE = AnswerSource(
    number=4, title="GST Guide", section="Rate", page=3, doc_id="gst", url=None, quote=GST.page_content, resource=None
)
ANSWERED = (
    "The rate of GST is 9% [4].\n\nSources:\n[4] GST Guide > Rate",
    AskOutput(
        answer="The rate of GST is 9% [4].",
        outcome="answered",
        sources=[SOURCE],
        closest=[],
        unsupported=[],
        confidence="high",
        confidence_score=0.9,
        trace_id=None,
    ),
)
FOUND = (
    "[gst#0] GST Guide > Rate\nThe rate of GST is 9%.",
    SearchOutput(
        passages=[
            FoundPassage(
                id="gst#0",
                doc_id="gst",
                title="GST Guide",
                section="Rate",
                page=3,
                text=GST.page_content,
                url=None,
                score=0.8,
                resource=None,
            )
        ]
    ),
)


@pytest.mark.parametrize(("content", "structured"), [ANSWERED, FOUND])
def test_the_answers_and_passages_of_an_mcp_server_count(content, structured):
    @tool(response_format="content_and_artifact")
    def ask_customs(query: str) -> Any:
        """Ask, as langchain-mcp-adapters does."""
        return [{"type": "text", "text": content}], {"structured_content": structured.model_dump()}

    state = agent(searching(), AIMessage("The rate of GST is 9% [1]."), tools=[ask_customs]).invoke(ASKED)
    [message] = [message for message in state["messages"] if message.type == "tool"]

    assert "[1] GST Guide > Rate" in message.content
    assert cited(state["messages"][-1]) == RESOLVED[:1]


@pytest.mark.parametrize("artifact", [None, [], {}, [1], {"answer": "x", "sources": [1]}, {"passages": ["x"]}])
def test_where_no_tool_has_cited_anything_nothing_is_annotated(artifact):
    @tool(response_format="content_and_artifact")
    def ask_customs(query: str) -> Any:
        """Ask what cites nothing."""
        return "Use arr[1].", artifact

    state = agent(searching(), AIMessage("Use arr[1]."), tools=[ask_customs]).invoke(ASKED)
    assert state["messages"][-1].content == "Use arr[1]."


class Rates(BaseModel):
    """What the agent answers with."""

    summary: str
    items: list[dict[str, str]]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_structured_response_keeps_its_citations(way):
    response = {"summary": "The rate of GST is 12% [1].", "items": [{"rate": "The rate of GST is 9% [1]."}]}
    made = AIMessage("", tool_calls=[{"name": "Rates", "args": response, "id": "2", "type": "tool_call"}])
    state = await asked(agent(calling("ask_customs"), made, response_format=ToolStrategy(Rates)), way, ASKED)

    assert state["structured_response"] == Rates(**response)
    assert [
        (one["extras"]["field"], one["title"], one["extras"]["verified"]) for one in state["structured_citations"]
    ] == [("summary", "GST Guide", False), ("items[0].rate", "GST Guide", True)]


def test_reasoning_and_the_citations_of_the_provider_are_kept():
    theirs = {"type": "citation", "title": "Elsewhere", "cited_text": "9%", "url": "https://example.org/other"}
    blocks: Any = [
        {"type": "reasoning", "reasoning": "It asks for the rate."},
        {"type": "text", "text": "Wait. ", "annotations": [theirs]},
        {"type": "text", "text": "The rate of GST is 9% [1]."},
    ]
    said = AIMessage(blocks, response_metadata={"output_version": "v1"})
    state = agent(calling("ask_customs"), said).invoke(ASKED)

    reasoning, first, second = state["messages"][-1].content_blocks
    assert (reasoning, first) == (blocks[0], blocks[1])
    [ours] = second["annotations"]
    assert second["text"][ours["start_index"] : ours["end_index"]] == "[1]"
    assert (ours["title"], ours["extras"]["verified"]) == ("GST Guide", True)


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_the_citations_of_a_sentence_come_in_the_mode_custom_before_the_last_word(way):
    said = "The rate of GST is 9% [1]. The fee for a permit is 12 dollars [2]. And that is all that there is to say."
    release, custom, words, before = threading.Event(), list[Any](), "", ""
    with fake_groq() as groq:
        groq.replies = [Reply(tool_call=("ask_customs", {"question": "Rate?"})), Reply(said, release=release)]
        model = ChatGroq(model_name=MODEL, api_key=SecretStr("gsk_test"), base_url=groq.url, max_retries=0)
        asking = create_agent(model, tools=tools()[:1], middleware=[CitationMiddleware()])
        async for mode, part in streamed(asking, way, ASKED, stream_mode=["messages", "custom", "values"]):
            if mode == "messages" and part[1]["langgraph_node"] == "model":
                words += str(part[0].text)
            elif mode == "custom":
                custom.append(part)
                before = before or words
                release.set()
            elif mode == "values":
                final = part["messages"][-1]

    assert said.startswith(before.strip())
    assert not before.endswith("say.")
    assert {one["message_id"] for one in custom} == {final.id}
    assert [one for told in custom for one in told["citations"]] == final.content_blocks[0]["annotations"]
    assert [one["extras"]["verified"] for told in custom for one in told["citations"]] == [True, False]


def test_a_model_that_does_not_stream_shows_its_citations_at_once():
    asking = agent(calling("ask_customs", "ask_desk"), BOTH)
    [told] = asking.stream(ASKED, stream_mode="custom")

    assert [one["extras"]["verified"] for one in told["citations"]] == [True, True]


def test_a_model_that_another_middleware_calls_again_shows_its_citations_again():
    @wrap_model_call
    def twice(request: Any, handler: Any) -> Any:
        handler(request)
        return handler(request)

    calls = calling("ask_customs", "ask_desk")
    asking = agent(calls, calls, BOTH, BOTH, middleware=[CitationMiddleware(), twice])
    first, second = asking.stream(ASKED, stream_mode="custom")

    assert first["citations"] == second["citations"]
    assert len(first["citations"]) == 2
