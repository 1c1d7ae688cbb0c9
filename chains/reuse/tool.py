"""The chain as a tool for agents: a question in, a cited answer out, small enough for a prompt."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.documents import Document
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, Field, ValidationError

from chains.citations.support import LEAST_SUPPORT
from chains.documents.audience import Audience, called_for
from chains.documents.naming import (
    cited_by_number,
    listed_markdown,
    passages_by_place,
    place_of,
    place_text,
    unsupported_sentences,
)
from chains.errors import QuestionError, SafetyCheckError, WaypointError
from chains.history import HistoryMessage
from chains.logs import get_logger
from chains.question import question_with
from chains.retrieval.filters import QuestionFilters
from chains.retrieval.passages import Retriever, retrieve
from chains.state import Answer, Citation, Outcome, Passage, Question
from chains.text.letters import one_line

log = get_logger(__name__)

NAME = "ask_documents"
DESCRIPTION = (
    "Answer a question from the company's own documents. Returns the answer with numbered citations and their "
    "sources, or says that the documents do not hold it. Keep the citations when you use the answer."
)
UNVERIFIED = "unverified"
"""Replaces a marker that leads to no passage."""
CONTRADICTED, UNSUPPORTED = "contradicted by its source", "unsupported"
"""Stand at a marker whose source says something else, or does not say it."""

# What an agent makes of an outcome; it does not know the names of them.
NOTES: dict[Outcome, str] = {
    "unsure": "It is not sure that this answers the question. Say so, and name the source; do not answer from memory.",
    "no_results": "The documents hold nothing near this. Say so; do not answer from memory.",
    "declined": "No passage answers this reliably. Say so, and name the closest; do not answer from memory.",
    "ungrounded": "No passage of the documents carries an answer. Say so; do not answer from memory.",
    "blocked": "The question was not asked. Do not repeat it in other words.",
    "question_back": "Ask the user this, then call the tool again with a question that names the subject.",
    "redirected": "The documents do not answer such questions. Pass this on to the user.",
    "degraded": "The language model of the documents was away; these are quotations.",
}
# What to do about an error. The nearest class among its ancestors decides; a QuestionError says itself what is wrong.
_ONCE_MORE = "The documents cannot be asked at the moment. Call this tool once more; if that fails too, tell the user."
_GIVE_UP = "The documents cannot be asked. Do not call this tool again; tell the user, and do not answer from memory."
_CITED: dict[str, Any] = {"response_format": "content_and_artifact", "handle_tool_error": True}
_REFUSED = "This question cannot be asked of the documents. Tell the user; do not repeat it in other words."


class ToolInput(BaseModel):
    """What a model fills in."""

    question: str = Field(description="One question, in a full sentence that stands by itself.")
    history: list[HistoryMessage] | None = Field(
        None, description="The conversation before, where the question refers to it."
    )
    filters: QuestionFilters = None


def as_tool(
    chain: Runnable[Question, Answer],
    *,
    name: str = NAME,
    description: str = DESCRIPTION,
    exceptions_to_handle: tuple[type[Exception], ...] = (Exception,),
    audience: Audience | None = None,
) -> BaseTool:
    """Return the chain as a tool whose content is the cited answer and whose artifact is the answer object.

    The chain runs inside of the tool's own run: the caller's callbacks, `configurable` and metadata reach it, and the
    words of its model stream through. An error becomes a tool message with the status `error` that says what to do.

    Args:
        chain: what `build_chain` returns, or a Runnable around it.
        name: what the model calls the tool.
        description: tells the model when to call it; name the documents.
        exceptions_to_handle: errors of other classes are raised; so are the interrupts of LangGraph. `()` raises all,
            for a middleware that retries.
        audience: who sees the answers of a call that names no audience; by default its caller.
    """

    def ask(question: str, **options: Any) -> tuple[str, Answer]:
        with _advising(audience, exceptions_to_handle):
            answer = chain.invoke(question_with(question, **options))
        return content_of(answer), answer

    async def aask(question: str, **options: Any) -> tuple[str, Answer]:
        with _advising(audience, exceptions_to_handle):
            answer = await chain.ainvoke(question_with(question, **options))
        return content_of(answer), answer

    named: dict[str, Any] = {"name": name, "description": description, "args_schema": ToolInput}
    return StructuredTool.from_function(ask, aask, **named, **_CITED, handle_validation_error=_explain)


SEARCH_NAME = "search_documents"
SEARCH_DESCRIPTION = (
    "Find passages of the company's own documents. Search again in other words, or without filters, where they do not "
    "answer the question."
)


class SearchToolInput(BaseModel):
    """What a model fills in."""

    query: str = Field(description="Words, or a question.")
    filters: QuestionFilters = None


def as_search_tool(
    retriever: Retriever,
    *,
    name: str = SEARCH_NAME,
    description: str = SEARCH_DESCRIPTION,
    top_k: int = 5,
    audience: Audience | None = None,
) -> BaseTool:
    """Return a retriever as a tool whose artifact are the found Documents, which `CitationMiddleware` counts.

    Args:
        retriever: `open_retriever()`, or any other.
        name: what the model calls the tool.
        description: tells the model when to call it; name the documents.
        top_k: how many passages it gives at most.
        audience: who sees what a call without an audience finds; by default its caller.
    """
    search: Runnable[Any, list[Passage]] = retrieve(retriever)

    def found(passages: Sequence[Passage]) -> tuple[str, list[Document]]:
        documents = [Document(one["content"], metadata={**one["metadata"], "score": one["score"]}) for one in passages]
        return "\n\n".join(passage["content"] for passage in passages) or "Nothing was found.", documents

    def find(query: str, filters: dict[str, Any] | None = None) -> tuple[str, list[Document]]:
        with _advising(audience, (Exception,)):
            return found(search.invoke(question_with(query, top_k=top_k, filters=filters)))

    async def afind(query: str, filters: dict[str, Any] | None = None) -> tuple[str, list[Document]]:
        with _advising(audience, (Exception,)):
            return found(await search.ainvoke(question_with(query, top_k=top_k, filters=filters)))

    named: dict[str, Any] = {"name": name, "description": description, "args_schema": SearchToolInput}
    return StructuredTool.from_function(find, afind, **named, **_CITED, handle_validation_error=True)


def content_of(answer: Answer, numbers: Mapping[int, int] | None = None) -> str:
    """Return what a model reads of an answer: its words with numbers for markers, its sources, how sure it is, a note.

    `numbers` are for those of this answer the ones that it shall show, where several answers are counted on.
    """
    citations, shown = answer["citations"], numbers or {}
    lines = [numbered_text(answer["answer"], citations, shown, doubts=True)]
    marked = {shown.get(own, own): place_text(place_of(one)) for own, one in cited_by_number(citations).items()}
    # What supports a sentence without a marker is named as well.
    others = (place_text(place_of(one)) for one in citations if one["matched"] and one["number"] is None)
    sources = [f"[{number}] {name}" for number, name in sorted(marked.items())]
    if sources := sources + [f"- {name}" for name in dict.fromkeys(others) if name not in marked.values()]:
        lines += ["", "Sources:", *sources]
    if unsupported := unsupported_sentences(answer):
        lines += ["", "No passage supports:", *(f"- {one_line(sentence)}" for sentence in unsupported)]
    if closest := answer.get("closest"):
        places = passages_by_place(closest)
        lines += ["", "Closest passages:"]
        lines += [listed_markdown(place_text(place_of(passages[0])), passages) for passages in places]
    if (confidence := answer["confidence"]) and answer["outcome"] in {"answered", "degraded", "unsure"}:
        lines += ["", f"Confidence: {confidence['level']} ({confidence['score']:.2f}). {confidence['reason']}"]
    if note := NOTES.get(answer["outcome"]):
        lines += ["", f"Note: {note}"]
    return "\n".join(lines)


def numbered_text(
    text: str, citations: Sequence[Citation], numbers: Mapping[int, int] | None = None, *, doubts: bool = False
) -> str:
    """Return the text with the number of its source instead of each marker: `[1]`, or `[1; 2]` for a pair.

    With `doubts` a marker also says that its source does not support the sentence, or contradicts it.
    """
    for citation in sorted(citations, key=lambda citation: citation["start"], reverse=True):
        if citation["number"] is None and (citation["matched"] or citation["attributed"]):
            continue  # The place of an attributed citation without a number is a whole sentence.
        start, end = citation["start"], citation["end"]
        in_brackets = not text[start:end][:1].isalnum() and not text[start:end][-1:].isalnum()
        marker = _marker(citation, numbers or {}, doubts=doubts)
        text = text[:start] + (f"[{marker}]" if in_brackets else marker) + text[end:]
    return text


def advice_on(error: Exception) -> str:
    """Return the advice to a model about an error, without inner detail; the log gets the error's kind."""
    log.warning("tool_failed", error=type(error).__name__)
    match error:
        case QuestionError():
            return f"{error}. Call this tool again with one short question."
        case SafetyCheckError():
            return _REFUSED
        case WaypointError(is_retryable=False):
            return _GIVE_UP
    return _ONCE_MORE


