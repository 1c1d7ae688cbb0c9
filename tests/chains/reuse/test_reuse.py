"""The chain inside what others build: branches, parallels, graphs, counters of tokens, traced functions."""

from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableBranch, RunnableLambda, RunnableParallel
from langgraph.graph import END, START, StateGraph
from langsmith import Client, traceable, tracing_context
from typing_extensions import TypedDict

import chains
from tests.chains.gst import ANSWER, QUESTION, Shelf, gst_chain
from tests.chains.test_composition import called, every_way
from tests.langsmith_stub import backend

OTHER = Document("A Form D needs 40 %.", metadata={"title": "Certificates", "section": "Form D", "score": 0.9})
OTHER_ANSWER = "It needs 40 % [Certificates > Form D]."


def form_chain() -> Any:
    return gst_chain(OTHER_ANSWER, retriever=Shelf(documents=[OTHER]))


@every_way
async def test_two_chains_over_different_corpora_answer_side_by_side(way):
    both: Any = RunnableParallel(gst=gst_chain(), form=form_chain())
    if way in {"stream", "astream"}:
        both = both | RunnableLambda(dict)
    told = await called(both, way, question={"question": "What is the rate, by Form D?"})

    assert [told["gst"]["answer"], told["form"]["answer"]] == [ANSWER, OTHER_ANSWER]
    assert [told["gst"]["documents"][0]["metadata"]["title"], told["form"]["documents"][0]["metadata"]["title"]] == [
        "GST Guide",
        "Certificates",
    ]
    for answer in told.values():
        assert tuple(answer["metadata"]["timings_ms"]) == chains.STAGES


@every_way
async def test_a_branch_chooses_a_chain_and_its_stream_comes_through(way):
    branch = RunnableBranch((lambda asked: "form" in asked["question"].lower(), form_chain()), gst_chain())

    assert (await called(branch, way))["answer"] == ANSWER
    assert (await called(branch, way, question={"question": "Form D?"}))["answer"] == OTHER_ANSWER


class State(TypedDict, total=False):
    question: str
    answer: str
    outcome: str
    citations: list[Any]


def graph_of(node: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("ask", node)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    return graph.compile()


def as_function() -> Any:
    chain = gst_chain()

    def ask(state: Any) -> Any:
        return {"answer": chain.invoke(state)["answer"]}

    async def aask(state: Any) -> Any:
        return {"answer": (await chain.ainvoke(state))["answer"]}

    return RunnableLambda(ask, aask)


def as_object() -> Any:
    return gst_chain()


nodes = pytest.mark.parametrize("node", [as_function, as_object])


@nodes
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_node_of_a_graph_writes_the_answer_into_its_state(node, way):
    state = await called(graph_of(node()), way)

    assert state["answer"] == ANSWER
    assert node is as_function or (state["outcome"], state["citations"][0]["doc_id"]) == ("answered", "gst")


@nodes
async def test_the_words_of_a_node_stream_out_of_the_graph(node):
    graph = graph_of(node())
    parts = list(graph.stream(QUESTION, stream_mode="messages"))
    aparts = [part async for part in graph.astream(QUESTION, stream_mode="messages")]

    for told in (parts, aparts):
        words = [message.content for message, _ in told if isinstance(message, AIMessageChunk)]
        assert "".join(map(str, words)) == ANSWER
        assert len(words) > 3


@every_way
async def test_the_tokens_of_a_call_are_counted_for_its_caller(way):
    chain = gst_chain(model=Counting())
    with get_usage_metadata_callback() as counted:
        await called(chain, way)

    assert counted.usage_metadata["m"]["total_tokens"] == 7


class Counting(BaseChatModel):
    """Tells what it used; it does not stream."""

    @property
    def _llm_type(self) -> str:
        return "counting"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        usage: Any = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
        message = AIMessage(ANSWER, usage_metadata=usage, response_metadata={"model_name": "m"})
        return ChatResult(generations=[ChatGeneration(message=message)])


def traced_function(chain: Any, way: str) -> Any:
    @traceable(name="my_function")
    def function(question: Any) -> Any:
        return chain.invoke(question) if way == "invoke" else reduce(add, chain.stream(question))

    return function


@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_in_a_traceable_function_the_chain_is_a_part_of_its_trace(way):
    with backend() as stub:
        client = Client(api_url=stub.url, api_key="x")
        with tracing_context(enabled=True, client=client):
            traced_function(gst_chain(), way)(QUESTION)
        client.flush()
        names = {run["name"]: run for run in stub.runs.values()}
        client.close()

    assert names["cited_answer"]["parent_run_id"] == names["my_function"]["id"]
    assert names["retrieval"]["trace_id"] == names["my_function"]["id"]
