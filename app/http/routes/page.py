"""The page's routes. GET /: the page; /embed: the page in a frame; /widget.js: a script that embeds it; /static; /icon.

POST /page/render: an answer, complete or still streaming, as safe HTML; POST /sign-in and /sign-out: the page's cookie;
GET /api/me: the caller and its permissions.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, with_config
from starlette.responses import HTMLResponse
from typing_extensions import TypedDict

from app.adapters.identity import Identity, Scope
from app.edge import word_of_three
from app.http.errors import RequestRefusedError
from app.http.middleware.security import COOKIE, EMBED_HEADER, caller_with, page_policy
from app.http.policy import KILOBYTE, Policy, no_question
from app.web import answer, assets, document, view, words
from app.web.markdown import questions_of
from app.wiring import Service
from app.wiring.storage import sample_corpus
from chains.documents.audience import Audience
from chains.errors import ConfigurationError, IngestionError
from chains.question import QUERY_MAX_CHARACTERS, QUESTION_MAX_CHARACTERS
from chains.regular_files import read_text
from chains.safe_yaml import YamlError, read_values

EXAMPLES, TEAMS, OWNER, LOGOS = "examples.yaml", "teams.yaml", "page.yaml", ("logo.svg", "logo.png")
MOST_EXAMPLES = 12

_Question = Annotated[str, Field(min_length=1, max_length=QUERY_MAX_CHARACTERS)]
_Words = Annotated[str, Field(min_length=1, max_length=200)]


@with_config({"extra": "forbid"})
class Example(TypedDict):
    """A question that the page offers, and the document that answers it, by its id; `sure` if only while it does."""

    question: _Question
    document: NotRequired[str]
    sure: NotRequired[bool]


@with_config({"extra": "forbid"})
class Team(TypedDict):
    """A team and its contact: an e-mail address, a telephone number, a channel."""

    name: _Words
    contact: NotRequired[_Words]


@with_config({"extra": "forbid"})
class Owner(TypedDict):
    """What stands in the page's header and title, and above its first question."""

    name: NotRequired[Annotated[str, Field(min_length=1, max_length=80)]]
    greeting: NotRequired[Annotated[str, Field(max_length=200)]]


Examples = Mapping[str, Sequence[str | Example]]
"""The questions of each language."""
Present = Callable[[Collection[str]], Collection[str]]

# What each file holds, and how that is written.
_FORMS: dict[str, tuple[TypeAdapter[Any], str]] = {
    EXAMPLES: (
        TypeAdapter(dict[str, Annotated[list[_Question | Example], Field(max_length=MOST_EXAMPLES)]]),
        f"`en: [What is GST?]`, at most {MOST_EXAMPLES} questions in each language",
    ),
    TEAMS: (
        TypeAdapter(dict[str, Team]),
        "`regulatory: {name: Customs desk, contact: customs@example.com}`, and `other` for everything else",
    ),
    OWNER: (TypeAdapter(Owner), "`name: Ask the clinic`, `greeting: What do you want to know?`"),
}


def read_page_file(name: str, file: Path | None) -> Any:
    """Return the content of a file, or of the sample's of that name; ConfigurationError if it is not of its form."""
    file, (adapter, form) = file or sample_corpus() / name, _FORMS[name]
    try:
        return adapter.validate_python(read_values(read_text(file)))
    except (IngestionError, YamlError, ValidationError) as error:
        issue = error.errors()[0] if isinstance(error, ValidationError) else None
        detail = " ".join(str(f"{issue['loc']}: {issue['msg']}" if issue else error).split())
        msg = f"the page's file {str(file)!r} cannot be read ({detail}); {name} needs UTF-8 YAML like {form}"
        raise ConfigurationError(msg) from error


def offered(examples: Examples, language: str, present: Present, is_sure: Callable[[str], bool] = bool) -> list[str]:
    """Return the questions in a language that can be answered: from `present` documents, and surely where they ask."""
    questions = [Example(question=each) if isinstance(each, str) else each for each in examples.get(language, [])]
    named = [each["document"] for each in questions if "document" in each]
    available = present(named) if named else ()
    answerable = [each for each in questions if "document" not in each or each["document"] in available]
    return [each["question"] for each in answerable if not each.get("sure") or is_sure(each["question"])]


def file_in(folder: Path | None, *names: str) -> Path | None:
    files = (folder / name for name in names if folder is not None)
    return next((file for file in files if file.is_file()), None)


A_YEAR_S = 365 * 24 * 3600
READ = ["GET", "HEAD"]
router = APIRouter(include_in_schema=False)
OPEN = Policy(access="open")


