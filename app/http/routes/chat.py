"""POST /chat and GET /health, the MARP contract: numbered citations, and the models that a deployment allows."""

from collections.abc import Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, create_model

from app.edge import numbered_places
from app.http.openapi import error_responses, ok_response
from app.http.policy import Policy
from app.http.questions import QUERY_SCHEMA, ChatTopK, JsonRoute, SessionId, run_config
from app.http.routes.health import HEALTH, PROBE, Health, health_of
from chains.logs import masked
from chains.question import QUERY_MAX_CHARACTERS, check_question


class ChatBody(BaseModel):
    """A question to answer from the `top_k` best passages."""

    query: str = Field(examples=["What is the exam policy?"], json_schema_extra=QUERY_SCHEMA)
    top_k: ChatTopK = 8
    session_id: SessionId = None
    model_id: str | None = Field(None, description="Model that answers: one of LLM_ALLOWED_MODELS; default: LLM_MODEL.")


class ChatCitation(BaseModel):
    """The source that a number in the answer stands for."""

    title: str
    page: int = Field(description="0 where the document has no pages.", examples=[15])
    url: str = Field(description="Empty where the document is internal.")


class ChatAnswer(BaseModel):
    """The answer with markers `[1]`, `[2]`, and the source of each, in the order of the numbers."""

    query: str
    answer: str = Field(examples=["Illness has to be reported to the department [1]."])
    citations: list[ChatCitation]


class ChatHealth(Health):
    """What the MARP contract's health check adds."""

    service: Literal["ChatService"] = "ChatService"
    retrieval_url: str = Field(description="The retrieval service or Chroma server in use, or `in-process`.")
    openrouter_configured: bool = Field(description="Whether OpenRouter answers the questions.")
    llm_configured: bool = Field(description="Whether any language model is configured; otherwise evidence is quoted.")
    model: str


_ERRORS = error_responses(400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, detail="") | error_responses(422)
_EXAMPLE = {
    "query": "What is the exam policy?",
    "answer": "Illness has to be reported to the department [1].",
    "citations": [{"title": "General Regulations", "page": 15, "url": "https://example.org/regulations.pdf"}],
}
_HEALTH = HEALTH | {
    "service": "ChatService",
    "retrieval_url": "http://chroma:8000",
    "openrouter_configured": False,
    "llm_configured": True,
    "model": "llama-3.1-8b-instant",
}


def chat_router(models: Sequence[str]) -> APIRouter:
    """Return the routes; a client may choose from `models`."""
    router = APIRouter(tags=["MARP"], route_class=JsonRoute)
    choice: Any = Literal[tuple(models)]
    default = ChatBody.model_fields["model_id"]
    body = create_model("ChatBody", __base__=ChatBody, __doc__=ChatBody.__doc__, model_id=(choice | None, default))
    chat.__annotations__["body"] = body  # The allowed models are known when the service starts.
    router.add_api_route("/chat", chat, methods=["POST"], responses=_ERRORS | ok_response(_EXAMPLE))
    router.add_api_route("/health", health, methods=["GET"], responses=ok_response(_HEALTH, "Up"))
    return router


@Policy(errors="marp")
async def chat(request: Request, body: Any) -> ChatAnswer:
    """Answer one question with numbered citations."""
    chain = request.app.state.services.numbered_chain(body.model_id)
    question: dict[str, Any] = {"question": check_question(body.query, QUERY_MAX_CHARACTERS), "top_k": body.top_k}
    if body.session_id:
        question["session_id"] = body.session_id
    answer = await chain.ainvoke(question, run_config(request, session_id=body.session_id, model_id=body.model_id))
    places = [
        ChatCitation(title=place["title"], page=place["page"] or 0, url=place["url"] or "")
        for place in numbered_places(answer)
    ]
    return ChatAnswer(query=body.query, answer=answer["answer"].strip(), citations=places)


@PROBE
async def health(request: Request) -> ChatHealth:
    """Return that the service is up, and which model and retrieval it uses."""
    settings = request.app.state.services.settings
    configured = settings.provider != "offline"
    return ChatHealth(
        **health_of(request).model_dump(),
        retrieval_url=_retrieval_url(settings),
        openrouter_configured=configured and _is_openrouter(settings),
        llm_configured=configured,
        model=settings.llm.model if configured else "offline",
    )


def _retrieval_url(settings: Any) -> str:
    if settings.retrieval.url:
        return str(masked(settings.retrieval.url))
    if not settings.asks_a_server:
        return "in-process"
    if settings.store.kind == "postgres":
        return "postgresql"
    scheme = "https" if settings.chroma.ssl else "http"
    return f"{scheme}://{settings.chroma.host}:{settings.chroma.port}"


def _is_openrouter(settings: Any) -> bool:
    if settings.provider == "openrouter":
        return True
    host = urlsplit(settings.llm.base_url or "").hostname or ""
    return host == "openrouter.ai" or host.endswith(".openrouter.ai")
