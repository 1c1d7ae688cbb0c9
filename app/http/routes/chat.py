"""POST /chat and GET /health, the MARP contract: numbered citations, and the models that a deployment allows."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs
from pydantic import BaseModel, Field, create_model

from app.http.errors import documented, observed_problem, problem_response
from app.http.examples import answered_with
from app.http.routes.health import HEALTH, Health, health_of
from app.http.routes.options import ChatTopK
from app.http.run_config import config_of
from chains.errors import WaypointError
from chains.state import QUESTION_MAX_CHARACTERS, QUESTION_PATTERN, Answer, check_question


class ChatRoute(APIRoute):
    """A route whose errors carry `detail` as well: the clients of this contract look there."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's own handler, this project's errors translated."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except WaypointError as error:
                problem = observed_problem(request, error)
                return problem_response(problem, detail=problem.message)

        return answer


class ChatBody(BaseModel):
    """A question to answer from the `top_k` best passages."""

    query: str = Field(
        examples=["What is the exam policy?"],
        json_schema_extra={"minLength": 1, "maxLength": QUESTION_MAX_CHARACTERS, "pattern": QUESTION_PATTERN},
    )
    top_k: ChatTopK = 8
    session_id: str | None = Field(None, max_length=200, description="Passed on to events and traces.")
    model_id: str | None = Field(None, description="Who answers: one of LLM_ALLOWED_MODELS, by default LLM_MODEL.")


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
    """What the MARP contract's health check says beside that the service is up."""

    service: Literal["ChatService"] = "ChatService"
    retrieval_url: str = Field(description="The Chroma server, or `in-process`.")
    openrouter_configured: bool = Field(description="Whether a language model is configured.")
    model: str


_ERRORS = documented(400, 401, 403, 408, 413, 429, 500, 502, 503, 504, detail="") | documented(422)
_EXAMPLE = {
    "query": "What is the exam policy?",
    "answer": "Illness has to be reported to the department [1].",
    "citations": [{"title": "General Regulations", "page": 15, "url": "https://example.org/regulations.pdf"}],
}
_HEALTH = HEALTH | {
    "service": "ChatService",
    "retrieval_url": "http://chroma:8000",
    "openrouter_configured": True,
    "model": "llama-3.1-8b-instant",
}


def chat_router(models: Sequence[str]) -> APIRouter:
    """Return the routes; `models` are what a client may choose from."""
    router = APIRouter(tags=["MARP"], route_class=ChatRoute)
    choice: Any = Literal[tuple(models)]
    default = ChatBody.model_fields["model_id"]
    body = create_model("ChatBody", __base__=ChatBody, __doc__=ChatBody.__doc__, model_id=(choice | None, default))
    chat.__annotations__["body"] = body  # What may be chosen is known when the service starts.
    router.add_api_route("/chat", chat, methods=["POST"], responses=_ERRORS | answered_with(_EXAMPLE))
    router.add_api_route("/health", health, methods=["GET"], responses=answered_with(_HEALTH, "Up"))
    return router


async def chat(request: Request, body: Any) -> ChatAnswer:
    """Answer one question with numbered citations."""
    chain = request.app.state.services.numbered_chain(body.model_id)
    question = {"question": check_question(body.query), "top_k": body.top_k}
    answer = await chain.ainvoke(question, _config(request, session_id=body.session_id, model_id=body.model_id))
    return ChatAnswer(query=body.query, answer=answer["answer"].strip(), citations=numbered_citations(answer))


def _config(request: Request, **told: str | None) -> RunnableConfig:
    metadata = {name: value for name, value in told.items() if value is not None}
    return merge_configs(config_of(request), {"metadata": metadata})


def numbered_citations(answer: Answer) -> list[ChatCitation]:
    """Return the source of each number in the answer; a place in the list is a number, so none is left out."""
    by_number: dict[int, ChatCitation] = {}
    for citation in sorted(answer["citations"], key=lambda citation: not citation["matched"]):
        if citation["number"] is not None:
            urls = citation["source_urls"]
            source = ChatCitation(title=citation["title"], page=citation["page"] or 0, url=urls[0] if urls else "")
            by_number.setdefault(citation["number"], source)
    return [source for _, source in sorted(by_number.items())]


async def health(request: Request) -> ChatHealth:
    """Return that the service is up, and what it works with."""
    settings = request.app.state.services.settings
    scheme = "https" if settings.chroma_ssl else "http"
    server = f"{scheme}://{settings.chroma_host}:{settings.chroma_port}" if settings.chroma_host else "in-process"
    return ChatHealth(
        **health_of(request).model_dump(),
        retrieval_url=server,
        openrouter_configured=settings.provider != "offline",
        model=settings.llm_model if settings.provider != "offline" else "offline",
    )
