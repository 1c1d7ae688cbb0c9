"""The chain in LangChain's agents, with citations that go on over a thread.

`create_agent(model, tools=[as_tool(chain)], middleware=[CitationMiddleware()])`. Needs the extra `agents`.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, NotRequired, cast

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.messages.content import Citation as Annotation
from langgraph.runtime import Runtime
from pydantic import BaseModel

from chains.citations.cited_sentences import cited_sentences, clauses_of, sentences_of
from chains.citations.markers import code_ranges, inside
from chains.citations.verification import verify
from chains.documents.naming import Place, cited_by_number, place_in, place_name, place_of
from chains.retrieval.passages import passage
from chains.reuse.tool import content_of
from chains.state import Answer, Citation, Passage
from chains.text.letters import one_line

COUNTED = "citations_counted"
"""Set in the `additional_kwargs` of a tool's message whose numbers are those of the thread."""

UNTITLED_CHARACTERS = 60
"""Of the words of a passage without a title, which stand in its place."""

_MARKER = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)(?:, unsupported)?\](?!\()")


class CitedSource(Place):
    """What a number of the thread stands for: its n-th source has the number n. `passages` are those cited of it."""

    quote: str
    passages: list[str]


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

    The markers in the texts of a `structured_response` are resolved in the same way, as `structured_citations` of the
    state; the `extras` then hold the `field` of the text as well, such as `items[0].rate`.

    The sources are in the agent's state, so a checkpointer keeps them although older messages are trimmed. What a
    sub-agent cites is counted on where the supervisor's tool returns the content of its final message.
    """

    state_schema = CitationState

    def before_model(self, state: CitationState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Return the new answers of tools with the numbers of the thread."""
        sources = list(state.get("cited_sources", []))
        counted = [one for message in state["messages"] if (one := _counted(message, sources))]
        return {"messages": counted, "cited_sources": sources} if counted else None

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Any]) -> Any:
        """Show the model its earlier answers as text: not every provider takes annotations back."""
        return handler(_without_annotations(request))

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Callable[..., Awaitable[Any]]) -> Any:
        """Show the model its earlier answers as text."""
        return await handler(_without_annotations(request))

    def after_agent(self, state: CitationState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Return the final message, or the structured response, with its citations."""
        last, sources = state["messages"][-1], state.get("cited_sources")
        if not sources:
            return None
        update: dict[str, Any] = {}
        if (response := state.get("structured_response")) is not None:
            update["structured_citations"] = [
                {**one, "extras": {**one["extras"], "field": field}}
                for field, text in _texts(response)
                for one in annotations_of(text, sources)
            ]
        if isinstance(last, AIMessage) and not last.tool_calls:
            given = last.content_blocks
            blocks = [_annotated(block, sources) for block in given]
            if blocks != given:
                # Else LangChain reads the blocks as those of the model's provider.
                standard = {**last.response_metadata, "output_version": "v1"}
                update["messages"] = [last.model_copy(update={"content": blocks, "response_metadata": standard})]
        return update or None


def _texts(value: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts in a structured response, each with its field."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, BaseModel):
        yield from _texts(value.model_dump(), field)
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _texts(asdict(value), field)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _texts(inner, f"{field}.{name}".removeprefix("."))
    elif isinstance(value, Sequence):
        for place, inner in enumerate(value):
            yield from _texts(inner, f"{field}[{place}]")


def _annotated(block: Any, sources: Sequence[CitedSource]) -> Any:
    """Return a block of the final message with its citations behind those that its provider has made."""
    found = list(annotations_of(block["text"], sources)) if block["type"] == "text" else []
    return {**block, "annotations": [*block.get("annotations", []), *found]} if found else block


def _without_annotations(request: ModelRequest[Any]) -> ModelRequest[Any]:
    return request.override(messages=[_plain(message) for message in request.messages])


def _plain(message: AnyMessage) -> AnyMessage:
    annotated = isinstance(message, AIMessage) and isinstance(message.content, list)
    if annotated and any(map(_annotations, message.content)):
        return message.model_copy(update={"content": str(message.text)})
    return message


def annotations_of(text: str, sources: Sequence[CitedSource]) -> Iterator[Annotation]:
    """Yield a citation for each number in the text's markers, in order; those in code count not."""
    code = code_ranges(text)
    markers = [one for one in _MARKER.finditer(text) if not inside(one.start(), code)]
    places = [marker.span() for marker in markers]
    sentences = sentences_of(text, places)
    clauses = clauses_of(text, sentences, places)
    for marker, indices in zip(markers, cited_sentences(sentences, places), strict=True):
        claims = [sentences[index].words for index in indices] + [clauses.get(marker.start(), "")]
        for number in map(int, re.findall(r"\d+", marker[1])):
            source = sources[number - 1] if 1 <= number <= len(sources) else None
            yield _annotation(number, source, claims) | {"start_index": marker.start(), "end_index": marker.end()}


def _annotation(number: int, source: CitedSource | None, claims: Sequence[str]) -> Annotation:
    """Return what the source says to one of the claims, the one that it supports best."""
    if source is None:
        return Annotation(type="citation", title="", cited_text="", extras={"number": number, "verified": False})
    passages = [Passage(content=text, metadata={"title": source["title"]}, score=None) for text in source["passages"]]
    found = verify(claims, passages, None)
    place = {name: source[name] for name in ("section", "page", "doc_id")}
    checked = {"support": found.support, "contradicted": found.contradicted, "verified": found.supported}
    annotation = Annotation(
        type="citation",
        title=source["title"],
        cited_text=found.quote or source["quote"],
        extras={"number": number, **place, **checked},
    )
    return annotation | {"url": source["url"]} if source["url"] else annotation


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
            numbers = {one["number"]: _number(_source_told(one), sources) for one in told}
            return _renumbered_text(str(message.text), numbers)
        case {"passages": [{"text": str(), "title": str()}, *_] as passages}:
            found = [Document(one["text"], metadata={**one, "source_urls": one.get("url")}) for one in passages]
    if isinstance(found, list) and found and all(isinstance(one, Document) for one in found):
        return _numbered_passages(str(message.text), found, sources)
    if isinstance(message.content, list) and any(map(_annotations, message.content)):
        return [_counted_block(block, sources) for block in message.content]
    return None


def _source_told(told: Mapping[str, Any]) -> CitedSource:
    return CitedSource(
        title=told["title"],
        section=told.get("section"),
        page=told.get("page"),
        doc_id=told.get("doc_id"),
        url=told.get("url"),
        quote=told["quote"],
        passages=[told["quote"]],
    )


def _numbered_passages(text: str, documents: Sequence[Document], sources: list[CitedSource]) -> str:
    """Return the text of a search with a line above each of its passages: its number and its place."""
    at, parts = 0, []
    for document in documents:
        number = _number(_source_found(document), sources)
        source = sources[number - 1]
        place = text.find(document.page_content, at)
        before, at = (text[at:place], place + len(document.page_content)) if place >= 0 else ("\n\n", at)
        parts += [before, f"[{number}] {place_name(source['title'], source['section'])}\n{document.page_content}"]
    return "".join([*parts, text[at:]])


def _source_found(document: Document) -> CitedSource:
    found = passage(document)
    place, text = place_in(found["metadata"]), found["content"]
    title = place["title"] or one_line(text)[:UNTITLED_CHARACTERS]
    return {**place, "title": title, "quote": text, "passages": [text]}


def _numbers_of(answer: Answer, sources: list[CitedSource]) -> dict[int, int]:
    """Return the numbers of the thread for those of an answer, whose sources are added where they are new."""
    texts = [passage["content"] for passage in answer["documents"]]
    return {
        number: _number(_source_of(citation, texts), sources)
        for number, citation in cited_by_number(answer["citations"]).items()
    }


def _source_of(citation: Citation, texts: Sequence[str]) -> CitedSource:
    quote = citation["quote"]
    passages = [text for text in texts if quote and quote in text] or [quote]
    return {**place_of(citation), "quote": quote, "passages": passages}


def _number(source: CitedSource, sources: list[CitedSource]) -> int:
    """Return the number of a source, added where it is new."""
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
    """Return the citations of a sub-agent's block of text."""
    given = block.get("annotations") or [] if isinstance(block, Mapping) else []
    return [one for one in given if one.get("type") == "citation"]


def _counted_block(block: Any, sources: list[CitedSource]) -> Any:
    annotations = [one for one in _annotations(block) if one.get("title") and "number" in one.get("extras", {})]
    if not annotations:
        return block
    numbers = {one["extras"]["number"]: _number(_source_cited(one), sources) for one in annotations}
    text = _renumbered_text(block["text"], numbers)
    lines = [f"[{number}] {sources[number - 1]['title']}" for number in sorted(set(numbers.values()))]
    return {"type": "text", "text": "\n".join([text, "", "Sources:", *lines])}


def _renumbered_text(text: str, numbers: Mapping[int, int]) -> str:
    def renumbered(number: re.Match[str]) -> str:
        return str(numbers.get(int(number[0]), "unverified"))

    return _MARKER.sub(lambda marker: re.sub(r"\d+", renumbered, marker[0]), text)


def _source_cited(annotation: Mapping[str, Any]) -> CitedSource:
    extras, quote = annotation["extras"], annotation.get("cited_text", "")
    return CitedSource(
        title=annotation["title"],
        section=extras.get("section"),
        page=extras.get("page"),
        doc_id=extras.get("doc_id"),
        url=annotation.get("url"),
        quote=quote,
        passages=[quote],
    )
