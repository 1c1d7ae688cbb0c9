"""The chain beside a RunnableSequence of plain `assign` steps: LangChain's users do the same with both."""

import pickle
import re
from functools import reduce
from operator import add
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, Runnable, RunnableLambda, RunnablePassthrough, RunnableSequence
from langchain_core.tools import tool
from langchain_core.tracers.context import collect_runs
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_core.tracers.schemas import Run
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

import chains
from chains.errors import ConfigurationError, QuestionError
from tests.chains.gst import ANSWER, QUESTION, Shelf, gst_chain, lasting, writing
from tests.streams import asked, every_way


def refuse_blank(state: Any) -> Any:
    if not state["question"]:
        raise QuestionError
    return state["question"]


def first_document(state: Any) -> str:
    return state["documents"][0].page_content


def plain_chain(answer: str = ANSWER) -> Any:
    """Return the same stages as LangChain's documentation composes them."""
    prompt = ChatPromptTemplate([("system", "Answer from {context}"), ("human", "{question}")], name="prompt")
    answer_step = prompt | writing(answer) | StrOutputParser()
    return RunnableSequence(
        RunnablePassthrough.assign(documents=refuse_blank | Shelf()).with_config(run_name="retrieval"),
        RunnablePassthrough.assign(context=first_document).with_config(run_name="context"),
        RunnablePassthrough.assign(answer=answer_step).with_config(run_name="generation"),
        name="cited_answer",
    )


AT_ONCE: Any = {"stop_after_attempt": 2, "wait_exponential_jitter": False}
both = pytest.mark.parametrize("build", [gst_chain, plain_chain])


def test_the_chain_is_langchains_own_sequence_of_named_steps_and_is_drawn_so():
    chain = gst_chain()

    assert type(chain.bound) is RunnableSequence
    assert [step.get_name() for step in chain.steps] == [*chains.STAGES, "answer"]
    assert chain.get_name() == plain_chain().get_name() == "cited_answer"
    [prompt] = chain.get_prompts()
    assert isinstance(prompt, ChatPromptTemplate)
    assert set(prompt.input_variables) == {"context", "history", "question"}

    drawn = chain.get_graph().draw_mermaid()
    places = [drawn.index(f"\\3a{node}") for node in ("Shelf", "FormatContext", "prompt", "CiteSources")]
    assert places == sorted(places)
    assert all(f"subgraph {name}\n" in drawn for name in chains.STAGES)
    both = chain | RunnableLambda(lambda answer: {"question": answer["answer"]}) | chain
    names = [node.name for node in both.get_graph().reid().nodes.values()]
    assert names.count("generation:prompt") == names.count("citations:CiteSources") == 2


@every_way
@both
async def test_another_runnable_goes_between_two_steps(build, way):
    seen: list[str] = []

    def look(state: Any) -> Any:
        seen.extend(name for name in ("question",) if name in state)
        return state

    first, *rest = build().steps
    chain: Any = RunnableSequence(first, RunnableLambda(look), *rest)

    assert (await asked(chain, way))["answer"] == ANSWER
    assert seen == ["question"]


@every_way
async def test_a_composed_chain_sees_the_words_that_replace_the_answer(way):
    chain = gst_chain("Elephants fly.")
    replacement = chain.invoke(QUESTION)["answer"]

    assert await asked(chain | (lambda answer: answer["answer"]), way) == replacement != "Elephants fly."


