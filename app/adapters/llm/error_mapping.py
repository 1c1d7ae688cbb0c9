"""Vendors' errors as this project's, without the vendor's words.

The client libraries of Groq and OpenAI come from the same generator, so their errors have the same names.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import httpx
from pydantic import ValidationError

from app.adapters.http_client import retry_after_s
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
    except (vendor.APIError, httpx.RequestError) as error:
        raise _our_error(vendor, error) from error
    except MISREAD as error:
        raise LLMReplyError(UNREADABLE) from error


def _our_error(vendor: ModuleType, error: Exception) -> LLMError:
    if isinstance(error, vendor.APIStatusError):
        return status_error(error.response)
    if isinstance(error, (vendor.APITimeoutError, httpx.TimeoutException)):
        return LLMTimeoutError(TIMED_OUT)
    if isinstance(error, vendor.APIResponseValidationError):
        return LLMReplyError(UNREADABLE)
    if any(isinstance(cause, httpx.DecodingError) for cause in _causes(error)):
        return LLMReplyError(UNREADABLE)
    if isinstance(error, (vendor.APIConnectionError, httpx.RequestError)):
        return LLMUnavailableError(UNREACHABLE)
    return LLMUnavailableError("the language model failed in the middle of its reply; try again")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and its causes: client libraries and LangChain wrap errors in their own."""
    while error is not None:
        yield error
        error = error.__cause__


def status_error(response: httpx.Response) -> LLMError:
    """Return the error for a status."""
    status = response.status_code
    wait = retry_after_s(response.headers.get("retry-after"))
    if status == httpx.codes.TOO_MANY_REQUESTS:
        msg = "the language model asks to wait (too many requests); try again in a minute"
        return LLMRateLimitError(msg, retry_after_s=wait)
    if status == httpx.codes.REQUEST_TIMEOUT:
        return LLMTimeoutError(TIMED_OUT, retry_after_s=wait)
    if status == httpx.codes.CONFLICT or status >= httpx.codes.INTERNAL_SERVER_ERROR:
        msg = f"the language model failed with status {status}; try again"
        return LLMUnavailableError(msg, retry_after_s=wait)
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return LLMRejectedError(f"the language model refused the key (status {status}); check LLM_API_KEY")
    if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
        return LLMTooLargeError("the prompt is larger than the language model takes; lower MAX_CONTEXT_TOKENS")
    return LLMRejectedError(f"the language model refused the request (status {status}); check LLM_MODEL and the limits")
