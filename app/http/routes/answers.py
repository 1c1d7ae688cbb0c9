"""The contracts of Waypoint and MARP: questions, feedback, passages without an answer, health, conversations."""

from collections.abc import Sequence
from functools import cache, reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from fastapi import APIRouter, Path, Request, Response
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel
from starlette.concurrency import run_in_threadpool
from typing_extensions import get_type_hints, is_typeddict

from app.adapters.identity import Scope
from app.edge import matched, numbered_places, word_of_three
from app.http import questions
from app.http.errors import RequestRefusedError
from app.http.openapi import ANSWER, ok_response
from app.http.policy import Policy
from app.http.routes.health import PROBE, Health, health_of
from app.ports import NotTheAskerError
from app.wiring.chain import safe_text
from chains.around import owner_of
from chains.documents.naming import place_in, source_urls
from chains.errors import VectorStoreError
from chains.logs import get_logger, masked
from chains.question import QUERY_MAX_CHARACTERS, QUESTION_MAX_CHARACTERS, check_question, question_with
from chains.retrieval.filters import QuestionFilters
from chains.state import Answer, Confidence, Metadata

log = get_logger(__name__)
_Value = TypeVar("_Value")
_CamelKeys = Annotated[
    dict[str, _Value], AfterValidator(lambda values: {to_camel(name): value for name, value in values.items()})
]


class _Camel(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        json_schema_serialization_defaults_required=True,  # Every field is sent.
    )


# Fields that differ from the record's; None leaves one out.
_OWN: dict[Any, dict[str, Any]] = {
    Answer: {"question": None, "documents": None},
    Confidence: {
        "level": (Annotated[Literal["High", "Medium", "Low"], BeforeValidator(word_of_three)], ...),
        "factors": (_CamelKeys[float], ...),
    },
    Metadata: {"usage": (_CamelKeys[int] | None, ...)},
}


@cache
def camel_model(record: Any) -> Any:
    """Return a record of the chain's state, and the records in it, as a model with names in camelCase."""
    fields = dict(_OWN.get(record, {}))
    for name, hint in get_type_hints(record, include_extras=True).items():
        if name not in fields:
            origin: Any = get_origin(hint)
            is_optional = origin is NotRequired
            type_ = _with_models(get_args(hint)[0] if is_optional else hint)
            fields[name] = (type_ | None, None) if is_optional else (type_, ...)
    given: Any = {name: fields[name] for name in record.__annotations__ if fields[name] is not None}
    return create_model(f"Query{record.__name__}", __base__=_Camel, __doc__=record.__doc__.partition("\n")[0], **given)


def _with_models(hint: Any) -> Any:
    origin, args = get_origin(hint), get_args(hint)
    if origin is None or origin is Literal:
        return camel_model(hint) if is_typeddict(hint) else hint
    if origin is Annotated:
        return Annotated[(_with_models(args[0]), *hint.__metadata__)]
    inner = tuple(map(_with_models, args))
    return reduce(or_, inner) if origin in (Union, UnionType) else origin[inner]


QueryAnswer = camel_model(Answer)


def query_answer(answer: Answer) -> Any:
    return QueryAnswer.model_validate(answer | {"citations": matched(answer["citations"])})


class QueryBody(BaseModel):
    """A question; `topK` and `threshold` override the settings for this question."""

    model_config = ConfigDict(alias_generator=to_camel)

    query: str = Field(examples=["Which permits for cosmetics to Indonesia?"], json_schema_extra=questions.QUERY_SCHEMA)
    top_k: questions.TopK | None = None
    threshold: questions.Threshold | None = None
    history: questions.History
    session_id: questions.SessionId = None
    language: str | None = Field(None, **questions.LANGUAGE_SCHEMA)
    filters: QuestionFilters = None


waypoint_router = APIRouter(tags=["Waypoint"])
QUERIED_BODY = {"": "a JSON object with a query", "query": "Query parameter is required and must be a string"}
_QUERIED = ok_response(query_answer(ANSWER).model_dump(by_alias=True))


@waypoint_router.post("/api/query", response_model=QueryAnswer, responses=_QUERIED)
@Policy(invalid=QUERIED_BODY)
async def query(request: Request, body: QueryBody) -> Any:
    """Answer one question, with citations, sources, related documents and confidence."""
    return query_answer(await asked(request, body))


async def asked(request: Request, body: QueryBody) -> Answer:
    """Return the chain's answer; QuestionError if the question or its filters cannot be read."""
    options = {name: value for name, value in body if name != "query"}
    question = question_with(check_question(body.query, QUERY_MAX_CHARACTERS), **options)
    config = questions.run_config(request, session_id=body.session_id)
    answer: Answer = await request.app.state.services.chain.ainvoke(question, config)
    return answer