@every_way
@both
async def test_a_config_bound_to_it_is_that_of_its_run(build, way):
    with collect_runs() as runs:
        await asked(build().with_config(run_name="mine", tags=["t"], metadata={"tenant": 1}), way)

    [root] = runs.traced_runs
    assert (root.name, root.tags) == ("mine", ["t"])
    assert root.metadata["tenant"] == 1


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch", "abatch"])
@both
async def test_a_retry_calls_it_again(build, way):
    calls: list[int] = []

    def fail_once(state: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise ConnectionError
        return state

    chain = build()
    failing: Any = RunnableSequence(RunnableLambda(fail_once), *chain.steps).with_retry(**AT_ONCE)

    assert (await asked(failing, way))["answer"] == ANSWER
    assert (await asked(chain.with_retry(**AT_ONCE), way))["answer"] == ANSWER
    assert len(calls) == 2


def test_the_stages_of_the_attempt_that_answers_are_timed():
    shelf, calls = Shelf(), list[str]()

    def fail_once(question: str) -> Any:
        calls.append(question)
        if len(calls) == 1:
            raise ConnectionError
        return shelf.invoke(question)

    answer = gst_chain(retriever=RunnableLambda(fail_once)).with_retry(**AT_ONCE).invoke(QUESTION)
    assert (set(answer["metadata"]["timings_ms"]), len(calls)) == (set(chains.STAGES), 2)


def passing_config(chain: Any) -> Runnable[Any, Any]:
    return RunnableLambda(chain.invoke, chain.ainvoke, name="outer")


def without_config(chain: Any) -> Runnable[Any, Any]:
    def called_plainly(question: Any) -> Any:
        return chain.invoke(question)

    async def awaited(question: Any) -> Any:
        return await chain.ainvoke(question)

    return RunnableLambda(called_plainly, awaited, name="outer")


def streaming(chain: Any) -> Runnable[Any, Any]:
    async def awaited(question: Any) -> Any:
        return reduce(add, [part async for part in chain.astream(question)])

    return RunnableLambda(lambda question: reduce(add, chain.stream(question)), awaited, name="outer")


def as_tool(chain: Any) -> Runnable[Any, Any]:
    @tool("outer")
    def ask(question: str) -> Any:
        """Answer a question."""
        return chain.invoke({"question": question})

    return ask


def as_graph_node(chain: Any) -> Runnable[Any, Any]:
    class State(TypedDict, total=False):
        question: str
        answer: str

    graph = StateGraph(State)
    graph.add_node("ask", lambda state: {"answer": chain.invoke(state)["answer"]})
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)
    return graph.compile(name="outer")


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("outer", [passing_config, without_config, streaming, as_tool, as_graph_node])
@both
async def test_inside_another_runnable_the_callers_callbacks_are_told(build, outer, way):
    runs = RunCollectorCallbackHandler()
    await asked(outer(build()), way, config={"callbacks": [runs]})

    [root] = runs.traced_runs
    assert root.name == "outer"
    assert _names(root).count("cited_answer") == 1
    assert [name for name in _names(root) if name in chains.STAGES[1:]][:3] == ["retrieval", "context", "generation"]


def _names(run: Run) -> list[str]:
    return [run.name, *(name for child in run.child_runs for name in _names(child))]


@pytest.mark.parametrize("way", ["batch", "abatch"])
@both
async def test_a_question_that_fails_leaves_the_others_of_its_batch_answered(build, way):
    chain, questions = build(), [QUESTION, {"question": ""}, QUESTION]
    answers = (
        chain.batch(questions, return_exceptions=True)
        if way == "batch"
        else await chain.abatch(questions, return_exceptions=True)
    )

    assert isinstance(answers[1], QuestionError)
    assert [answers[0]["answer"], answers[2]["answer"]] == [ANSWER, ANSWER]
    with pytest.raises(QuestionError):
        chain.batch(questions)


class Down(Shelf):
    """A retriever that cannot be reached."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise ConnectionError


@every_way
async def test_a_bound_field_is_that_of_every_question_that_has_none_of_its_own(way):
    chain = gst_chain().bind(top_k=0)

    assert (await asked(chain, way))["documents"] == []
    assert len((await asked(chain, way, QUESTION | {"top_k": 1}))["documents"]) == 1


@every_way
async def test_a_bound_field_of_another_name_is_refused(way):
    with pytest.raises(ConfigurationError, match="'k' is no field of a question; it has question"):
        await asked(gst_chain().bind(k=1), way)


def test_the_chain_says_what_a_call_may_configure():
    model = writing().configurable_alternatives(ConfigurableField("llm"), default_key="large", small=writing())
    found = gst_chain(model=model).get_config_jsonschema()["$defs"]["Configurable"]["properties"]

    assert set(found) == {"audience", "category", "jurisdiction", "llm"}
    assert found["audience"]["enum"] == ["public", "internal"]


def test_a_chain_can_be_pickled():
    chain = gst_chain(model=FakeListChatModel(responses=[ANSWER]))

    copied = pickle.loads(pickle.dumps(chain))  # noqa: S301

    assert lasting(copied.invoke(QUESTION)) == lasting(chain.invoke(QUESTION))


def test_the_chain_s_own_tool_is_ours():
    tool = gst_chain().as_tool(name="ask_customs")

    assert "Sources:\n[1] GST Guide > Rate" in tool.invoke({"question": "Rate?"})
    assert tool.name == "ask_customs"
    with pytest.raises(ConfigurationError, match="a schema of its own"):
        gst_chain().as_tool(arg_types={"question": str})


@every_way
async def test_another_chain_answers_where_one_fails_before_its_first_word(way):
    chain = gst_chain(retriever=Down()).with_fallbacks([gst_chain()])

    assert lasting(await asked(chain, way)) == lasting(gst_chain().invoke(QUESTION))


@every_way
async def test_a_question_that_is_no_dict_is_one_clear_error(way):
    with pytest.raises(TypeError, match=re.escape("takes a dict such as {'question': '...'}, not str")):
        await asked(gst_chain(), way, "Rate?")
