"""All parts of the program: indexing, serving and answering, and what spans them."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import merge_configs
from langsmith import tracing_context

from app.observability.call_log import named
from app.wiring.answering import Answering
from app.wiring.chain import confidence_strategy, pipeline, reformulation_of, safe_text
from app.wiring.checks import Check, index_check, retrieval_check, service_checks
from app.wiring.llm import close, offline_model, providers_of
from app.wiring.models import retriever_of
from app.wiring.page_files import EXAMPLES, TEAMS, ExampleQuestions, Teams, file_in
from chains.callbacks import Deadline
from chains.errors import WaypointError
from chains.logs import get_logger
from chains.question import check_question
from chains.retrieval import retrieve
from chains.state import Answer, Passage, Question, Searching

# With threshold 0 any non-empty index answers it.
QUESTION = Question(question="Which documents are needed?", threshold=0.0)

log = get_logger(__name__)


@dataclass(frozen=True)
class Services(Answering):
    """The parts that commands and routes use, each built on first use."""

    @cached_property
    def examples(self) -> ExampleQuestions:
        """Return the example questions of the page, which can be answered now."""
        english_only = self.settings.provider == "offline"
        present = self.library.present if self.remote is None else lambda _ids, _audience: set()
        return ExampleQuestions(file_in(self.settings.web.page, EXAMPLES), present=present, english_only=english_only)

    @cached_property
    def teams(self) -> Teams:
        """Return the teams to contact when the documents have no answer."""
        own = self.library.holds_own_documents if self.remote is None else lambda: True
        return Teams(file_in(self.settings.web.page, TEAMS), own)

    def checks(self) -> list[Check]:
        """Return the readiness checks of everything that the settings and the models built so far depend on."""
        embedder = self.parts.embeddings or self.embedder
        source = index_check(embedder, lambda: self.store) if self.remote is None else retrieval_check(self.remote)
        models = {self.settings.llm.model: self.model} | self.models
        return [source, *service_checks(self.settings, self.embedder, providers_of(models), self.outbox)]

    def warm_up(self) -> None:
        """Answer a question without the language model, untraced, so that everything is loaded for the first real one.

        Loaded objects stay until the process ends, so the garbage collector skips them: each full collection took a
        sixth of a second and delayed every running answer. A question that fails is only logged: the store may be up
        for the first real one.
        """
        self.numbered_chain()
        if self.remote is not None:
            return
        chain, scope = self._local_chain(), self.scope
        try:
            with tracing_context(enabled=False):
                if scope is not None:
                    scope.invoke({"question": QUESTION["question"]})
                chain.invoke(QUESTION)
        except WaypointError as error:
            log.warning("warm_up_failed", stage=error.stage, error=type(error).__name__)
        gc.collect()
        gc.freeze()

    def _local_chain(self) -> Runnable[Question, Answer]:
        """Return a chain over the index that calls no language model, caches nothing and has no observers."""
        settings, index = self.settings.replace(retriever_type="hybrid"), self.index.current()
        model = offline_model(settings, self.embeddings, self.word_similarity)
        return pipeline(
            settings,
            style=settings.citations.style,
            retriever=retriever_of(settings, store=index, words=index, model=lambda: model),
            model=model,
            model_id=settings.llm.model,
            scope=None,
            tokens=self.tokens,
            similarity=self.word_similarity,
            reformulation=reformulation_of(settings, self.word_similarity, self.clock),
            clock=self.clock,
            confidence=confidence_strategy(settings),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open what lives as long as the service, and close it afterwards; then no more questions can be asked."""
        async with AsyncExitStack() as life:
            life.push_async_callback(asyncio.to_thread, self.tracing.close)
            life.push_async_callback(close, self.models)
            if self.answer_log is not None:
                life.push_async_callback(asyncio.to_thread, self.answer_log.close)
            for service in (self.remote, self.moderation):
                if service is not None:
                    life.push_async_callback(service.aclose)
            life.callback(self.library.close)
            life.push_async_callback(asyncio.to_thread, self.stored.close)
            self.stored.vectors.serves = self.remote is None
            if self.uploads is not None:
                life.push_async_callback(asyncio.to_thread, self.uploads.close)
                await asyncio.to_thread(self.uploads.resume)
            parts: list[Any] = [self.access, self.outbox]
            for part in filter(None, parts):
                await life.enter_async_context(part.running())
            yield


async def search(
    services: Services,
    query: str,
    config: RunnableConfig,
    *,
    top_k: int,
    filters: dict[str, Any] | None = None,
) -> list[Passage]:
    """Return the nearest passages that the config's audience may see, best first, without a threshold.

    Personal data is removed from the query, as for an answer.

    Raises:
        QuestionError: the query is empty, too long, or no text; or the filters cannot be read, or name no field.
        RetrievalError: the documents cannot be searched.
        DeadlineError: it took longer than LLM_TIMEOUT_S and 30 seconds.
    """
    deadline = Deadline(services.settings.request_timeout_s, services.clock)
    question = Searching(question=safe_text(services.settings, check_question(query)), top_k=top_k, threshold=0.0)
    if filters:
        question["filters"] = filters
    started = services.clock.now()
    found = await retrieve(services.retriever).ainvoke(question, merge_configs(config, {"callbacks": [deadline]}))
    name = named(question["question"], plain=services.settings.logs.questions)
    log.info("search", question=name, passages=len(found), seconds=round(services.clock.now() - started, 4))
    return found
