"""POST /api/query, the Waypoint contract: camelCase in, camelCase out."""

import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from app.call import config_of
from chains.errors import QuestionError
from chains.state import Answer, check_question

router = APIRouter(tags=["Waypoint"])


class QueryBody(BaseModel):
    """The body of a query; `topK` and `threshold` override the settings for this question."""

    model_config = ConfigDict(alias_generator=to_camel, strict=True)

    query: str = Field(examples=["Which permits for cosmetics to Indonesia?"])
    top_k: int | None = Field(None, ge=1, le=100)
    threshold: float | None = Field(None, ge=0, le=1)
    history: list[dict[str, Any]] = Field(default_factory=list, max_length=50)


@router.post(
    "/api/query",
    openapi_extra={
        "requestBody": {"content": {"application/json": {"schema": QueryBody.model_json_schema()}}, "required": True}
    },
)
async def query(request: Request) -> JSONResponse:
    """Answer one question, with citations, sources, related documents and confidence."""
    question = await _question(request)
    answer = await request.app.state.services.chain.ainvoke(question, config_of(request))
    return JSONResponse(camel_case(answer))


async def _question(request: Request) -> dict[str, Any]:
    # Read by hand, because the contract's 400 messages differ from FastAPI's 422.
    try:
        values = json.loads(await request.body())
    except (ValueError, RecursionError):
        msg = "The body must be a JSON object with a query"
        raise QuestionError(msg) from None
    if not isinstance(values, dict):
        msg = "The body must be a JSON object with a query"
        raise QuestionError(msg)
    question = check_question(values.get("query"))
    try:
        body = QueryBody.model_validate({**values, "query": question})
    except ValidationError as error:
        raise QuestionError(_explain(error)) from None
    options = {"top_k": body.top_k, "threshold": body.threshold}
    return {"question": body.query} | {name: value for name, value in options.items() if value is not None}


def _explain(error: ValidationError) -> str:
    problem = error.errors()[0]
    return f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"


def camel_case(answer: Answer) -> dict[str, Any]:
    """Return the answer in the words of the Waypoint contract: matched citations only, no retrieved text."""
    matched = [citation for citation in answer["citations"] if citation["matched"]]
    shown = {name: answer[name] for name in ("answer", "outcome", "sources", "related_docs", "confidence", "metadata")}
    camel: dict[str, Any] = _camel(shown | {"citations": matched})
    return camel


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {to_camel(name): _camel(inner) for name, inner in value.items()}
    return [_camel(inner) for inner in value] if isinstance(value, list) else value
