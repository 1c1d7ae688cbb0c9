"""The chain as a tool of an agent: `create_agent` of LangChain, the real ChatGroq, a Groq on loopback."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import UsageMetadataCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessageChunk, ToolMessage
from langchain_core.runnables import ensure_config
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_groq import ChatGroq
from pydantic import SecretStr

import chains
from tests.chains.gst import DOCUMENT, Shelf
from tests.fakes import FakeGroq, Reply
from tests.streams import asked, streamed

INNER = "It is 9% [GST Guide > Rate]."
OUTER = "The rate is 9% [1], says the GST Guide."
ASKED: Any = {"messages": [{"role": "user", "content": "What is the rate of GST?"}]}
INTERNAL = Document("The secret rate is 7%.", metadata={"title": "Memo", "audience": "internal"})


def script(groq: FakeGroq) -> None:
    """Let the outer model call the tool, the inner one answer, and the outer one answer with that."""
    groq.replies = [
        Reply(tool_call=("ask_documents", {"question": "What is the rate of GST?"})),
        Reply(INNER),
        Reply(OUTER),
    ]


class Noticing(Shelf):
    """Notes the config of each search."""

    seen: list[Any] = []

    def invoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
        self.seen.append(ensure_config(config))
        return super().invoke(input, config, **kwargs)

    async def ainvoke(self, input: str, config: Any = None, **kwargs: Any) -> list[Document]:
        self.seen.append(ensure_config(config))
        return await super().ainvoke(input, config, **kwargs)


def agent_over(groq: FakeGroq, retriever: Shelf | None = None) -> Any:
    def model(name: str) -> ChatGroq:
        return ChatGroq(model_name=name, api_key=SecretStr("gsk_test"), base_url=groq.url, max_retries=0)

    public = DOCUMENT.model_copy(update={"metadata": DOCUMENT.metadata | {"audience": "public"}})
    shelf = retriever or Noticing(documents=[public, INTERNAL], seen=[])
    chain = chains.build_chain(retriever=shelf, model=model("inner"))
    return create_agent(model("outer"), tools=[chains.as_tool(chain)])


both = pytest.mark.parametrize("way", ["invoke", "ainvoke"])


@both
async def test_the_agent_calls_the_tool_and_answers_with_its_citations(groq, way):
    script(groq)
    messages = (await asked(agent_over(groq), way, ASKED))["messages"]

    [called] = [message for message in messages if isinstance(message, ToolMessage)]
    assert str(called.content).startswith("It is 9% [1].\n\nSources:\n[1] GST Guide > Rate\n\nConfidence: ")
    assert called.artifact["citations"][0]["doc_id"] == "gst"
    assert messages[-1].content == OUTER
    assert groq.requests[2]["messages"][-1]["content"] == called.content


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_the_words_of_the_inner_chain_stream_out_of_the_agent(groq, way):
    script(groq)
    parts = [part async for part in streamed(agent_over(groq), way, ASKED, stream_mode="messages")]

    words = [
        message.content
        for message, metadata in parts
        if isinstance(message, AIMessageChunk) and metadata["ls_model_name"] == "inner" and message.content
    ]
    assert len(words) > 3
    assert "".join(map(str, words)) == INNER


@both
async def test_audience_and_metadata_of_the_callers_config_hold_inside(groq, way):
    script(groq)
    shelf = Noticing(documents=[DOCUMENT, INTERNAL], seen=[])
    config = {"configurable": {"audience": "public"}, "metadata": {"tenant": "acme"}, "tags": ["desk"]}
    messages = (await asked(agent_over(groq, shelf), way, ASKED, config))["messages"]

    [seen] = shelf.seen
    assert seen["configurable"]["audience"] == "public"
    assert seen["metadata"]["tenant"] == "acme"
    [called] = [message for message in messages if isinstance(message, ToolMessage)]
    assert called.artifact["outcome"] == "no_results"  # Neither document says that it is public.


@both
async def test_the_run_of_the_chain_stands_below_the_agents_and_its_tokens_are_counted(groq, way):
    script(groq)
    runs, usage = RunCollectorCallbackHandler(), UsageMetadataCallbackHandler()
    await asked(agent_over(groq), way, ASKED, {"callbacks": [runs, usage]})

    [root] = runs.traced_runs
    names = _names(root)
    assert names.index("ask_documents") < names.index("cited_answer") < names.index("retrieval")
    assert set(usage.usage_metadata) == {"inner", "outer"}


def _names(run: Any) -> list[str]:
    return [run.name, *(name for child in run.child_runs for name in _names(child))]
