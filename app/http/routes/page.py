"""GET /: the page; /embed: the page in a frame; /widget.js: a script that embeds it; /static: its files; /icon.

POST /page/render: an answer, complete or still streaming, as safe HTML.
"""

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, Field
from starlette.responses import HTMLResponse

from app.http.middleware.browser_security import page_policy
from app.http.page_files import EXAMPLES, LOGOS, TEAMS, Examples, file_in, offered, owner_of, read_page_file
from app.http.policy import KILOBYTE, Policy, no_question
from app.web import answer, assets, document, view, words
from app.web.markdown import questions_of
from app.wiring import Service
from chains.documents.audience import Audience

A_YEAR_S = 365 * 24 * 3600
READ = ["GET", "HEAD"]
OPEN = Policy(access="open")


def page_router(services: Service) -> APIRouter:
    """Return the page's routes. They hold no data, so they are open to everybody."""
    settings, anonymous, library = services.settings, services.access.anonymous, services.index.library
    is_remote = settings.retrieval.url is not None
    examples: Examples = read_page_file(EXAMPLES, file_in(settings.web.page, EXAMPLES))
    if settings.provider == "offline":  # It reads no other language.
        examples = {"en": examples.get("en", [])}
    own_teams = file_in(settings.web.page, TEAMS)
    teams = read_page_file(TEAMS, own_teams)
    audience = anonymous.audience if anonymous else "public"
    most_characters = settings.web.question_characters
    owner = owner_of(settings.web.page)
    logo = file_in(settings.web.page, *LOGOS) or assets.FOLDER / "icon.svg"
    icon = assets.asset(logo.read_bytes(), logo.suffix.lower())
    router = APIRouter(include_in_schema=False)

    @router.api_route("/", methods=READ)
    @router.api_route("/embed", methods=READ)
    @OPEN
    def page(request: Request) -> Response:
        embedded = request.scope["route"].path == "/embed"
        query, language, theme = request.query_params, language_of(request), request.cookies.get("theme", "")
        seen: Audience = "public" if embedded else audience
        # The sample corpus's teams are those of its documents alone.
        are_ours = own_teams is not None or not (is_remote or library.holds_own_documents())
        visit = view.Visit(
            name=owner.get("name", "Waypoint Co-Pilot"),
            language=language,
            greeting=owner.get("greeting", ""),
            theme=theme if theme in view.THEMES else "system",
            embedded=embedded,
            question=next(filter(None, query.getlist("question")), "")[:most_characters],
            most_characters=most_characters,
            examples=offered(examples, language, lambda ids: () if is_remote else library.present(ids, seen)),
            teams=teams if are_ours else {},
        )
        microphone = "" if embedded else "self"  # For dictation, which the browser does.
        framed_by = settings.framing_origins if embedded else ()
        headers = {
            "Permissions-Policy": f"camera=(), geolocation=(), microphone=({microphone})",
            "Content-Security-Policy": page_policy(b"", framed_by=framed_by),
            "Content-Language": language,
            "Cache-Control": "no-cache",
            "Vary": "Accept-Language, Cookie",
        }
        response = HTMLResponse(view.render(visit), headers=headers)
        if query.get("lang") == language and not embedded:
            response.set_cookie("lang", language, max_age=A_YEAR_S, samesite="lax")
        return response

    # No I/O from here on: the files are in memory.
    @router.api_route("/widget.js", methods=READ)
    @router.api_route("/icon", methods=READ)
    @OPEN
    async def file(request: Request) -> Response:
        is_icon = request.scope["route"].path == "/icon"
        return _file(request, icon if is_icon else view.widget(), lasting=False)

    @router.api_route("/static/{path:path}", methods=READ)
    @OPEN
    async def static(request: Request, path: str) -> Response:
        asset, lasting = assets.find(path)
        if asset is None:
            raise HTTPException(404)
        return _file(request, asset, lasting=lasting)

    return router


def language_of(request: Request) -> str:
    """Return the visitor's language: from the address, the cookie, or the browser's preference."""
    accepted = request.headers.get("accept-language", "")
    return words.choose(request.query_params.get("lang"), request.cookies.get("lang"), accepted)


def insights_page(request: Request, found: Any, *, days: int) -> Response:
    language = language_of(request)
    headers = {"Content-Language": language, "Vary": "Accept, Accept-Language, Cookie"}
    return HTMLResponse(view.insights(found, days=days, language=language), headers=headers)


def _file(request: Request, asset: assets.Asset, *, lasting: bool) -> Response:
    """Return a file; an address with a version never changes, so it is cached for good."""
    caching = f"public, max-age={A_YEAR_S}, immutable" if lasting else "public, no-cache"
    smaller = "gzip" in request.headers.get("accept-encoding", "")
    etag = asset.etag.replace('"', '"gzip-', 1) if smaller else asset.etag
    headers = {"Cache-Control": caching, "ETag": etag, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    if smaller:
        headers["Content-Encoding"] = "gzip"
    return Response(asset.gzipped if smaller else asset.content, headers=headers, media_type=asset.media_type)


router = APIRouter(include_in_schema=False)

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


class DrawnPassage(BaseModel):
    """The fields of a closest passage that its drawing needs."""

    quote: str = Field(max_length=ANSWER_MAX_CHARACTERS)
    marked: str = Field("", max_length=ANSWER_MAX_CHARACTERS)
    table_head: str = Field("", max_length=ANSWER_MAX_CHARACTERS)


class RenderBody(BaseModel):
    """An answer as received; `final` if it is complete and its citations are known. `question` is what was asked."""

    answer: str = Field(max_length=ANSWER_MAX_CHARACTERS)
    citations: list[MarkedCitation] = Field(default_factory=list, max_length=500)
    closest: list[DrawnPassage] = Field(default_factory=list, max_length=10)
    final: bool = True
    question: str = Field("", max_length=ANSWER_MAX_CHARACTERS)


class Rendered(BaseModel):
    """The HTML, the number that each citation has in it, and how many characters of the answer it shows.

    `parts` is how many questions the message holds, `closest` the HTML of each closest passage.
    """

    html: str
    numbers: list[int | None]
    length: int
    parts: int
    closest: list[str] = Field(default_factory=list)


@router.post("/page/render")
@Policy(body_bytes=64 * KILOBYTE, questions=no_question, drained=False, invalid={"": "a JSON object with an answer"})
def render(request: Request, body: RenderBody) -> Rendered:
    """Return the HTML of an answer."""
    language, questions = language_of(request), questions_of(body.question)
    parts = max(1, len(questions))
    if not body.final:
        html, length = answer.render_growing(body.answer, questions=questions, language=language)
        return Rendered(html=html, numbers=[], length=length, parts=parts)
    citations = [citation.model_dump() for citation in body.citations]
    html, numbers = answer.render(body.answer, citations, questions=questions, language=language)
    closest = [document.passage(near.quote, near.marked, near.table_head) for near in body.closest]
    return Rendered(html=html, numbers=numbers, length=len(body.answer), parts=parts, closest=closest)
