"""Groq's API, or any that speaks like it -> a LangChain chat model that raises this project's errors."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import groq
import httpx
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_groq import ChatGroq
from pydantic import SecretStr

from chains.errors import LLMError, LLMRateLimitError, LLMRejectedError, LLMTimeoutError, LLMUnavailableError


class GroqModel(ChatGroq):
    """ChatGroq, its vendor's errors translated."""

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with _translated():
            return super()._generate(messages, stop, run_manager, **kwargs)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with _translated():
            return await super()._agenerate(messages, stop, run_manager, **kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        with _translated():
            yield from super()._stream(messages, stop, run_manager, **kwargs)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        with _translated():
            async for chunk in super()._astream(messages, stop, run_manager, **kwargs):
                yield chunk


def groq_model(
    *,
    api_key: SecretStr,
    model: str,
    base_url: str | None = None,
    temperature: float = 0.3,
    max_tokens: int = 500,
    timeout_s: float = 60,
    max_retries: int = 3,
) -> GroqModel:
    """Return the chat model; `base_url` is the bare host, to which the client adds `/openai/v1`."""
    return GroqModel(
        api_key=api_key,
        model_name=model,
        base_url=base_url.rstrip("/").removesuffix("/openai/v1") if base_url else None,
        temperature=temperature,
        max_tokens=max_tokens,
        timeout=timeout_s,
        max_retries=max_retries,
    )


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except groq.APITimeoutError as error:
        msg = "the language model did not answer in time; try again, or raise LLM_TIMEOUT_S"
        raise LLMTimeoutError(msg) from error
    except groq.RateLimitError as error:
        msg = "the language model asks to wait (too many requests); try again in a minute"
        raise LLMRateLimitError(msg) from error
    except groq.APIStatusError as error:
        raise _refused(error.status_code) from error
    except (groq.APIConnectionError, httpx.TransportError) as error:
        msg = "the language model cannot be reached; check LLM_BASE_URL and the network"
        raise LLMUnavailableError(msg) from error
    except groq.APIError as error:
        msg = "the language model sent a reply that cannot be read"
        raise LLMUnavailableError(msg) from error


def _refused(status: int) -> LLMError:
    if status >= httpx.codes.INTERNAL_SERVER_ERROR:
        return LLMUnavailableError(f"the language model failed with status {status}; try again")
    if status in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
        return LLMRejectedError(f"the language model refused the key (status {status}); check LLM_API_KEY")
    return LLMRejectedError(f"the language model refused the request (status {status}); check LLM_MODEL and the limits")
