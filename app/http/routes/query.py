"""POST /api/query, the Waypoint contract: camelCase in, camelCase out."""

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from app.http.errors import bad_request_route, documented, misfit_of
from app.http.examples import ANSWER, answered_with
from app.http.routes.answer import QueryAnswer, query_answer
from app.http.routes.history import History
from app.http.routes.options import Threshold, TopK
from app.http.run_config import config_of
from chains.state import QUESTION_MAX_CHARACTERS, QUESTION_PATTERN, check_question


def _explain(error: RequestValidationError) -> str:
    misfit = error.errors()[0]
    if misfit["loc"] == ("body", "query"):
        return "Query parameter is required and must be a string"
    if len(misfit["loc"]) == 1 or misfit["type"] == "json_invalid":
        return "The body must be a JSON object with a query"
    return misfit_of([misfit])


router = APIRouter(tags=["Waypoint"], route_class=bad_request_route(_explain))


class QueryBody(BaseModel):
    """A question; `topK` and `threshold` override the settings for this question."""

    model_config = ConfigDict(alias_generator=to_camel)

    query: str = Field(
        examples=["Which permits for cosmetics to Indonesia?"],
        json_schema_extra={"minLength": 1, "maxLength": QUESTION_MAX_CHARACTERS, "pattern": QUESTION_PATTERN},
    )
    top_k: TopK | None = None
    threshold: Threshold | None = None
    history: History


_EXAMPLE = query_answer(ANSWER).model_dump(by_alias=True)
_ERRORS = documented(400, 401, 403, 408, 413, 429, 500, 502, 503, 504)


@router.post("/api/query", responses=_ERRORS | answered_with(_EXAMPLE))
async def query(request: Request, body: QueryBody) -> QueryAnswer:
    """Answer one question, with citations, sources, related documents and confidence."""
    options = {"top_k": body.top_k, "threshold": body.threshold, "history": body.history or None}
    chosen = {name: value for name, value in options.items() if value is not None}
    question = {"question": check_question(body.query), **chosen}
    answer = await request.app.state.services.chain.ainvoke(question, config_of(request))
    return query_answer(answer)
