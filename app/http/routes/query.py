"""POST /api/query, the Waypoint contract: camelCase, matched citations only, no retrieved text."""

from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from app.http.openapi import ANSWER, error_responses, ok_response
from app.http.questions import LANGUAGE_SCHEMA, QUERY_SCHEMA, History, SessionId, Threshold, TopK, run_config
from app.http.routes.json_route import bad_request_route
from chains.state import QUERY_MAX_CHARACTERS, Answer, Outcome, check_question

_Value = TypeVar("_Value")
_CamelKeys = Annotated[
    dict[str, _Value], AfterValidator(lambda values: {to_camel(name): value for name, value in values.items()})
]

_LEVELS = {"high": "High", "medium": "Medium"}


def _level(name: str) -> str:
    """Return one of the three words that clients of this contract know; very_low and unknown are Low."""
    return _LEVELS.get(name.lower(), "Low")


class _Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, validate_by_alias=True)


class QueryCitation(_Camel):
    """A marker in the answer, and the passage that it cites."""

    raw: str = Field(description="The marker as it stands in the answer.", examples=["[GST Guide > Rate]"])
    number: int | None = Field(description="Its number, by first appearance.")
    title: str
    section: str | None
    page: int | None
    doc_id: str | None
    matched: bool
    source_urls: list[str]
    score: float | None = Field(description="The passage's similarity to the question, 0 to 1; null where unknown.")
    start: int = Field(description="Start offset of the marker in the answer, in characters.")
    end: int
    quote: str = Field(description="The words of the source that support it.")
    support: float = Field(description="How well they support it, 0 to 1.")
    attributed: bool = Field(description="Attributed by us, without a marker of the model.")
    contradicted: bool


class QuerySource(_Camel):
    """An external page that a matched citation leads to."""

    title: str
    org: str | None
    url: str
    section: str | None
    page: int | None


class QueryRelatedDocument(_Camel):
    """A document with retrieved passages."""

    title: str
    category: str | None
    doc_id: str | None
    url: str | None


class QueryClosest(_Camel):
    """A retrieved passage near a question that was not answered."""

    doc_id: str | None
    title: str
    section: str | None
    page: int | None
    url: str | None
    quote: str = Field(description="The words of the passage that fit the question best.")
    start: int = Field(description="Where they begin in the passage, in characters.")
    end: int
    score: float | None = Field(description="The passage's similarity to the question, 0 to 1; null where unknown.")


class QueryConfidence(_Camel):
    """How far the answer can be trusted."""

    level: Annotated[Literal["High", "Medium", "Low"], BeforeValidator(_level)]
    score: float = Field(description="0 to 1; determines the level.")
    reason: str = Field(examples=["7 relevant sources with 3 citations"])
    factors: _CamelKeys[float]


class QueryModeration(_Camel):
    """The moderator's verdict on the question."""

    result: Literal["allowed", "flagged", "failed"] = Field(description="failed: no verdict in time.")
    categories: list[str]


class QuerySafety(_Camel):
    """What the checks of question, passages and answer found."""

    action: Literal["none", "guarded", "blocked"]
    reason: str | None
    redacted: list[str] = Field(description="Kinds of personal data that were removed from the question.")
    injection: float = Field(description="How likely the question is an attack, 0 to 1.")
    passages_dropped: int
    links_removed: int = Field(description="Links, images and tags that were removed from the answer.")
    moderation: QueryModeration | None = Field(None, description="Null if no moderator was asked.")


class QueryMetadata(_Camel):
    """Details of the run; times in milliseconds, usage in tokens."""

    query: str
    search_query: str
    chunks_retrieved: int
    chunks_used: int
    latency_ms: float
    timings_ms: dict[str, float]
    model: str | None
    usage: _CamelKeys[int] | None
    finish_reason: str | None
    cache: str | None
    trace_id: str | None
    intent: str | None = Field(None, description="Topic of a question that no document answers.")
    safety: QuerySafety | None = Field(description="What the safety checks found; null if SAFETY_ENABLED is off.")


class QueryAnswer(_Camel):
    """A cited answer and how far it can be trusted."""

    answer: str = Field(description="Markdown.", examples=["It is 9 % [GST Guide > Rate]."])
    outcome: Outcome
    sources: list[QuerySource]
    related_docs: list[QueryRelatedDocument]
    closest: list[QueryClosest] = Field(description="At most three, if there is no sure answer.")
    unsupported: list[tuple[int, int]] = Field(
        [], description="Ranges of the answer's sentences that no passage supports."
    )
    draft: str = Field("", description="What the model wrote, if no passage supports any of it; otherwise empty.")
    citations: list[QueryCitation]
    confidence: QueryConfidence | None = Field(description="Null for small talk, questions back and redirections.")
    metadata: QueryMetadata


def query_answer(answer: Answer) -> QueryAnswer:
    """Return the answer as the Waypoint contract names its fields."""
    matched = [citation for citation in answer["citations"] if citation["matched"]]
    return QueryAnswer.model_validate(answer | {"citations": matched})


class QueryBody(BaseModel):
    """A question; `topK` and `threshold` override the settings for this question."""

    model_config = ConfigDict(alias_generator=to_camel)

    query: str = Field(examples=["Which permits for cosmetics to Indonesia?"], json_schema_extra=QUERY_SCHEMA)
    top_k: TopK | None = None
    threshold: Threshold | None = None
    history: History
    session_id: SessionId = None
    language: str | None = Field(None, **LANGUAGE_SCHEMA)


router = APIRouter(
    tags=["Waypoint"],
    route_class=bad_request_route(
        "a JSON object with a query", {"query": "Query parameter is required and must be a string"}
    ),
)
_RESPONSES = error_responses(400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504)
_RESPONSES |= ok_response(query_answer(ANSWER).model_dump(by_alias=True))


@router.post("/api/query", responses=_RESPONSES)
async def query(request: Request, body: QueryBody) -> QueryAnswer:
    """Answer one question, with citations, sources, related documents and confidence."""
    options: dict[str, Any] = {"top_k": body.top_k, "threshold": body.threshold, "session_id": body.session_id}
    options |= {"history": body.history or None, "language": body.language or None}
    chosen = {name: value for name, value in options.items() if value is not None}
    question = {"question": check_question(body.query, QUERY_MAX_CHARACTERS), **chosen}
    answer = await request.app.state.services.chain.ainvoke(question, run_config(request, session_id=body.session_id))
    return query_answer(answer)
