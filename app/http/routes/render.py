"""POST /page/render: an answer, complete or still streaming, as safe HTML."""

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from app.http.policy import KILOBYTE, Policy, no_question
from app.http.routes.json_route import bad_request_route
from app.http.routes.page import language_of
from app.web import answer
from app.web.parts import questions_of

router = APIRouter(include_in_schema=False, route_class=bad_request_route("a JSON object with an answer"))

# Ten times a default answer; parsing markdown is quadratic in the worst case.
ANSWER_MAX_CHARACTERS = 20_000

Offset = Annotated[int, Field(ge=0)]


class MarkedCitation(BaseModel):
    """The fields of a citation that a chip needs."""

    start: Offset
    end: Offset
    number: int | None = None
    title: str = ""
    section: str | None = None
    page: int | None = None
    doc_id: str | None = None
    matched: bool = False
    attributed: bool = False


class RenderBody(BaseModel):
    """An answer as received; `final` if it is complete and its citations are known. `question` is what was asked."""

    answer: str = Field(max_length=ANSWER_MAX_CHARACTERS)
    citations: list[MarkedCitation] = Field(default_factory=list, max_length=500)
    final: bool = True
    question: str = Field("", max_length=ANSWER_MAX_CHARACTERS)


class Rendered(BaseModel):
    """The HTML, the number that each citation has in it, and how many characters of the answer it shows.

    `parts` is how many questions the message holds.
    """

    html: str
    numbers: list[int | None]
    length: int
    parts: int


@router.post("/page/render")
@Policy(body_bytes=64 * KILOBYTE, questions=no_question, drained=False)
def render(request: Request, body: RenderBody) -> Rendered:
    """Return the HTML of an answer."""
    language, questions = language_of(request), questions_of(body.question)
    parts = max(1, len(questions))
    if not body.final:
        html, length = answer.render_growing(body.answer, questions=questions, language=language)
        return Rendered(html=html, numbers=[], length=length, parts=parts)
    citations = [citation.model_dump() for citation in body.citations]
    html, numbers = answer.render(body.answer, citations, questions=questions, language=language)
    return Rendered(html=html, numbers=numbers, length=len(body.answer), parts=parts)
