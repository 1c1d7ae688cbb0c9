"""The errors of this project, each with the stage it happens in.

WaypointError
├── QuestionError            the question itself cannot be answered (empty, too long, no text)
├── SafetyCheckError         the check of the question failed, so that nothing was searched; a blocked one is answered
├── SessionError             the conversation cannot be read or kept at the moment
├── SessionNotFoundError     the caller has no such conversation
├── ModerationError          the moderation service gave no verdict; the question is answered without
├── ConfigurationError       a setting, a model file or an index does not fit; nothing works until it is fixed
├── IngestionError           a corpus, or a file of it, cannot be read
├── DeadlineError            the time that the question may take is used up
├── RetrievalError           stage 1 failed
│   ├── EmbeddingError       ... because the text could not be embedded
│   └── VectorStoreError     ... because the vector store did not answer
│       └── IndexBusyError   ... or is being changed by another ingestion
└── LLMError                 stage 3 failed
    ├── LLMRejectedError     the provider refuses the request; asking again will not help
    │   └── LLMTooLargeError ... because the prompt is larger than it takes, or than a minute's budget
    ├── LLMRateLimitError    the provider asks to wait
    │   └── LLMBusyError     ... or would: the budget of this minute and of the queue is spent
    ├── LLMTimeoutError      the provider did not answer in time
    ├── LLMUnavailableError  the provider cannot be reached, or failed
    │   └── LLMCircuitError  ... so often that it is not called for a while
    └── LLMReplyError        the provider's reply cannot be read

`failure` of a ModerationError, EmbeddingError or RetrievalError says what became of the call to a service.
"""

from typing import ClassVar, Literal

BreakerOutcome = Literal["success", "failure"] | None
"""What an error tells a circuit breaker about the service: it is there, it failed, or nothing."""

Failure = Literal["unavailable", "rate_limited", "circuit_open"]
"""A service cannot be reached or failed; asks to wait; or failed so often that it is not called for a while."""


class WaypointError(Exception):
    """Base of all errors raised on purpose; the message says what happened and what to do.

    Attributes:
        is_retryable: Whether the same request may succeed a little later.
        breaker_outcome: What it tells a circuit breaker about the service; None is nothing.
        retry_after_s: How long the service asks to wait, where it says so.
        failure: What became of the call to a service; None where it refused, or none was called.
    """

    stage: ClassVar[str] = "pipeline"
    code: ClassVar[str] = "WAYPOINT_ERROR"
    is_retryable: bool = False
    breaker_outcome: BreakerOutcome = None

    def __init__(
        self, message: str = "", *, retry_after_s: float | None = None, failure: Failure | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.failure = failure
        if failure:
            self.is_retryable = failure != "circuit_open"
            self.breaker_outcome = "failure" if failure == "unavailable" else None


class QuestionError(WaypointError):
    stage, code = "question", "QUESTION_ERROR"


class SafetyCheckError(WaypointError):
    stage, code = "safety", "SAFETY_CHECK_ERROR"


class ModerationError(WaypointError):
    stage, code = "safety", "MODERATION_ERROR"


class SessionError(WaypointError):
    stage, code = "session", "SESSION_ERROR"


class SessionNotFoundError(WaypointError):
    stage, code = "session", "SESSION_NOT_FOUND"

    def __init__(self, session_id: str) -> None:
        super().__init__(f"there is no conversation {session_id!r} of this caller; begin one under another id")


class ConfigurationError(WaypointError):
    stage, code = "configuration", "CONFIGURATION_ERROR"


class IngestionError(WaypointError):
    stage, code = "ingestion", "INGESTION_ERROR"


class DeadlineError(WaypointError):
    code = "DEADLINE_ERROR"


class RetrievalError(WaypointError):
    stage, code = "retrieval", "RETRIEVAL_ERROR"


class EmbeddingError(RetrievalError):
    code = "EMBEDDING_ERROR"


class VectorStoreError(RetrievalError):
    code = "VECTOR_STORE_ERROR"


class IndexBusyError(VectorStoreError):
    is_retryable = True


class LLMError(WaypointError):
    """The language model gave no answer; its kinds share the code.

    Attributes:
        can_fall_back: Whether another provider may do better with the same request.
    """

    stage, code = "generation", "LLM_ERROR"
    can_fall_back: ClassVar[bool] = True


class LLMRejectedError(LLMError):
    can_fall_back = False
    breaker_outcome = "success"  # A service that refuses is there.


class LLMTooLargeError(LLMRejectedError): ...


class LLMRateLimitError(LLMError):
    is_retryable = True


class LLMBusyError(LLMRateLimitError):
    is_retryable = False


class LLMTimeoutError(LLMError):
    is_retryable = True
    breaker_outcome = "failure"


class LLMUnavailableError(LLMError):
    is_retryable = True
    breaker_outcome: BreakerOutcome = "failure"


class LLMCircuitError(LLMUnavailableError):
    is_retryable = False
    breaker_outcome = None


class LLMReplyError(LLMError):
    breaker_outcome = "failure"
