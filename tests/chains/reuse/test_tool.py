import re
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

import chains
import prompts
from chains.errors import (
    ConfigurationError,
    LLMRateLimitError,
    LLMUnavailableError,
    QuestionError,
    SafetyCheckError,
    WaypointError,
)
from chains.metadata import UNSURE
from chains.reuse.tool import NOTES, content_of, numbered_text
from tests.chains.citations.desk import SHOWN, read
from tests.chains.gst import ANSWER, Shelf, gst_chain, noting

CALL = {"name": "ask_documents", "args": {"question": "Rate?"}, "id": "1", "type": "tool_call"}


async def told(tool: Any, way: str, call: Any = CALL) -> ToolMessage:
    message = tool.invoke(call) if way == "invoke" else await tool.ainvoke(call)
    assert isinstance(message, ToolMessage)
    return message


both = pytest.mark.parametrize("way", ["invoke", "ainvoke"])


@both
async def test_the_model_reads_the_cited_answer_and_the_program_gets_the_answer_object(way):
    message = await told(chains.as_tool(gst_chain()), way)

    assert message.content == (
        "It is 9% [1].\n\nSources:\n[1] GST Guide > Rate\n\nConfidence: Low (0.80). Only 1 source found"
    )
    assert message.artifact["answer"] == ANSWER
    assert set(message.artifact) == chains.Answer.__required_keys__
    assert message.status == "success"


def test_only_the_question_is_required_of_a_model():
    described: Any = chains.as_tool(gst_chain()).tool_call_schema
    schema = described.model_json_schema()

    assert schema["required"] == ["question"]
    assert set(schema["properties"]) == {"question", "history", "filters"}


@both
async def test_the_history_reaches_the_model(way):
    model = noting("9% [GST Guide > Rate].")
    history = [{"role": "user", "content": "What is GST?"}, {"role": "assistant", "content": "A tax."}]
    await told(
        chains.as_tool(gst_chain(model=model)), way, CALL | {"args": {"question": "Its rate?", "history": history}}
    )

    assert [(message.type, message.content) for message in model.asked[0][1:]] == [
        ("human", "What is GST?"),
        ("ai", "A tax."),
        ("human", f"Its rate?\n\n{prompts.load('reminder')}"),
    ]


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (QuestionError("Query cannot be empty"), "Query cannot be empty. Call this tool again"),
        (SafetyCheckError("x"), "do not repeat it"),
        (LLMRateLimitError("x"), "Call this tool once more"),
        (LLMUnavailableError("x"), "Call this tool once more"),
        (ConfigurationError("secret path"), "Do not call this tool again"),
        (ConnectionError("secret host"), "Call this tool once more"),
    ],
)
@both
async def test_an_error_is_a_message_that_says_what_to_do(error, advice, way):
    def fail(question: Any) -> Any:
        raise error

    message = await told(chains.as_tool(RunnableLambda(fail)), way)

    assert message.status == "error"
    assert advice in message.content
    assert "secret" not in message.content


@both
async def test_an_error_that_is_not_to_be_handled_is_raised(way):
    def fail(question: Any) -> Any:
        raise KeyError

    with pytest.raises(KeyError):
        await told(chains.as_tool(RunnableLambda(fail), exceptions_to_handle=(WaypointError,)), way)


