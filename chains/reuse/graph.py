"""The chain as a graph of LangGraph over messages, for Studio, Agent Chat UI, RemoteGraph and a checkpointer.

`build_graph(chain)`. Needs the extra `agents`.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, NotRequired

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.messages.content import Citation as Annotation
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.constants import TAG_NOSTREAM
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from pydantic import PrivateAttr, SkipValidation

from chains.documents.audience import Audience, called_for
from chains.documents.naming import place_of
from chains.errors import QuestionError
from chains.output import REPLACEMENT, merge
from chains.reuse.functions import annotation
from chains.state import Answer, Citation, Question


class AnswerState(MessagesState):
    """A conversation, and the whole answer to its last question."""

    cited_answer: NotRequired[Answer]


def build_graph(
    chain: Runnable[Question, Answer],
    *,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    audience: Audience | None = None,
) -> CompiledStateGraph[AnswerState, Any, Any, Any]:
    """Return the chain as a compiled graph of one node, `answer`.

    The last message is the question, those before it the history. The reply is an AIMessage whose text block holds a
    citation annotation for each citation that leads to a passage; `cited_answer` is the answer object. In the mode
    `messages` the chunks of the reply are checked sentences with their annotations.

    Args:
        chain: what `build_chain` returns, or a Runnable around it.
        checkpointer: keeps the conversation of each `thread_id`; LangGraph's own server brings one.
        audience: who sees the answers of a call that names no audience; by default its caller.
    """

    def ask(state: AnswerState, config: RunnableConfig) -> dict[str, Any]:
        reply = CitedReply(chain=chain, question=_question(state), config=config)
        with called_for(audience):
            return reply.state_of(reply.invoke(state["messages"], config))

    async def aask(state: AnswerState, config: RunnableConfig) -> dict[str, Any]:
        reply = CitedReply(chain=chain, question=_question(state), config=config)
        with called_for(audience):
            return reply.state_of(await reply.ainvoke(state["messages"], config))

    graph = StateGraph(AnswerState)
    graph.add_node("answer", RunnableLambda(ask, aask))
    graph.add_edge(START, "answer")
    return graph.compile(checkpointer=checkpointer, name="waypoint")


class CitedReply(BaseChatModel):
    """The chain as the chat model of one question, because LangGraph's mode `messages` shows what chat models write.

    What the chain's own model writes is not shown (`nostream`): nobody has checked it.
    """

    chain: SkipValidation[Runnable[Question, Answer]]
    question: SkipValidation[Question]
    config: SkipValidation[RunnableConfig]
    cache: bool = False
    _parts: list[Answer] = PrivateAttr(default_factory=list)
    _told: int = PrivateAttr(0)  # How many citations the chunks have carried.

    def model_post_init(self, context: Any, /) -> None:
        self.config = {**self.config, "tags": [*self.config.get("tags", ()), TAG_NOSTREAM]}

    @property
    def _llm_type(self) -> str:
        return "waypoint"

    def state_of(self, message: AIMessage) -> dict[str, Any]:
        """Return the update of the graph's state, in which the message is the whole answer, whatever was streamed."""
        answer = merge(self._parts)
        return {"messages": [_message_of(answer).model_copy(update={"id": message.id})], "cited_answer": answer}

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._result(self.chain.invoke(self.question, self.config))

    async def _agenerate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return self._result(await self.chain.ainvoke(self.question, self.config))

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        for part in self.chain.stream(self.question, self.config):
            yield from self._chunks(part)

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for part in self.chain.astream(self.question, self.config):
            for chunk in self._chunks(part):
                yield chunk

    def _result(self, answer: Answer) -> ChatResult:
        self._parts.append(answer)
        return ChatResult(generations=[ChatGeneration(message=_message_of(answer))])

    def _chunks(self, part: Answer) -> Iterator[ChatGenerationChunk]:
        self._parts.append(part)
        citations = [] if REPLACEMENT in part else part.get("citations", [])
        new = annotations_of(citations[self._told :])
        self._told = max(self._told, len(citations))
        if part.get("answer") or new:
            block = _text_block(part.get("answer", ""), new) | {"index": 0}
            yield ChatGenerationChunk(message=AIMessageChunk(content=[block]))


def _message_of(answer: Answer) -> AIMessage:
    """Return an answer as a message with citation annotations; places are those of the markers in its text."""
    text, annotations = answer["answer"], annotations_of(answer["citations"])
    confidence = answer["confidence"]
    return AIMessage(
        [_text_block(text, annotations)] if annotations else text,
        response_metadata={"outcome": answer["outcome"], "confidence": confidence and dict(confidence)},
    )


def _text_block(text: str, annotations: Sequence[Annotation]) -> dict[str, Any]:
    return {"type": "text", "text": text} | ({"annotations": annotations} if annotations else {})


def _question(state: AnswerState) -> Question:
    *history, last = state["messages"] or [AIMessage("")]
    if not isinstance(last, HumanMessage):
        raise QuestionError("the last message must be the user's question")
    if any(block["type"] != "text" for block in last.content_blocks):
        raise QuestionError("only text is supported; leave out images, audio and files")
    return Question(question=str(last.text), history=history)


def annotations_of(citations: Iterable[Citation]) -> list[Annotation]:
    """Return the citations that lead to a passage as those of LangChain; places are those in the answer's text."""
    names = ("number", "support", "contradicted")
    return [
        annotation(place_of(one), one["quote"], {name: value for name, value in one.items() if name in names})
        | {"start_index": one["start"], "end_index": one["end"]}
        for one in citations
        if one["matched"]
    ]