def page_router(services: Service) -> APIRouter:
    """Return the page's routes. They hold no data, so they are open to everybody."""
    settings, anonymous, library = services.settings, services.access.anonymous, services.index.library
    is_remote = settings.retrieval.url is not None
    examples: Examples = read_page_file(EXAMPLES, file_in(settings.web.page, EXAMPLES))
    if settings.llm.provider == "offline":  # It reads no other language.
        examples = {"en": examples.get("en", [])}
    own_teams = file_in(settings.web.page, TEAMS)
    teams = read_page_file(TEAMS, own_teams)
    audience = anonymous.audience if anonymous else "public"
    named = file_in(settings.web.page, OWNER)
    owner: Owner = read_page_file(OWNER, named) if named else Owner()
    logo = file_in(settings.web.page, *LOGOS) or assets.FOLDER / "icon.svg"
    icon = assets.asset(logo.read_bytes(), logo.suffix.lower())
    pages = APIRouter(include_in_schema=False)

    @lru_cache(maxsize=2 * MOST_EXAMPLES)
    def is_sure(question: str, seen: Audience, version: object) -> bool:
        """Return whether the answer of this version of the index is sure; a language model is not asked for that."""
        if settings.llm.provider != "offline":
            return True
        pipeline = services.answerer.pipeline(settings.llm.model)
        rated = pipeline.invoke({"question": question}, {"configurable": {"audience": seen}})["confidence"]
        return rated is not None and word_of_three(rated["level"]) != "Low"

    @pages.api_route("/", methods=READ)
    @pages.api_route("/embed", methods=READ)
    @OPEN
    def page(request: Request) -> Response:
        embedded = request.scope["route"].path == "/embed"
        query, language, theme = request.query_params, language_of(request), request.cookies.get("theme", "")
        seen: Audience = "public" if embedded else audience
        # The sample corpus's teams are those of its documents alone.
        are_ours = own_teams is not None or (not is_remote and all(map(library.is_sample, library.current().sources())))
        tried = partial(is_sure, seen=seen, version=None if is_remote else library.current().version)
        visit = view.Visit(
            name=owner.get("name", "Waypoint Co-Pilot"),
            language=language,
            greeting=owner.get("greeting", ""),
            theme=theme if theme in view.THEMES else "system",
            embedded=embedded,
            question=next(filter(None, query.getlist("question")), "")[:QUESTION_MAX_CHARACTERS],
            examples=offered(examples, language, lambda ids: () if is_remote else library.present(ids, seen), tried),
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
    @pages.api_route("/widget.js", methods=READ)
    @pages.api_route("/icon", methods=READ)
    @OPEN
    async def file(request: Request) -> Response:
        is_icon = request.scope["route"].path == "/icon"
        return _file(request, icon if is_icon else view.widget(), lasting=False)

    @pages.api_route("/static/{path:path}", methods=READ)
    @OPEN
    async def static(request: Request, path: str) -> Response:
        asset, lasting = assets.find(path)
        if asset is None:
            raise HTTPException(404)
        return _file(request, asset, lasting=lasting)

    return pages


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

    `closest` is the HTML of each closest passage.
    """

    html: str
    numbers: list[int | None]
    length: int
    closest: list[str] = Field(default_factory=list)


@router.post("/page/render")
@Policy(body_bytes=64 * KILOBYTE, questions=no_question, drained=False, invalid={"": "a JSON object with an answer"})
def render(request: Request, body: RenderBody) -> Rendered:
    language, questions = language_of(request), questions_of(body.question)
    if not body.final:
        html, length = answer.render_growing(body.answer, questions=questions, language=language)
        return Rendered(html=html, numbers=[], length=length)
    citations = [citation.model_dump() for citation in body.citations]
    html, numbers = answer.render(body.answer, citations, questions=questions, language=language)
    closest = [document.passage(near.quote, near.marked, near.table_head) for near in body.closest]
    return Rendered(html=html, numbers=numbers, length=len(body.answer), closest=closest)


OWN: Any = {"key": COOKIE, "httponly": True, "samesite": "strict"}  # No script and no other site has it.


class SignInBody(BaseModel):
    """A session's token, or a key."""

    token: str


class Me(BaseModel):
    """The caller, and what the page needs to know about the service."""

    auth_mode: Literal["none", "public", "session", "api_key"]
    credential: Literal["session", "key"] | None
    signed_in: bool
    user_id: str | None
    email: str | None
    scopes: list[Scope]
    audience: Literal["public", "internal"]
    feedback: bool
    shares: bool
    model: str | None
    version: str


@router.post("/sign-in", status_code=204)
@Policy(access="own_page", questions=no_question, invalid={"": "a JSON object with a token"})
async def sign_in(request: Request, body: SignInBody) -> Response:
    """Store a valid token in a cookie that no script can read, until the browser is closed."""
    authenticator = request.app.state.services.access.authenticator
    if authenticator is None:
        raise RequestRefusedError(400, "This service needs no sign-in")
    await caller_with(authenticator, body.token.strip())
    response = Response(status_code=204)
    secure = request.url.scheme == "https"
    response.set_cookie(value=body.token.strip(), secure=secure, **OWN)
    return response


@router.post("/sign-out", status_code=204)
@Policy(access="own_page", questions=no_question)
def sign_out() -> Response:
    """Remove the cookie. The session itself is ended by the service that began it."""
    response = Response(status_code=204)
    response.delete_cookie(**OWN)
    return response


@router.get("/api/me")
@Policy(access="optional")
def me(request: Request, response: Response) -> Me:
    """Return the caller; an expired cookie is removed."""
    services, identity = request.app.state.services, getattr(request.state, "identity", None)
    if identity is None and COOKIE in request.cookies and EMBED_HEADER not in request.headers:
        response.delete_cookie(**OWN)
    identity = identity or services.access.anonymous or Identity()
    settings, authenticator = services.settings, services.access.authenticator
    return Me(
        auth_mode=settings.access.mode,
        credential=authenticator.credential if authenticator else None,
        signed_in=identity.user_id is not None,
        user_id=identity.user_id,
        email=identity.email,
        scopes=sorted(identity.scopes),
        audience=identity.audience,
        feedback=identity.may(Scope.FEEDBACK),
        shares=services.answer_log is not None,
        model=None if settings.llm.provider == "offline" else settings.llm.model,
        version=request.app.version,
    )