class Asking(Shelf):
    """A retriever that asks a person first."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return self.documents if interrupt("May I?") == "yes" else []


def test_a_step_inside_the_chain_can_interrupt_the_graph_around_the_tool():
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([chains.as_tool(gst_chain(retriever=Asking()))]))
    graph.add_edge(START, "tools")
    compiled: Any = graph.compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}

    paused = compiled.invoke({"messages": [AIMessage("", tool_calls=[CALL])]}, thread)
    done = compiled.invoke(Command(resume="yes"), thread)

    assert [one.value for one in paused["__interrupt__"]] == ["May I?"]
    assert done["messages"][-1].content.startswith("It is 9% [1].")


class Recovering(Shelf):
    """A retriever that can be reached the second time."""

    failed: list[str] = []

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        if not self.failed:
            self.failed.append(query)
            raise ConnectionError
        return self.documents


def test_a_middleware_can_call_the_tool_once_more():
    tool = chains.as_tool(gst_chain(retriever=Recovering(failed=[])), exceptions_to_handle=())
    calling = noting(AIMessage("", tool_calls=[CALL]), AIMessage("It is 9 %."))
    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False)
    agent: Any = create_agent(calling, tools=[tool], middleware=[retry])

    messages = agent.invoke({"messages": [("human", "Rate?")]})["messages"]

    assert messages[-2].content.startswith("It is 9% [1].")


@pytest.mark.parametrize("arguments", [{}, {"question": ["Rate?"]}, {"question": "Rate?", "history": "GST"}])
@both
async def test_arguments_that_do_not_fit_are_explained_to_the_model(arguments, way):
    message = await told(chains.as_tool(gst_chain()), way, CALL | {"args": arguments})

    assert message.status == "error"
    assert re.match(r"(question|history) cannot be read\. Call this tool again with", str(message.content))


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("It is 9% [GST Guide > Rate].", "It is 9% [1]."),
        (
            "The rate of GST is 9% [GST Guide > Rate]. Elephants are large [GST Guide > Rate].",
            "The rate of GST is 9% [1]. Elephants are large [1, unsupported].",
        ),
        (
            "The rate of GST is 9% [GST Guide > Rate]. The rate of GST is 7% [GST Guide > Rate].",
            "The rate of GST is 7% [contradicted by its source].",
        ),
    ],
)
def test_a_marker_says_that_its_source_does_not_bear_the_sentence(answer, shown):
    assert shown in chains.as_tool(gst_chain(answer)).invoke({"question": "What is the rate of GST?"})


def test_a_source_without_a_marker_is_named_too():
    content = chains.as_tool(gst_chain("The rate of GST is 9%.")).invoke({"question": "What is the rate of GST?"})

    assert "Sources:\n- GST Guide > Rate" in content


def test_a_pair_in_one_bracket_keeps_its_form_and_an_invented_title_is_called_unverified():
    answer = (
        "Import GST is 9 % [GST Guide > Import GST; Certificates of Origin > Form D]. "
        "It floats [Nothing > Here]. Relief is S$400 by air [GST Guide > Import GST]."
    )
    citations = read(answer, SHOWN, min_citations=0)["citations"]

    assert numbered_text(answer, citations) == (
        "Import GST is 9 % [1; 2]. It floats [unverified]. Relief is S$400 by air [1]."
    )


@pytest.mark.parametrize(
    ("options", "outcome"),
    [({"retriever": Shelf(documents=[])}, "no_results"), ({"answer": "Elephants fly."}, "ungrounded")],
)
def test_what_the_documents_do_not_hold_the_model_is_told_not_to_make_up(options, outcome):
    answer = gst_chain(**options).invoke({"question": "Rate?"})

    assert answer["outcome"] == outcome
    assert content_of(answer).endswith(f"Note: {NOTES[outcome]}")


def test_a_model_reads_the_closest_passages_of_a_question_that_is_not_answered():
    read_by_model = content_of(gst_chain("Elephants fly.").invoke({"question": "Rate?"}))

    assert "Closest passages:\n- GST Guide > Rate\n\n  The rate of GST is 9%.\n\nNote: " in read_by_model


def test_a_model_reads_an_unsure_answer_with_its_source_and_that_it_is_unsure():
    text = f"{prompts.load('unsure')}\n\nThe rate of GST is 9%. [GST Guide > Rate]"
    message = AIMessage(text, response_metadata={UNSURE: True})
    answer = gst_chain(message).invoke({"question": "Rate?"})
    read_by_model = content_of(answer)

    assert (answer["outcome"], answer["unsupported"]) == ("unsure", [])
    assert read_by_model.startswith(
        f"{prompts.load('unsure')}\n\nThe rate of GST is 9%. [1]\n\nSources:\n[1] GST Guide"
    )
    assert f"Confidence: {answer['confidence']['level']}" in read_by_model
    assert read_by_model.endswith(NOTES["unsure"])
