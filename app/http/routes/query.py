"""The Waypoint contract: POST /api/query in camelCase, matched citations only; DELETE /api/sessions/{id} forgets."""

from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin

from fastapi import APIRouter, Path, Request, Response
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model
from pydantic.alias_generators import to_camel
from typing_extensions import get_type_hints

from app.edge import matched
from app.http.openapi import ANSWER, error_responses, ok_response
from app.http.questions import (
    LANGUAGE_SCHEMA,
    QUERY_SCHEMA,
    SESSION_MAX_CHARACTERS,
    History,
    JsonRoute,
    SessionId,
    Threshold,
    TopK,
    bad_request_route,
    run_config,
)
from chains.blocking import Moderation, SafetyReport
from chains.conversations import owner_of
from chains.question import QUERY_MAX_CHARACTERS, check_question
from chains.state import Answer, Citation, ClosestPassage, Confidence, Metadata, RelatedDocument, Source

_Value = TypeVar("_Value")
_CamelKeys = Annotated[
    dict[str, _Value], AfterValidator(lambda values: {to_camel(name): value for name, value in values.items()})
]

_LEVELS = {"high": "High", "medium": "Medium"}


def _level(name: str) -> str:
    """Return one of the three words that clients of this contract know; very_low and unknown are Low."""
    return _LEVELS.get(name.lower(), "Low")


class _Camel(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        json_schema_serialization_defaults_required=True,  # Every field is sent.
    )


_MODELS: dict[Any, Any] = {}


def _model(name: str, record: Any, **replaced: Any) -> Any:
    """Return a record of the chain's state as a model with names in camelCase.

    Make the models of nested records first. `replaced` gives fields of their own to some names; None leaves one out.
    """
    hints = get_type_hints(record, include_extras=True)
    fields = {field: _field(hint) for field, hint in hints.items() if field not in replaced} | replaced
    kept: Any = {field: given for field, given in fields.items() if given is not None}
    summary = record.__doc__.partition("\n")[0]
    _MODELS[record] = create_model(name, __base__=_Camel, __doc__=summary, **kept)
    return _MODELS[record]


def _field(hint: Any) -> tuple[Any, Any]:
    is_optional = get_origin(hint) is NotRequired
    return _with_models(get_args(hint)[0] if is_optional else hint), None if is_optional else ...


def _with_models(hint: Any) -> Any:
    """Return an annotation with the models in place of their records."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is None or origin is Literal:
        return _MODELS.get(hint, hint)
    if origin is Annotated:
        return Annotated[(_with_models(args[0]), *hint.__metadata__)]
    inner = tuple(map(_with_models, args))
    return reduce(or_, inner) if origin in (Union, UnionType) else origin[inner]


QueryCitation = _model("QueryCitation", Citation)
QuerySource = _model("QuerySource", Source)
QueryRelatedDocument = _model("QueryRelatedDocument", RelatedDocument)
QueryClosest = _model("QueryClosest", ClosestPassage)
QueryConfidence = _model(
    "QueryConfidence",
    Confidence,
    level=(Annotated[Literal["High", "Medium", "Low"], BeforeValidator(_level)], ...),
    factors=(_CamelKeys[float], ...),
)
QueryModeration = _model("QueryModeration", Moderation)
QuerySafety = _model("QuerySafety", SafetyReport)
QueryMetadata = _model("QueryMetadata", Metadata, usage=(_CamelKeys[int] | None, ...))
QueryAnswer = _model("QueryAnswer", Answer, question=None, documents=None)


def query_answer(answer: Answer) -> Any:
    """Return the answer as the Waypoint contract names its fields."""
    return QueryAnswer.model_validate(answer | {"citations": matched(answer["citations"])})


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


@router.post("/api/query", response_model=QueryAnswer, responses=_RESPONSES)
async def query(request: Request, body: QueryBody) -> Any:
    """Answer one question, with citations, sources, related documents and confidence."""
    return query_answer(await asked(request, body))


async def asked(request: Request, body: QueryBody) -> Answer:
    """Return the chain's answer.

    Raises:
        QuestionError: the question is empty or too long.
    """
    options: dict[str, Any] = {"top_k": body.top_k, "threshold": body.threshold, "session_id": body.session_id}
    options |= {"history": body.history or None, "language": body.language or None}
    chosen = {name: value for name, value in options.items() if value is not None}
    question = {"question": check_question(body.query, QUERY_MAX_CHARACTERS), **chosen}
    config = run_config(request, session_id=body.session_id)
    answer: Answer = await request.app.state.services.chain.ainvoke(question, config)
    return answer


sessions = APIRouter(tags=["Waypoint"], route_class=JsonRoute)
_FORGOTTEN = error_responses(400, 401, 403, 404, 422, 429, 500, 503)
_FORGOTTEN |= {204: {"description": "Deleted.", "content": {}}}

Session = Annotated[str, Path(min_length=1, max_length=SESSION_MAX_CHARACTERS, description="Its `session_id`.")]


@sessions.delete("/api/sessions/{session_id}", status_code=204, responses=_FORGOTTEN)
async def forget(request: Request, session_id: Session) -> Response:
    """Delete the conversation with this id. Ids belong to their caller."""
    await request.app.state.services.conversations.delete(session_id, owner_of(run_config(request)))
    return Response(status_code=204)
