"""LangServe at /copilot: the chain as a remote Runnable.

The clients and schemas are LangServe's, the routes FastAPI's: each call of a batch or a stream gets the config
of its request, a client that leaves ends the chain, and an error in a stream says what happened and what to do.

The playground at /copilot/playground/ is LangServe's own page over the same stream. It asks `stream_log`, which is
deprecated, exposes prompts, and is not served: the route `run` replaces it and sends the answer's words, and the other
fields as steps.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import uuid4

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from langchain_core.runnables import Runnable, RunnableConfig
from langserve.schema import BatchResponseMetadata, InvokeResponseMetadata
from pydantic import BaseModel, Field, ValidationError, WrapValidator, model_validator

from app.http import questions
from app.http.errors import logged_reply, reply_to
from app.http.events import EventStream, PublicEvents, data_event, event, events_of
from app.http.langserve_compat import playground_file
from app.http.middleware.limits import BATCH_MAX
from app.http.middleware.security import page_policy
from app.http.openapi import BATCHED, CONTENTS, INVOKED, ErrorBody, ok_response
from app.http.policy import KILOBYTE, Policy
from chains.documents.audience import audience_in
from chains.question import QUESTION_MAX_CHARACTERS, QUESTION_PATTERN, question_with
from chains.retrieval.filters import QuestionFilters
from chains.state import Answer, Question

PATH = "/copilot"
BODY_BYTES = 32 * KILOBYTE  # A long question with its history.
# The fields of the chain's state that a client may see while it runs.
VISIBLE_FIELDS = frozenset(Answer.__annotations__) | {"replacement"}

Chain = Runnable[Question, Answer]
Asked = TypeVar("Asked", bound=BaseModel)


class BatchError(ErrorBody):
    """Replaces an answer in a batch that failed."""

    status_code: int


class Call(BaseModel, Generic[Asked]):
    """A question, as LangServe's clients send it; nothing of their `config` and `kwargs` is used."""

    input: Asked


class EventsCall(Call[Asked], Generic[Asked]):
    """A question, and which events of its run are wanted."""

    include_names: list[str] | None = None
    include_types: list[str] | None = None
    include_tags: list[str] | None = None
    exclude_names: list[str] | None = None
    exclude_types: list[str] | None = None
    exclude_tags: list[str] | None = None


def _keep_error(value: Any, validate: Callable[[Any], Any]) -> Any:
    try:
        return validate(value)
    except ValidationError as error:
        return error


class Batch(BaseModel, Generic[Asked]):
    """Several questions; an invalid one is its ValidationError."""

    inputs: list[Annotated[Asked, WrapValidator(_keep_error)]] = Field(max_length=BATCH_MAX)


class Called(BaseModel):
    """An answer, and the run that gave it."""

    output: Answer
    metadata: InvokeResponseMetadata


class BatchCalled(BaseModel):
    """The answers in the order of the questions, and the runs that gave them."""

    output: list[Answer | BatchError]
    metadata: BatchResponseMetadata


def question_model(most: int, least_score: float) -> type[BaseModel]:
    """Return the input model. No field is optional, because LangServe's playground fails on such."""

    class Question(BaseModel):
        question: str = Field(min_length=1, max_length=QUESTION_MAX_CHARACTERS, pattern=QUESTION_PATTERN)
        history: questions.History
        top_k: questions.TopK = most
        threshold: questions.Threshold = least_score
        session_id: str = Field(
            "", max_length=questions.SESSION_MAX_CHARACTERS, description=questions.SESSION_DESCRIPTION
        )
        language: str = Field("", **questions.LANGUAGE_SCHEMA)
        filters: QuestionFilters = {}

        @model_validator(mode="before")
        @classmethod
        def _check_object(cls, value: Any) -> Any:
            if not isinstance(value, dict):  # A plain text, as `invoke("text")` sends it.
                raise ValueError('Input should be an object with a question, like {"question": "..."}')
            return value

    return Question


def copilot_router(chain: Chain, question: Any) -> APIRouter:
    router = APIRouter(prefix=PATH, tags=["LangServe"])

    @Policy(body_bytes=BODY_BYTES)
    async def invoke(request: Request, body: Any) -> Any:
        """Return the answer to one question."""
        config = call_config(request)
        return {"output": await chain.ainvoke(question_of(body.input), config), "metadata": _metadata(config)}

    @Policy(body_bytes=BODY_BYTES, questions=inputs_in)
    async def batch(request: Request, body: Any) -> Any:
        """Return the answers to several questions, in order; a failed one is an error object."""
        configs = [call_config(request) for _ in body.inputs]
        runs = [_metadata(config) for config in configs]
        outputs = await _answers(chain, request, body.inputs, configs)
        return {"output": outputs, "metadata": {"responses": runs, "run_ids": [run["run_id"] for run in runs]}}

    @Policy(body_bytes=BODY_BYTES)
    async def stream(request: Request, body: Any) -> Response:
        """Stream the fields of the answer, its words in pieces."""
        config = call_config(request)
        run = event("metadata", json.dumps({"run_id": str(config["run_id"])}))
        parts = chain.astream(question_of(body.input), config)
        return EventStream(events_of(request, parts, first=[run]))

    @Policy(body_bytes=BODY_BYTES)
    async def stream_events(request: Request, body: Any) -> Response:
        """Stream the events of `astream_events` (version 2), without prompts and unused passages."""
        config = call_config(request)
        parts = chain.astream_events(question_of(body.input), config, version="v2")
        selection = body.model_dump(exclude={"input"})
        audience = audience_in(config)
        public = PublicEvents(VISIBLE_FIELDS, answering="generation", audience=audience, selection=selection)
        return EventStream(events_of(request, public.filter(parts)))

    async def input_schema() -> dict[str, Any]:
        """Return the JSON schema of a question."""
        return dict(question.model_json_schema())

    async def output_schema() -> dict[str, Any]:
        """Return the JSON schema of an answer."""
        schema: Any = chain.get_output_schema()
        return dict(schema.model_json_schema())

    streamed: dict[str, Any] = {"response_class": Response, "responses": {200: CONTENTS["stream"]}}
    add_route(router, invoke, Call[question], response_model=Called, responses=ok_response(INVOKED))
    add_route(router, batch, Batch[question], response_model=BatchCalled, responses=ok_response(BATCHED, "The answers"))
    add_route(router, stream, Call[question], **streamed)
    add_route(router, stream_events, EventsCall[question], **streamed)
    described = ok_response({"type": "object", "properties": {}}, "JSON schema")
    for endpoint in (input_schema, output_schema):
        router.add_api_route(f"/{endpoint.__name__}", endpoint, methods=["GET"], responses=described)
    return router


