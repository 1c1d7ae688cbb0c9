"""An error -> its HTTP status and what the client is told: one table. Inner detail stays in the log."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.adapters.sessions.identity import IdentityStoreError
from chains.errors import (
    ConfigurationError,
    DeadlineError,
    EmbeddingError,
    IngestionError,
    LLMBusyError,
    LLMCircuitError,
    LLMError,
    LLMRateLimitError,
    LLMRejectedError,
    LLMReplyError,
    LLMTimeoutError,
    LLMTooLargeError,
    LLMUnavailableError,
    QuestionError,
    RetrievalError,
    SafetyCheckError,
    VectorStoreError,
    WaypointError,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """A status, its name, and a message that says what happened and what to do."""

    status: int
    error: str
    message: str


class RequestRefusedError(Exception):
    """A request that is refused before it reaches a route, with its problem and the headers that belong to it."""

    def __init__(self, problem: Problem, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(problem.message)
        self.problem = problem
        self.headers = dict(headers or {})


NOTHING_HERE = Problem(404, "Not Found", "There is nothing at this address.")
_SEARCH_DOWN = Problem(503, "Service Unavailable", "The documents cannot be searched at the moment. Try again soon.")
_MODEL_FAILED = Problem(502, "Bad Gateway", "The language model could not answer. Try again soon.")
_MODEL_BUSY = Problem(503, "Service Unavailable", "The language model is busy. Try again in a minute.")
_OURS = Problem(500, "Internal Server Error", "Something went wrong on our side. Try again, or tell the operators.")

# The nearest class in an error's own line of ancestors decides.
TABLE: dict[type[WaypointError], Problem] = {
    QuestionError: Problem(400, "Bad Request", ""),  # Its own message is for the client.
    IdentityStoreError: Problem(
        503, "Service Unavailable", "Who asks cannot be checked at the moment. Try again soon."
    ),
    ConfigurationError: _OURS,
    IngestionError: _OURS,
    RetrievalError: _SEARCH_DOWN,
    EmbeddingError: _SEARCH_DOWN,
    VectorStoreError: _SEARCH_DOWN,
    LLMError: _MODEL_FAILED,
    LLMRejectedError: _MODEL_FAILED,
    LLMUnavailableError: _MODEL_FAILED,
    LLMReplyError: _MODEL_FAILED,
    LLMTooLargeError: Problem(
        413, "Payload Too Large", "The question is too large for the language model; shorten it."
    ),
    LLMCircuitError: Problem(503, "Service Unavailable", "The language model is out of order. Try again in a minute."),
    LLMRateLimitError: _MODEL_BUSY,
    LLMBusyError: _MODEL_BUSY,
    LLMTimeoutError: Problem(504, "Gateway Timeout", "The language model did not answer in time. Try again."),
    DeadlineError: Problem(504, "Gateway Timeout", "The answer took longer than it may. Try again."),
    SafetyCheckError: Problem(400, "Bad Request", "The question cannot be answered here. Put it in other words."),
}


def problem_of(error: Exception) -> Problem:
    """Return what the client is told about an error."""
    if isinstance(error, RequestRefusedError):
        return error.problem
    if isinstance(error, QuestionError):
        return Problem(400, "Bad Request", str(error))
    rows = (TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)
    return next(rows, _OURS)
