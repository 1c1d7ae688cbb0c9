"""GET /docs and /redoc: the description of the API as pages, from files that come with the package."""

from importlib.resources import files

from fastapi import APIRouter, Request, Response
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from starlette.responses import HTMLResponse

from app.http.middleware.security_headers import page_policy

FILES = "/static-offline-docs"  # Where fastapi-offline serves its files.
# ReDoc loads its vendor's logo from there; these pages must not contact other servers.
LOGO = b"https://cdn.redoc.ly/redoc/logo-mini.svg"

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def docs(request: Request) -> Response:
    """Return Swagger UI, where requests can be tried out."""
    root = request.scope.get("root_path", "")
    page = get_swagger_ui_html(
        openapi_url=f"{root}/openapi.json",
        title=f"{request.app.title} - Swagger UI",
        swagger_js_url=f"{root}{FILES}/swagger-ui-bundle.js",
        swagger_css_url=f"{root}{FILES}/swagger-ui.css",
        swagger_favicon_url=f"{root}{FILES}/favicon.png",
    )
    return _with_policy(page, img="data:")


@router.get("/redoc")
async def redoc(request: Request) -> Response:
    """Return ReDoc, which is for reading."""
    root = request.scope.get("root_path", "")
    page = get_redoc_html(
        openapi_url=f"{root}/openapi.json",
        title=f"{request.app.title} - ReDoc",
        redoc_js_url=f"{root}/redoc/redoc.js",
        redoc_favicon_url=f"{root}{FILES}/favicon.png",
        with_google_fonts=False,
    )
    # It writes inline styles, and searches in a worker from its own script.
    return _with_policy(page, style="'unsafe-inline'", img="data:", worker="blob:")


@router.get("/redoc/redoc.js")
def redoc_script() -> Response:
    """Return ReDoc's script without the address of the logo."""
    script = files("fastapi_offline").joinpath("static/redoc.standalone.js").read_bytes()
    return Response(script.replace(LOGO, b""), media_type="text/javascript")


def _with_policy(page: HTMLResponse, **more: str) -> Response:
    page.headers["Content-Security-Policy"] = page_policy(bytes(page.body), **more)
    return page