Session = Annotated[
    str, Path(min_length=1, max_length=questions.SESSION_MAX_CHARACTERS, description="Its `session_id`.")
]


@waypoint_router.delete("/api/sessions/{session_id}", status_code=204, response_description="Deleted.")
async def forget(request: Request, session_id: Session) -> Response:
    """Delete the conversation with this id. Ids belong to their caller."""
    await request.app.state.services.conversations.delete(session_id, owner_of(questions.run_config(request)))
    return Response(status_code=204)


COMMENT_MAX_CHARACTERS = 2000
OTHERS = "Only the user who asked can rate this answer, signed in as then."
NOT_KEPT = "Feedback cannot be stored at the moment. Try again later, or contact support."


class FeedbackBody(BaseModel):
    """What a user thinks of an answer."""

    trace_id: UUID = Field(description="From the metadata of the answer.")
    score: Annotated[float, Field(strict=True)] = Field(ge=-1, le=1, description="From -1 (bad) to 1 (good).")
    comment: str | None = Field(None, max_length=COMMENT_MAX_CHARACTERS, examples=["The link is out of date."])


class FeedbackAccepted(BaseModel):
    """The feedback is accepted; receivers of events and traces get it in the background."""

    status: Literal["accepted"] = "accepted"
    kept: bool = Field(description="Whether it is stored with its answer; not if answers are not logged, or no longer.")


@waypoint_router.post("/api/feedback", status_code=202, response_description="Accepted")
@Policy(access=Scope.FEEDBACK, invalid={"": "a JSON object with a trace_id and a score"})
async def feedback(request: Request, body: FeedbackBody) -> FeedbackAccepted:
    """Store a score for an answer, with an optional comment."""
    services, identity = request.app.state.services, questions.identity_of(request)
    body = body.model_copy(update={"comment": body.comment and safe_text(services.settings, body.comment)})
    is_stored = False
    if services.answer_log is not None:  # If that fails, the feedback is accepted only where another receiver takes it.
        caller = {"user_id": identity.user_id, "audience": identity.audience}
        rate, others = services.answer_log.rate, services.index.outbox or services.tracing.scores
        try:
            is_stored = await run_in_threadpool(rate, str(body.trace_id), body.score, body.comment, **caller)
        except NotTheAskerError:
            raise RequestRefusedError(403, OTHERS) from None
        except VectorStoreError as error:
            log.error("feedback_not_kept", error=str(error))
            if not others:
                raise RequestRefusedError(503, NOT_KEPT) from None
    if services.index.outbox:
        correlation_id = getattr(request.state, "request_id", None) or str(uuid4())
        payload = {"traceId": str(body.trace_id), "score": body.score, "comment": body.comment}
        payload = {name: value for name, value in (payload | {"userId": identity.user_id}).items() if value is not None}
        services.index.outbox.publish("FeedbackReceived", payload, correlation_id=correlation_id)
    if services.tracing.scores:
        services.tracing.scores.put(body.model_dump())
    log.info("feedback", trace_id=str(body.trace_id), score=body.score)
    return FeedbackAccepted(kept=is_stored)


_URL = "https://example.org/regulations.pdf"


class ChatBody(BaseModel):
    """A question to answer from the `top_k` best passages."""

    query: str = Field(examples=["What is the exam policy?"], json_schema_extra=questions.QUERY_SCHEMA)
    top_k: questions.ChatTopK = 8
    session_id: questions.SessionId = None
    model_id: str | None = Field(None, description="Model that answers: one of LLM_ALLOWED_MODELS; default: LLM_MODEL.")


class ChatCitation(BaseModel):
    """The source that a number in the answer stands for."""

    title: str = Field(examples=["General Regulations"])
    page: int = Field(description="0 where the document has no pages.", examples=[15])
    url: str = Field(description="Empty where the document is internal.", examples=[_URL])


class ChatAnswer(BaseModel):
    """The answer with markers `[1]`, `[2]`, and the source of each, in the order of the numbers."""

    query: str = Field(examples=["What is the exam policy?"])
    answer: str = Field(examples=["Illness has to be reported to the department [1]."])
    citations: list[ChatCitation]


class ChatHealth(Health):
    """What the MARP contract's health check adds."""

    service: Literal["ChatService"] = "ChatService"
    retrieval_url: str = Field(
        description="The retrieval service or Chroma server in use, or `in-process`.", examples=["http://chroma:8000"]
    )
    openrouter_configured: bool = Field(description="Whether OpenRouter answers the questions.")
    llm_configured: bool = Field(description="Whether any language model is configured; otherwise evidence is quoted.")
    model: str = Field(examples=["llama-3.1-8b-instant"])


