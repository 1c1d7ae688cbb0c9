"""The tools `ask` and `search`: arguments in, text for the model and a value of the schema out."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from app.wings.mcp.models import (
    AnswerPassage,
    AnswerSource,
    AskInput,
    AskOutput,
    FoundPassage,
    SearchInput,
    SearchOutput,
)
from app.wiring import Services
from app.wiring.build import search
from chains.citations.sources import external_urls
from chains.naming import cited_by_number, passage_markdown, place_name, unsupported_sentences
from chains.state import Answer, Citation, ClosestPassage, Passage, Question
from chains.tool import content_of, numbered_text

DOCUMENTS = "waypoint://documents/"

Result = tuple[str, BaseModel]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, its schemas, and what it does."""

    name: str
    title: str
    description: str
    takes: type[BaseModel]
    gives: type[BaseModel]
    call: Callable[[Services, Any, RunnableConfig], Awaitable[Result]]


def address_of(doc_id: str | None) -> str | None:
    """Return the address of a document as a resource."""
    return f"{DOCUMENTS}{quote(doc_id, safe='')}" if doc_id else None


async def ask(services: Services, asked: AskInput, config: RunnableConfig) -> Result:
    """Answer a question with numbered citations."""
    question = Question(question=asked.question)
    if asked.history:
        question["history"] = [turn.model_dump() for turn in asked.history]
    answer = await services.chain.ainvoke(question, config)
    return content_of(answer), _answer(answer)


async def find(services: Services, wanted: SearchInput, config: RunnableConfig) -> Result:
    """Return the passages nearest to the query."""
    found = await search(services, wanted.query, config, top_k=wanted.top_k)
    passages = [_passage(passage) for passage in found]
    text = "\n\n".join(f"[{one.id}] {place_name(one.title, one.section)}\n{one.text}" for one in passages)
    return text or "Nothing was found.", SearchOutput(passages=passages)


TOOLS = (
    Tool(
        "ask",
        "Ask the documents",
        "Answer a question from the documents, with numbered citations whose words are checked against the source. "
        "Says so where the documents hold no answer.",
        AskInput,
        AskOutput,
        ask,
    ),
    Tool(
        "search",
        "Search the documents",
        "Find the passages nearest to a query, with their ids, without an answer. Use `ask` for an answer.",
        SearchInput,
        SearchOutput,
        find,
    ),
)


def _answer(answer: Answer) -> AskOutput:
    confidence = answer["confidence"]
    return AskOutput(
        answer=numbered_text(answer["answer"], answer["citations"], doubts=True),
        outcome=answer["outcome"],
        sources=[_source(citation, number) for number, citation in cited_by_number(answer["citations"]).items()],
        closest=[_closest(closest) for closest in answer["closest"]],
        unsupported=unsupported_sentences(answer),
        confidence=confidence["level"] if confidence else None,
        confidence_score=confidence["score"] if confidence else None,
        trace_id=answer["metadata"]["trace_id"],
    )


def _source(citation: Citation, number: int) -> AnswerSource:
    return AnswerSource(
        number=number,
        title=citation["title"],
        section=citation["section"],
        page=citation["page"],
        doc_id=citation["doc_id"],
        url=next(iter(citation["source_urls"]), None),
        quote=citation["quote"],
        resource=address_of(citation["doc_id"]),
    )


def _closest(closest: ClosestPassage) -> AnswerPassage:
    fields: dict[str, Any] = {
        name: closest[name] for name in ("title", "section", "page", "doc_id", "url", "marked", "score")
    }
    quote = passage_markdown(closest["quote"], closest["table_head"])
    return AnswerPassage(**fields, quote=quote, resource=address_of(closest["doc_id"]))


def _passage(passage: Passage) -> FoundPassage:
    metadata = passage["metadata"]
    doc_id = str(metadata.get("doc_id") or "")
    return FoundPassage(
        id=f"{doc_id}#{metadata.get('chunk_index', 0)}",
        doc_id=doc_id,
        title=str(metadata.get("title") or ""),
        section=metadata.get("section") or None,
        page=metadata.get("page") or None,
        text=passage["content"],
        url=next(iter(external_urls(metadata)), None),
        score=passage["score"],
        resource=address_of(doc_id),
    )
