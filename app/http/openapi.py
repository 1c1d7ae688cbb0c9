"""Describe the API at /openapi.json, with examples and authentication; show it at /docs and /redoc without a CDN."""

import json
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.docs import get_redoc_html, get_swagger_ui_html
from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema
from starlette.responses import HTMLResponse

from app.http.errors import ERROR_REPLIES, ErrorReply, error_content
from app.http.middleware.security import page_policy
from app.http.policy import SAFE_METHODS, Policies, Policy, no_question
from chains.state import Answer

# What the description says beyond the routes.
_API = json.loads((Path(__file__).parent / "api.json").read_text(encoding="utf-8"))
TAGS: list[dict[str, str]] = _API["tags"]
CONTENTS: dict[str, dict[str, Any]] = _API["contents"]  # Of responses that no model describes.
ANSWER: Answer = _API["answer"]
# How a caller authenticates in each mode; one of the schemes is enough.
SCHEMES: dict[str, dict[str, Any]] = _API["schemes"]

_MODELS = "#/components/schemas/"
_ISSUE = {"loc": ["body", "input", "question"], "msg": "Field required", "type": "missing"}
_EXAMPLES = {reply.status: reply.message for reply in ERROR_REPLIES.values()}
_EXAMPLES |= {int(status): message for status, message in _API["messages"].items()}


class ErrorBody(BaseModel):
    """What happened and what to do, without internal details."""

    error: str = Field(description="The status in words.")
    message: str = Field(description="What happened, and what to do.")


class ValidationIssue(BaseModel):
    """An invalid part of the request."""

    loc: list[str | int] = Field(description="Where it is.")
    msg: str
    type: str


class OpenAIError(BaseModel):
    """What happened and what to do, and the invalid field."""

    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIErrorBody(BaseModel):
    """An error in the form of OpenAI's."""

    error: OpenAIError


class InvalidBody(ErrorBody):
    """The invalid parts of a request."""

    detail: list[ValidationIssue]


def ok_response(example: Any, description: str = "The answer") -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of a success, with an example that its model cannot give."""
    return {200: {"description": description, "content": {"application/json": {"example": example}}}}


def _errors(policy: Policy, path: str, method: str, *, checked: bool) -> dict[str, Any]:
    """Return the description of the errors of a route; `checked` says whether FastAPI checks parameters or a body."""
    statuses = {401, 403, 500, 503, *policy.statuses} if not policy.is_open else set()
    statuses |= {400, 408, 413} if method not in SAFE_METHODS else set()
    statuses |= {422} if checked and policy.invalid is None else set()
    statuses |= {404} if "{" in path else set()
    statuses |= {429} if policy.pages or (method == "POST" and policy.questions is not no_question) else set()
    statuses |= {404, 502, 504} if method == "POST" and policy.questions is not no_question else set()
    described: dict[str, Any] = {}
    for status in sorted(statuses):
        is_invalid = status == HTTPStatus.UNPROCESSABLE_ENTITY
        reply = ErrorReply(status, _EXAMPLES[status], issues=[_ISSUE] if is_invalid else None)
        model = OpenAIErrorBody if policy.errors == "openai" else InvalidBody if is_invalid else ErrorBody
        content = {"schema": {"$ref": f"{_MODELS}{model.__name__}"}, "example": error_content(reply, policy.errors)}
        described[str(status)] = {"description": reply.error, "content": {"application/json": content}}
    return described


def describe(app: FastAPI, auth_mode: str) -> None:
    """Add errors and authentication when the description is first read: it takes longer than the start."""
    usual = app.openapi

    @cache
    def described() -> dict[str, Any]:
        description = usual()
        models = description["components"]["schemas"]
        for unused in ("HTTPValidationError", "ValidationError"):
            del models[unused]
        bodies: Any = [(model, "serialization") for model in (ErrorBody, InvalidBody, OpenAIErrorBody)]
        models |= models_json_schema(bodies, ref_template=f"{_MODELS}{{model}}")[1]["$defs"]
        schemes, policies = SCHEMES.get(auth_mode, {}), Policies(app.routes)
        if schemes:
            description["components"]["securitySchemes"] = schemes
        for path, methods in description["paths"].items():
            for method, operation in methods.items():
                responses = operation["responses"]
                policy = policies.find(path, method.upper())
                # FastAPI adds it where there is a body or a parameter.
                checked = responses.pop("422", None) is not None
                responses |= _errors(policy, path, method.upper(), checked=checked)
                if schemes and not policy.is_open:
                    operation["security"] = [{scheme: []} for scheme in schemes]
        return description

    app.openapi = described  # type: ignore[method-assign] # As FastAPI says.


_RUN = "0b6d7c0e-3f0a-4c39-9a43-9c7a1c1f7f3e"
_RUN_METADATA = {"run_id": _RUN, "feedback_tokens": []}
INVOKED = {"output": ANSWER, "metadata": _RUN_METADATA}
BATCHED = {"output": [ANSWER], "metadata": {"run_ids": [_RUN], "responses": [_RUN_METADATA]}}


FILES = "/static-offline-docs"  # Where fastapi-offline serves its files.
# ReDoc loads its vendor's logo from there; these pages must not contact other servers.
LOGO = b"https://cdn.redoc.ly/redoc/logo-mini.svg"

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def docs(request: Request) -> Response:
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
    script = files("fastapi_offline").joinpath("static/redoc.standalone.js").read_bytes()
    return Response(script.replace(LOGO, b""), media_type="text/javascript")


def _with_policy(page: HTMLResponse, **more: str) -> Response:
    page.headers["Content-Security-Policy"] = page_policy(bytes(page.body), **more)
    return page