def chat_router(models: Sequence[str]) -> APIRouter:
    """Return the routes; a client may choose from `models`."""
    router = APIRouter(tags=["MARP"])
    choice: Any = Literal[tuple(models)]
    default = ChatBody.model_fields["model_id"]
    body = create_model("ChatBody", __base__=ChatBody, __doc__=ChatBody.__doc__, model_id=(choice | None, default))
    chat.__annotations__["body"] = body  # The allowed models are known when the service starts.
    router.add_api_route("/chat", chat, methods=["POST"], response_description="The answer")
    router.add_api_route("/health", health, methods=["GET"], response_description="Up")
    return router


@Policy(errors="marp")
async def chat(request: Request, body: Any) -> ChatAnswer:
    """Answer one question with numbered citations."""
    chain = request.app.state.services.numbered_chain(body.model_id)
    query = check_question(body.query, QUERY_MAX_CHARACTERS)
    question = question_with(query, top_k=body.top_k, session_id=body.session_id)
    answer = await chain.ainvoke(
        question, questions.run_config(request, session_id=body.session_id, model_id=body.model_id)
    )
    places = [
        ChatCitation(title=place["title"], page=place["page"] or 0, url=place["url"] or "")
        for place in numbered_places(answer)
    ]
    return ChatAnswer(query=body.query, answer=answer["answer"].strip(), citations=places)


@PROBE
async def health(request: Request) -> ChatHealth:
    """Return that the service is up, and which model and retrieval it uses."""
    settings = request.app.state.services.settings
    configured = settings.llm.provider != "offline"
    chroma = f"http{'s' if settings.chroma.ssl else ''}://{settings.chroma.host}:{settings.chroma.port}"
    server = "postgresql" if settings.store.kind == "postgres" else chroma
    here = server if settings.asks_a_server else "in-process"
    host = urlsplit(settings.llm.base_url or "").hostname or ""
    is_openrouter = settings.llm.provider == "openrouter" or f".{host}".endswith(".openrouter.ai")
    return ChatHealth(
        **health_of(request).model_dump(),
        retrieval_url=str(masked(settings.retrieval.url or here)),
        openrouter_configured=configured and is_openrouter,
        llm_configured=configured,
        model=settings.llm.model if configured else "offline",
    )


# Metadata of a passage beyond the contract: what a citation needs, and its audience.
EXTRA_METADATA = (
    *("section", "section_path", "category", "jurisdiction", "source_org", "source_type", "last_updated"),
    *("audience", "start_char", "end_char"),
)

search_router = APIRouter(tags=["MARP"])


class SearchBody(BaseModel):
    """What to search for; no minimum score applies."""

    query: str = Field(
        examples=["What is the exam policy?"],
        json_schema_extra=questions.QUERY_SCHEMA | {"maxLength": QUESTION_MAX_CHARACTERS},
    )
    top_k: questions.TopK = 5
    audience: Literal["public"] | None = Field(None, description="Excludes documents that only staff may see.")
    filters: QuestionFilters = None


class SearchResult(BaseModel):
    """A passage, with its place in the document and its similarity to the query."""

    text: str = Field(examples=["Illness has to be reported to the department."])
    document_id: str = Field(examples=["regulations"])
    chunk_index: int
    title: str = Field(examples=["General Regulations"])
    page: int = Field(description="0 where the document has no pages.", examples=[15])
    url: str = Field(description="The first URL of its source; empty if the document is internal.", examples=[_URL])
    score: float | None = Field(description="0 to 1; null where the retriever gives none.", examples=[0.71])
    source_urls: list[str] = Field(examples=[[_URL]])
    metadata: dict[str, Any] = Field(examples=[{"section": "Illness", "audience": "public"}])


class SearchResults(BaseModel):
    """The passages, best first, without duplicates."""

    query: str = Field(examples=["What is the exam policy?"])
    results: list[SearchResult]


@search_router.post("/search", response_description="The passages")
@Policy(invalid={"": "a JSON object with a query"})
async def search_passages(request: Request, body: SearchBody) -> SearchResults:
    """Return the passages nearest to the query that the caller may see."""
    config = questions.run_config(request)
    if body.audience == "public":
        config["configurable"]["audience"] = "public"
    search = request.app.state.services.answerer.search
    passages = await search(body.query, config, top_k=body.top_k, filters=body.filters)
    results = []
    for passage in passages:
        metadata, place = passage["metadata"], place_in(passage["metadata"])
        result = SearchResult(
            text=passage["content"],
            document_id=place["doc_id"] or "",
            chunk_index=int(metadata.get("chunk_index") or 0),
            title=place["title"],
            page=place["page"] or 0,
            url=place["url"] or "",
            score=passage["score"],
            source_urls=source_urls(metadata.get("source_urls")),
            metadata={name: metadata[name] for name in EXTRA_METADATA if name in metadata},
        )
        results.append(result)
    return SearchResults(query=body.query, results=results)
