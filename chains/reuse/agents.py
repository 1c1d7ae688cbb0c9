"""The chain in LangChain's agents, with citations that go on over a thread.

`create_agent(model, tools=[as_tool(chain)], middleware=[CitationMiddleware()])`. Needs the extra `agents`.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NotRequired, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.messages.content import Citation as Annotation
from langchain_core.outputs import LLMResult
from langgraph.runtime import Runtime

from chains.citations.cited_sentences import LOOKED_AT, MAY_END, last_sentence
from chains.documents.naming import cited_by_number, place_name, place_of
from chains.reuse.functions import MARKER, CitedSource, annotations_of, checked_files, citations_in, source_of
from chains.reuse.tool import content_of
from chains.state import Answer

COUNTED = "citations_counted"
"""Set in the `additional_kwargs` of a tool's message whose numbers are those of the thread."""


class CitationState(AgentState[Any]):
    """The state of an agent, the sources that its tools have cited over the thread, and what its response cites."""

    cited_sources: NotRequired[list[CitedSource]]
    structured_citations: NotRequired[list[Annotation]]


class CitationMiddleware(AgentMiddleware[CitationState, Any, Any]):
    """Count the sources of all answers of a thread on, and resolve the markers of the agent's final message.

    Before each call of the model, the numbers of new answers (`chains.as_tool`, MCP's `ask`) are replaced by those of
    the thread, so that parallel calls, several tools and later turns never share one. Documents of a retriever tool
    (`content_and_artifact`) and passages of MCP's `search` get such numbers. At the end each marker of the final
    message becomes a citation annotation of LangChain, in the `annotations` of its text block, unless no tool of the
    thread has cited anything. `start_index` and `end_index` are the marker's place in the block; `cited_text` are the
    words of the source that support the agent's own sentence; `title` is empty for a number that no tool has given.
    `extras` hold `number`, `section`, `page`, `doc_id`, `support` (0 to 1), `contradicted` and `verified`, which is
    false for a number that no tool has given or a sentence that its source does not support.

    What OpenAI's search of files cites is checked too, where the model includes its results (`checked_files`).

    While the model writes, the mode `custom` shows the citations of each sentence as soon as it is whole:
    `{"type": "citations", "message_id": ..., "citations": [...]}`; the places are those in the message's text.

    What a `structured_response` cites is the `structured_citations` of the state (`chains.structured_citations`).

    The sources are in the agent's state, so a checkpointer keeps them although older messages are trimmed. What a
    sub-agent cites is counted on where the supervisor's tool returns the content of its final message.
    """

    state_schema = CitationState

    def before_model(self, state: CitationState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        sources = list(state.get("cited_sources", []))
        counted = [one for message in state["messages"] if (one := _counted(message, sources))]
        return {"messages": counted, "cited_sources": sources} if counted else None

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        """Show the model its earlier answers as text: not every provider takes annotations back."""
        return handler(_prepared(request))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Awaitable[Any]]) -> Any:
        return await handler(_prepared(request))

    def after_agent(self, state: CitationState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        last, sources = state["messages"][-1], state.get("cited_sources", [])
        update: dict[str, Any] = {}
        if sources and (response := state.get("structured_response")) is not None:
            update["structured_citations"] = list(citations_in(response, sources))
        if isinstance(last, AIMessage) and not last.tool_calls:
            given = last.content_blocks
            blocks = checked_files(given)
            for place, block in enumerate(blocks):  # Behind those that its provider has made.
                found = list(annotations_of(block["text"], sources)) if sources and block["type"] == "text" else []
                blocks[place] = {**block, "annotations": [*block.get("annotations", []), *found]} if found else block
            if blocks != given:
                # Else LangChain reads the blocks as those of the model's provider.
                standard = {**last.response_metadata, "output_version": "v1"}
                update["messages"] = [last.model_copy(update={"content": blocks, "response_metadata": standard})]
        return update or None


def _prepared(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """Return a request without annotations, and with what streams the citations of the reply."""
    request = request.override(messages=[_plain(message) for message in request.messages])
    sources, model = cast("CitationState", request.state).get("cited_sources"), request.model
    if not sources or not isinstance(model, BaseChatModel) or isinstance(model.callbacks, BaseCallbackManager):
        return request
    handlers = [*(model.callbacks or ()), CitationStream(sources, request.runtime.stream_writer)]
    return request.override(model=model.model_copy(update={"callbacks": handlers}))


class CitationStream(BaseCallbackHandler):
    """Writes the citations of a model's message into a stream of LangGraph, each once its sentence is whole."""

    run_inline = True  # In the order of the words.

    def __init__(self, sources: Sequence[CitedSource], write: Callable[[Any], None]) -> None:
        self._sources, self._write = sources, write

    def on_chat_model_start(self, *args: Any, **kwargs: Any) -> None:
        self._text, self._looked_at, self._checked = "", 0, 0  # Another middleware may call the model again.

    def on_llm_new_token(self, token: Any, *, chunk: Any = None, **kwargs: Any) -> None:
        if chunk is None:
            return
        self._text += str(chunk.message.text)
        if len(self._text) - self._looked_at >= LOOKED_AT and MAY_END.search(self._text, self._checked):
            self._looked_at = len(self._text)
            self._tell(self._text[: last_sentence(self._text)], chunk.message.id)

    def on_llm_end(self, response: LLMResult, **kwargs: Any) -> None:
        for generation in response.generations[0]:
            message = getattr(generation, "message", None)
            self._tell(str(message.text) if message else generation.text, message and message.id)

    def _tell(self, text: str, message_id: str | None) -> None:
        if found := list(annotations_of(text, self._sources, since=self._checked)):
            self._write({"type": "citations", "message_id": message_id, "citations": found})
        self._checked = max(self._checked, len(text))


def _plain(message: AnyMessage) -> AnyMessage:
    annotated = isinstance(message, AIMessage) and isinstance(message.content, list)
    if annotated and any(map(_annotations, message.content)):
        return message.model_copy(update={"content": str(message.text)})
    return message


def _counted(message: AnyMessage, sources: list[CitedSource]) -> ToolMessage | None:
    """Return a tool's message with the numbers of the thread, and add its sources; None where nothing is to be done."""
    if not isinstance(message, ToolMessage) or message.additional_kwargs.get(COUNTED):
        return None
    content = _recounted(message, sources)
    if content is None:
        return None
    return message.model_copy(
        update={"content": content, "additional_kwargs": {**message.additional_kwargs, COUNTED: True}}
    )


def _recounted(message: ToolMessage, sources: list[CitedSource]) -> Any:
    found = message.artifact
    if isinstance(found, Mapping):
        found = found.get("structured_content", found)  # So langchain-mcp-adapters hands on what a server returns.
    match found:
        case {"answer": _, "citations": [_, *_]}:
            return content_of(cast("Answer", found), _numbers_of(cast("Answer", found), sources))
        case {"answer": _, "sources": [{"number": int(), "title": str(), "quote": str()}, *_] as told}:
            numbers = {source["number"]: _number(_source_told(source, source["quote"]), sources) for source in told}
            return _renumbered_text(str(message.text), numbers)
        case {"passages": [{"text": str(), "title": str()}, *_] as passages}:
            found = [Document(one["text"], metadata={**one, "source_urls": one.get("url")}) for one in passages]
    if isinstance(found, list) and found and all(isinstance(document, Document) for document in found):
        return _numbered_passages(str(message.text), found, sources)
    if isinstance(message.content, list) and any(map(_annotations, message.content)):
        return [_counted_block(block, sources) for block in message.content]
    return None


def _source_told(told: Mapping[str, Any], quote: str) -> CitedSource:
    place = {name: told.get(name) for name in ("title", "section", "page", "doc_id", "url")}
    return cast("CitedSource", {**place, "quote": quote, "passages": [quote]})


def _numbered_passages(text: str, documents: Sequence[Document], sources: list[CitedSource]) -> str:
    """Return the text of a search with a line above each of its passages: its number and its place."""
    at, parts = 0, []
    for document in documents:
        number = _number(source_of(document), sources)
        source = sources[number - 1]
        place = text.find(document.page_content, at)
        before, at = (text[at:place], place + len(document.page_content)) if place >= 0 else ("\n\n", at)
        parts += [before, f"[{number}] {place_name(source['title'], source['section'])}\n{document.page_content}"]
    return "".join([*parts, text[at:]])


def _numbers_of(answer: Answer, sources: list[CitedSource]) -> dict[int, int]:
    """Return the numbers of the thread for those of an answer, whose sources are added where they are new."""
    numbers, texts = {}, [passage["content"] for passage in answer["documents"]]
    for number, citation in cited_by_number(answer["citations"]).items():
        quote = citation["quote"]
        passages = [text for text in texts if quote and quote in text] or [quote]
        numbers[number] = _number({**place_of(citation), "quote": quote, "passages": passages}, sources)
    return numbers


def _number(source: CitedSource, sources: list[CitedSource]) -> int:
    for number, known in enumerate(sources, start=1):
        if _key(known) == _key(source):
            new = [text for text in source["passages"] if text not in known["passages"]]
            sources[number - 1] = {**known, "passages": [*known["passages"], *new]}
            return number
    sources.append(source)
    return len(sources)


def _key(source: CitedSource) -> tuple[object, ...]:
    return source["doc_id"] or source["title"], source["section"], source["page"]


def _annotations(block: Any) -> list[Any]:
    given = block.get("annotations") or [] if isinstance(block, Mapping) else []
    return [annotation for annotation in given if annotation.get("type") == "citation"]


def _counted_block(block: Any, sources: list[CitedSource]) -> Any:
    annotations = [one for one in _annotations(block) if one.get("title") and "number" in one.get("extras", {})]
    if not annotations:
        return block
    numbers = {
        one["extras"]["number"]: _number(_source_told({**one["extras"], **one}, one.get("cited_text", "")), sources)
        for one in annotations
    }
    text = _renumbered_text(block["text"], numbers)
    lines = [f"[{number}] {sources[number - 1]['title']}" for number in sorted(set(numbers.values()))]
    return {"type": "text", "text": "\n".join([text, "", "Sources:", *lines])}


def _renumbered_text(text: str, numbers: Mapping[int, int]) -> str:
    known = {own: str(number) for own, number in numbers.items()}
    return MARKER.sub(lambda marker: re.sub(r"\d+", lambda own: known.get(int(own[0]), "unverified"), marker[0]), text)