def inputs_in(body: Any) -> int:
    """Return how many questions a batch holds; a body without a list of them counts as one."""
    inputs = body.get("inputs") if isinstance(body, dict) else None
    return len(inputs) if isinstance(inputs, list) else 1


async def _answers(chain: Chain, request: Request, inputs: list[Any], configs: list[RunnableConfig]) -> list[Any]:
    """Return an answer or an error for each input. Raise the first input's error if none can be answered."""
    invalid: dict[int, Any] = {}
    for n, error in enumerate(inputs):
        if isinstance(error, ValidationError):
            issues = error.errors(include_url=False, include_context=False)
            placed = [issue | {"loc": ("body", "inputs", n, *issue["loc"])} for issue in issues]
            invalid[n] = RequestValidationError(placed)
    valid = [n for n in range(len(inputs)) if n not in invalid]
    answered = await chain.abatch(
        [question_of(inputs[n]) for n in valid], [configs[n] for n in valid], return_exceptions=True
    )
    outputs: dict[int, Any] = invalid | dict(zip(valid, answered, strict=True))
    errors = [error for _, error in sorted(outputs.items()) if isinstance(error, Exception)]
    if errors and len(errors) == len(inputs):
        raise errors[0]
    for n, output in outputs.items():
        if isinstance(output, Exception):
            reply = reply_to(output) if n in invalid else logged_reply(request, output)
            outputs[n] = reply.in_place()
    return [outputs[n] for n in range(len(inputs))]


def add_route(router: APIRouter, endpoint: Callable[..., Any], body: type[BaseModel], **options: Any) -> None:
    """Add a POST route named after the endpoint, with LangServe's body model for the chain."""
    endpoint.__annotations__["body"] = body
    router.add_api_route(endpoint=endpoint, methods=["POST"], **{"path": f"/{endpoint.__name__}"} | options)


def question_of(body: BaseModel) -> Question:
    values = body.model_dump()
    return question_with(values.pop("question"), **values)


def call_config(request: Request) -> RunnableConfig:
    """Return the config of one question of the request, with its own run id."""
    return questions.run_config(request) | {"run_id": uuid4()}


def _metadata(config: RunnableConfig) -> dict[str, Any]:
    return {"run_id": config["run_id"], "feedback_tokens": []}


RUN = "/playground/run"

Patch = dict[str, Any]


def playground_router(chain: Chain, question: Any) -> APIRouter:
    router = APIRouter(prefix=PATH, include_in_schema=False)

    @router.get("/playground/{file_path:path}")
    async def playground(request: Request, file_path: str) -> Response:
        try:
            models = {"question": question, "answer": chain.get_output_schema()}
            response = await playground_file(request, file_path, root=f"{PATH}/playground", run=RUN, **models)
        except (OSError, ValueError):  # LangServe tries to open folders and names that are too long.
            raise HTTPException(404) from None
        if response.media_type == "text/html":
            # It compiles the checks of its form from the schema, and writes its own styles.
            policy = page_policy(bytes(response.body), script="'unsafe-eval'", style="'unsafe-inline'")
            response.headers["Content-Security-Policy"] = policy
        return response

    async def run(request: Request, body: Any) -> Response:
        def patches(part: Mapping[str, Any]) -> str:
            """Return the parts of an answer as the JSON patches (RFC 6902) that the page expects."""
            return data_event({"ops": [_patch(name, value) for name, value in part.items()]})

        empty: Patch = {"id": None, "streamed_output": [], "final_output": None, "logs": {}}
        events = events_of(
            request,
            chain.astream(question_of(body.input), call_config(request)),
            first=[data_event({"ops": [{"op": "replace", "path": "", "value": empty}]})],
            each=lambda part: [patches(part)],
            on_error=lambda reply: patches({"answer": reply.message}),  # The page ignores error events.
        )
        return EventStream(events)

    add_route(router, run, Call[question], path=RUN, response_class=Response)
    return router


def _patch(name: str, value: Any) -> Patch:
    match name:
        case "answer":
            return {"op": "add", "path": "/streamed_output/-", "value": value}
        case "replacement":
            return {"op": "replace", "path": "/streamed_output", "value": [value]}
    step = {"id": None, "name": name, "start_time": datetime.now(UTC).isoformat(), "final_output": value}
    return {"op": "add", "path": f"/logs/{name}", "value": step}