@contextmanager
def _advising(audience: Audience | None, handled: tuple[type[Exception], ...]) -> Iterator[None]:
    """Run a tool's body for an audience; an error becomes advice to the model.

    LangGraph's own signals are raised again: they pause a graph, also from a step inside the chain.
    """
    try:
        with called_for(audience):
            yield
    except handled as error:
        langgraph = sys.modules.get("langgraph.errors")
        if langgraph is not None and isinstance(error, langgraph.GraphBubbleUp):
            raise
        raise ToolException(advice_on(error)) from error


def _marker(citation: Citation, numbers: Mapping[int, int], *, doubts: bool) -> str:
    if citation["contradicted"] and doubts:
        return CONTRADICTED
    if not citation["matched"] or citation["number"] is None:
        return UNVERIFIED
    number = numbers.get(citation["number"], citation["number"])
    return f"{number}, {UNSUPPORTED}" if doubts and citation["support"] < LEAST_SUPPORT else str(number)


def _explain(error: ValidationError | Any) -> str:
    issues: Sequence[Mapping[str, Any]] = error.errors() if isinstance(error, ValidationError) else []
    places = ", ".join(".".join(map(str, issue["loc"])) for issue in issues) or "the arguments"
    return f'{places} cannot be read. Call this tool again with {{"question": "one question in a sentence"}}.'
