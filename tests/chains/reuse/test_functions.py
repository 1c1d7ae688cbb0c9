"""The public names on plain values, the chain inside what others build, and a user's program under pyright."""

import json
import subprocess
import sys
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableBranch, RunnableLambda, RunnableParallel
from langgraph.graph import END, START, StateGraph
from langsmith import Client, traceable, tracing_context
from typing_extensions import TypedDict

import chains
from tests.chains.citations.desk import SHOWN
from tests.chains.gst import ANSWER, QUESTION, Shelf, gst_chain
from tests.langsmith_stub import backend
from tests.streams import asked, every_way

CITED = "Import GST is 9 % [GST Guide > Import GST]. It floats [Nothing > Here]. It is due [GST Guide > Import GST]."


def test_every_public_name_is_there():
    for name in chains.__all__:
        assert getattr(chains, name) is not None


def test_a_context_may_be_text_alone():
    asked = chains.generate(RunnableLambda(lambda prompt: AIMessage(prompt.to_string())))
    state: Any = {"question": "What is the rate?", "context": "The rate of GST is 9 %."}
    without: Any = {"question": "?", "context": ""}

    assert "The rate of GST is 9 %." in asked.invoke(state).text
    assert chains.generate(FakeListChatModel(responses=["9 %"])).invoke(without).text != "9 %"


def test_documents_are_taken_as_passages_are():
    documents = [
        Document(one["content"], metadata=one["metadata"] | ({} if one["score"] is None else {"score": one["score"]}))
        for one in SHOWN
    ]

    assert chains.format_context(documents) == chains.format_context(SHOWN)
    assert chains.citation_metadata(documents) == chains.citation_metadata(SHOWN)
    assert chains.extract_citations("It is 9 % [GST Guide].", documents)[0]["title"] == "GST Guide"
    assert chains.process_citations(CITED, documents) == chains.process_citations(CITED, SHOWN)


def test_an_invented_title_alone_is_no_citation_and_with_a_section_it_is_unmatched():
    stats = [chains.process_citations(text, SHOWN)["stats"] for text in ("So [Invented].", "So [Invented > Rate].")]

    assert stats == [{"total": 0, "matched": 0, "unmatched": 0}, {"total": 1, "matched": 0, "unmatched": 1}]


def test_markers_are_found_with_their_places():
    found = chains.extract_citations(CITED)

    assert [(one["title"], one["section"], CITED[one["start"] : one["end"]]) for one in found] == [
        ("GST Guide", "Import GST", "[GST Guide > Import GST]"),
        ("Nothing", "Here", "[Nothing > Here]"),
        ("GST Guide", "Import GST", "[GST Guide > Import GST]"),
    ]


def test_with_passages_a_bare_title_and_a_number_are_markers_too():
    found = chains.extract_citations("It is 9 % [GST Guide]. A Form D proves it [2].", SHOWN)

    assert [one["raw"] for one in found] == ["[GST Guide]", "[2]"]


def test_citations_are_matched_counted_and_listed():
    processed = chains.process_citations(CITED, SHOWN)

    assert processed["stats"] == {"total": 3, "matched": 2, "unmatched": 1}
    assert processed["markdown"] == "1. [GST Guide > Import GST](https://example.org/a,b)"
    assert [source["url"] for source in processed["sources"]] == ["https://example.org/a,b"]
    assert processed["citations"][0]["quote"] in SHOWN[0]["content"]


def test_two_sections_of_a_title_are_two_citations_and_the_same_one_is_one():
    citations = chains.process_citations(CITED, SHOWN)["citations"]

    assert [(one["title"], one["section"]) for one in chains.deduplicate_citations(citations)] == [
        ("GST Guide", "Import GST"),
        ("Nothing", "Here"),
    ]


def test_confidence_needs_documents_citations_and_outcome_alone():
    citations = chains.process_citations(CITED, SHOWN)["citations"]
    state: Any = {"documents": SHOWN, "citations": citations, "outcome": "answered"}
    rated = chains.score_confidence(state)

    assert (rated["level"], rated["score"]) == ("High", 0.5)


OTHER = Document("A Form D needs 40 %.", metadata={"title": "Certificates", "section": "Form D", "score": 0.9})
OTHER_ANSWER = "It needs 40 % [Certificates > Form D]."


def form_chain() -> Any:
    return gst_chain(OTHER_ANSWER, retriever=Shelf(documents=[OTHER]))


@every_way
async def test_two_chains_over_different_corpora_answer_side_by_side(way):
    both: Any = RunnableParallel(gst=gst_chain(), form=form_chain())
    if way in {"stream", "astream"}:
        both = both | RunnableLambda(dict)
    told = await asked(both, way, {"question": "What is the rate, by Form D?"})

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

    assert (await asked(branch, way))["answer"] == ANSWER
    assert (await asked(branch, way, {"question": "Form D?"}))["answer"] == OTHER_ANSWER


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


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_node_of_a_graph_writes_the_answer_into_its_state(way):
    state = await asked(graph_of(gst_chain()), way)

    assert (state["answer"], state["outcome"], state["citations"][0]["doc_id"]) == (ANSWER, "answered", "gst")


async def test_the_words_of_a_node_stream_out_of_the_graph():
    graph = graph_of(gst_chain())
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
        await asked(chain, way)

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


PROGRAM = Path(__file__).with_name("user_program.py")


def test_pyright_finds_no_error_in_a_user_s_program(tmp_path):
    settings = {"typeCheckingMode": "strict", "include": [str(PROGRAM)], "extraPaths": [str(PROGRAM.parents[3])]}
    project = tmp_path / "pyrightconfig.json"
    project.write_text(json.dumps(settings))
    checker = [Path(sys.executable).with_name("basedpyright"), "--project", project, "--pythonpath", sys.executable]
    done = subprocess.run([*checker, "--outputjson"], capture_output=True, text=True, check=False)

    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == 1
    assert [one["message"] for one in found["generalDiagnostics"] if one["severity"] == "error"] == []
