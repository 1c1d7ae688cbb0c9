"""A vendor's chat model -> the same, its errors translated and its replies checked, whichever way it is asked."""

from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import Any, ClassVar, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from app.adapters.llm.error_mapping import translated
from app.adapters.llm.replies import awhole, complete, whole


class Checked(BaseChatModel):
    """Stands before the vendor's class among the bases of a model; `vendor` is the client library."""

    vendor: ClassVar[ModuleType]

    async def aclose(self) -> None:
        """Close the connections to the provider, which cannot be asked any more."""
        model = cast("Any", self)  # Both vendors' classes keep the clients under these names.
        model.http_client.close()
        await model.http_async_client.aclose()

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with translated(self.vendor):
            return complete(super()._generate(messages, stop, run_manager, **kwargs))  # type: ignore[safe-super]

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with translated(self.vendor):
            return complete(await super()._agenerate(messages, stop, run_manager, **kwargs))

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        with translated(self.vendor):
            yield from whole(super()._stream(*args, **kwargs))

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        with translated(self.vendor):
            async for chunk in awhole(super()._astream(*args, **kwargs)):
                yield chunk
