"""GET /: the page, its files, and the script that puts it on somebody's page."""

from fastapi import APIRouter, HTTPException, Request, Response
from starlette.responses import HTMLResponse

from app.http.middleware.security_headers import page_policy
from app.web import assets, view, words
from chains.state import QUESTION_MAX_CHARACTERS

THEMES = ("system", "light", "dark")
A_YEAR_S = 365 * 24 * 3600

router = APIRouter(include_in_schema=False)


@router.api_route("/", methods=["GET", "HEAD"])
def page(request: Request) -> Response:
    """Return the page. It holds no data, so everybody may have it."""
    return _page(request)


def language_of(request: Request) -> str:
    """Return the code of the visitor's language: what the address asks for, was chosen before, or the browser wants."""
    asked, kept = request.query_params.get("lang"), request.cookies.get("lang")
    return words.choose(asked, kept, request.headers.get("accept-language", ""))


def _page(request: Request) -> Response:
    query, cookies, language = request.query_params, request.cookies, language_of(request)
    visit = view.Visit(
        language=language,
        theme=cookies["theme"] if cookies.get("theme") in THEMES else "system",
        question=next(filter(None, query.getlist("question")), "")[:QUESTION_MAX_CHARACTERS],
    )
    headers = {
        "Content-Security-Policy": page_policy(b""),
        "Cache-Control": "no-cache",
        "Content-Language": language,
        "Vary": "Accept-Language, Cookie",
    }
    response = HTMLResponse(view.render(visit), headers=headers)
    if query.get("lang") == language:
        response.set_cookie("lang", language, max_age=A_YEAR_S, samesite="lax")
    return response


@router.api_route("/static/{path:path}", methods=["GET", "HEAD"])
def static(request: Request, path: str) -> Response:
    """Return a file of the page; the address that the page names never holds anything else."""
    asset, lasting = assets.find(path)
    if asset is None:
        raise HTTPException(404)
    caching = f"public, max-age={A_YEAR_S}, immutable" if lasting else "public, no-cache"
    headers = {"Cache-Control": caching, "ETag": asset.etag}
    if request.headers.get("if-none-match") == asset.etag:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, headers=headers, media_type=asset.media_type)
