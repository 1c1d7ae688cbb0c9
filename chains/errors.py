"""What goes wrong -> one tree of errors, each naming the stage it happened in.

WaypointError
├── QuestionError            the question itself cannot be answered (empty, too long, no text)
├── ConfigurationError       a setting, a model file or an index does not fit; nothing works until it is mended
├── IngestionError           a corpus, or a file of it, cannot be read
├── RetrievalError           stage 1 failed
│   ├── EmbeddingError       ... because the text could not be embedded
│   └── VectorStoreError     ... because the vector store did not answer
└── LLMError                 stage 3 failed
    ├── LLMRejectedError     the provider refuses the request; asking again will not help
    ├── LLMRateLimitError    the provider asks to wait
    ├── LLMTimeoutError      the provider did not answer in time
    └── LLMUnavailableError  the provider cannot be reached, or failed
"""

from typing import ClassVar


class WaypointError(Exception):
    """Anything this project raises on purpose; its message says what happened and what to do."""

    stage: ClassVar[str] = "pipeline"


class QuestionError(WaypointError):
    """The question is empty, too long, or no text."""

    stage = "question"


class ConfigurationError(WaypointError):
    """A setting, a model file or an index does not fit the rest."""

    stage = "configuration"


class IngestionError(WaypointError):
    """A corpus, or one of its files, cannot be read."""

    stage = "ingestion"


class RetrievalError(WaypointError):
    """No passages could be retrieved."""

    stage = "retrieval"


class EmbeddingError(RetrievalError):
    """A text could not be turned into a vector."""


class VectorStoreError(RetrievalError):
    """The vector store did not answer."""


class LLMError(WaypointError):
    """The language model gave no answer."""

    stage = "generation"


class LLMRejectedError(LLMError):
    """The provider refuses the request (a wrong key, an unknown model, a prompt too large)."""


class LLMRateLimitError(LLMError):
    """The provider asks to wait before the next request."""


class LLMTimeoutError(LLMError):
    """The provider did not answer in time."""


class LLMUnavailableError(LLMError):
    """The provider cannot be reached, or failed on its side."""
