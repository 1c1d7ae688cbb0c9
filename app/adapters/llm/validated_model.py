"""A vendor's chat model with this project's errors, whose replies are checked to be complete."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing, contextmanager
from types import ModuleType
from typing import Any, ClassVar, cast

import httpx
from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import ValidationError

from app.adapters.http_client import async_client, client, retry_after_s
from chains.errors import (
    LLMError,
    LLMRateLimitError,
    LLMRejectedError,
    LLMReplyError,
    LLMTimeoutError,
    LLMTooLargeError,
    LLMUnavailableError,
)

TIMED_OUT = "the language model did not answer in time; try again, or raise LLM_TIMEOUT_S"
UNREACHABLE = "the language model cannot be reached, or broke off; check LLM_BASE_URL and the network"
UNREADABLE = "the language model sent a reply that cannot be read; check LLM_BASE_URL"
# What the libraries and LangChain's wrappers raise where they read an unexpected reply.
MISREAD = (ValueError, TypeError, KeyError, IndexError, AttributeError, ValidationError)


@contextmanager
def map_errors(vendor: ModuleType) -> Iterator[None]:
    """Raise this project's errors in place of those of `vendor`, the client library."""
    try:
        yield
    except LLMError:
        raise
    except vendor.APIStatusError as error:
        raise status_error(error.response) from error
    except (vendor.APITimeoutError, httpx.TimeoutException) as error:
        raise LLMTimeoutError(TIMED_OUT) from error
    except (vendor.APIError, httpx.RequestError) as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, httpx.DecodingError):
            cause = cause.__cause__  # Client libraries and LangChain wrap errors in their own.
        if cause or isinstance(error, vendor.APIResponseValidationError):
            raise LLMReplyError(UNREADABLE) from error
        if isinstance(error, (vendor.APIConnectionError, httpx.RequestError)):
            raise LLMUnavailableError(UNREACHABLE) from error
        raise LLMUnavailableError("the language model failed in the middle of its reply; try again") from error
    except MISREAD as error:
        raise LLMReplyError(UNREADABLE) from error


def status_error(response: httpx.Response) -> LLMError:
    status = response.status_code
    wait = retry_after_s(response.headers.get("retry-after"))
    if status == httpx.codes.TOO_MANY_REQUESTS:
        msg = "the language model asks to wait (too many requests); try again in a minute"
        return LLMRateLimitError(msg, retry_after_s=wait)
    if status == httpx.codes.REQUEST_TIMEOUT:
        return LLMTimeoutError(TIMED_OUT, retry_after_s=wait)
    if status == httpx.codes.CONFLICT or status >= httpx.codes.INTERNAL_SERVER_ERROR:
        return LLMUnavailableError(f"the language model failed with status {status}; try again", retry_after_s=wait)
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return LLMRejectedError(f"the language model refused the key (status {status}); check LLM_API_KEY")
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        return LLMTooLargeError("the prompt is larger than the language model takes; lower MAX_CONTEXT_TOKENS")
    return LLMRejectedError(f"the language model refused the request (status {status}); check LLM_MODEL and the limits")


FINISH_REASON = "finish_reason"


def vendor_options(
    *, temperature: float = 0.3, max_tokens: int = 500, timeout_s: float = 60, **more: Any
) -> dict[str, Any]:
    """Return what both vendors' classes take; `timeout_s` is for the whole reply, a call may give a shorter `timeout`.

    `more` are other options of the class: `reasoning_effort`, `service_tier`.
    """
    limits = {"temperature": temperature, "max_tokens": max_tokens, "timeout": timeout_s, "max_retries": 0}
    return {**limits, "http_client": client(), "http_async_client": async_client(), **more}


class ValidatedModel(BaseChatModel):
    """Mixin; list it before the vendor's class. `vendor` is the client library.

    Raise LLMReplyError if a reply has no answer or cannot be read, LLMUnavailableError if a stream ended before it.
    """

    vendor: ClassVar[ModuleType]

    @classmethod
    def is_lc_serializable(cls) -> bool:
        return False  # LangChain loads no classes but those of its own packages.

    async def aclose(self) -> None:
        """Close the connections to the provider; the model cannot be called any more."""
        model = cast("Any", self)  # Both vendors' classes keep the clients under these names.
        model.http_client.close()
        await model.http_async_client.aclose()

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with map_errors(self.vendor):
            return _complete(super()._generate(*args, **kwargs))  # type: ignore[safe-super]

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with map_errors(self.vendor):
            return _complete(await super()._agenerate(*args, **kwargs))

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        finished = None  # Whether a chunk gave the finish reason; None while there was none.
        with map_errors(self.vendor):
            with closing(cast("Any", super()._stream(*args, **kwargs))) as chunks:
                for chunk in chunks:
                    finished = bool(finished) or _is_last(chunk)
                    yield chunk
            _require_end(finished)

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        finished = None
        with map_errors(self.vendor):
            async with aclosing(cast("Any", super()._astream(*args, **kwargs))) as chunks:
                async for chunk in chunks:
                    finished = bool(finished) or _is_last(chunk)
                    yield chunk
            _require_end(finished)


def _complete(result: ChatResult) -> ChatResult:
    """Return the result, its finish reason where a stream's is."""
    if not result.generations:
        raise LLMReplyError(UNREADABLE)
    message = result.generations[0].message
    reason = ((result.generations[0].generation_info or {}) | message.response_metadata).get(FINISH_REASON)
    message.response_metadata.setdefault(FINISH_REASON, reason)
    return result


def _is_last(chunk: ChatGenerationChunk) -> bool:
    return bool(((chunk.generation_info or {}) | chunk.message.response_metadata).get(FINISH_REASON))


def _require_end(finished: bool | None) -> None:
    if finished is None:
        raise LLMReplyError(UNREADABLE)
    if not finished:
        raise LLMUnavailableError("the language model's stream ended before its answer did; try again")
