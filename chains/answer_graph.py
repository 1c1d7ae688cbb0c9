"""The chain as a graph of LangGraph over messages: for Studio, Agent Chat UI, RemoteGraph and a checkpointer.

Needs the extra `agents`.
"""

from typing import Any, NotRequired

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.content import Citation as Annotation
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from chains.errors import QuestionError
from chains.state import Answer, Citation, Question


class AnswerState(MessagesState):
    """A conversation, and the whole answer to its last question."""

    cited_answer: NotRequired[Answer]


def build_graph(
    chain: Runnable[Question, Answer], *, checkpointer: BaseCheckpointSaver[Any] | None = None
) -> CompiledStateGraph[AnswerState, Any, Any, Any]:
    """Return the chain as a compiled graph of one node, `answer`.

    The last message is the question, those before it the history. The reply is an AIMessage whose text block holds a
    citation annotation for each marker that leads to a passage; `cited_answer` is the answer object.

    Args:
        chain: what `build_chain` returns, or a Runnable around it.
        checkpointer: keeps the conversation of each `thread_id`; LangGraph's own server brings one.
    """

    def ask(state: AnswerState, config: RunnableConfig) -> dict[str, Any]:
        return _reply(chain.invoke(_question(state), config))

    async def aask(state: AnswerState, config: RunnableConfig) -> dict[str, Any]:
        return _reply(await chain.ainvoke(_question(state), config))

    graph = StateGraph(AnswerState)
    graph.add_node("answer", RunnableLambda(ask, aask))
    graph.add_edge(START, "answer")
    return graph.compile(checkpointer=checkpointer, name="waypoint")


def message_of(answer: Answer) -> AIMessage:
    """Return an answer as a message with citation annotations; places are those of the markers in its text."""
    text = answer["answer"]
    annotations = [_annotation(citation) for citation in answer["citations"] if citation["matched"]]
    confidence = answer["confidence"]
    return AIMessage(
        [{"type": "text", "text": text, "annotations": annotations}] if annotations else text,
        response_metadata={"outcome": answer["outcome"], "confidence": confidence and dict(confidence)},
    )


def _question(state: AnswerState) -> Question:
    *history, last = state["messages"]
    if not isinstance(last, HumanMessage):
        msg = "the last message must be the user's question"
        raise QuestionError(msg)
    return Question(question=str(last.text), history=history)


def _reply(answer: Answer) -> dict[str, Any]:
    return {"messages": [message_of(answer)], "cited_answer": answer}


def _annotation(citation: Citation) -> Annotation:
    names = ("number", "section", "page", "doc_id", "support", "contradicted")
    annotation = Annotation(
        type="citation",
        title=citation["title"],
        cited_text=citation["quote"],
        start_index=citation["start"],
        end_index=citation["end"],
        extras={name: value for name, value in citation.items() if name in names},
    )
    return annotation | {"url": citation["source_urls"][0]} if citation["source_urls"] else annotation
