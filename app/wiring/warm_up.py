"""Warm up: answer one question so that everything is loaded."""

import gc

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable
from langsmith import tracing_context

from app.adapters.stores.index import Snapshot
from app.settings import Settings
from app.wiring.chain import confidence_strategy, pipeline
from app.wiring.llm import offline_model
from app.wiring.models import retriever_of
from app.wiring.reformulation import reformulation_of
from chains.clock import Clock
from chains.errors import WaypointError
from chains.logs import get_logger
from chains.ports import TokenCounter, WordSimilarity
from chains.state import Answer, Question, Redirect, Searching

# With threshold 0 any non-empty index answers it.
QUESTION = Question(question="Which documents are needed?", threshold=0.0)

log = get_logger(__name__)


def warm_up(chain: Runnable[Question, Answer], scope: Runnable[Searching, Redirect | None] | None) -> None:
    """Invoke both once, untraced.

    Loaded objects stay until the process ends, so the garbage collector skips them: each full collection took a sixth
    of a second and delayed every running answer. A failure is only logged: the store may be up for the first question.
    """
    try:
        with tracing_context(enabled=False):
            if scope is not None:
                scope.invoke({"question": QUESTION["question"]})
            chain.invoke(QUESTION)
    except WaypointError as error:
        log.warning("warm_up_failed", stage=error.stage, error=type(error).__name__)
    gc.collect()
    gc.freeze()


def local_chain(
    settings: Settings,
    index: Snapshot,
    embeddings: Embeddings,
    tokens: TokenCounter,
    similarity: WordSimilarity,
    *,
    clock: Clock,
) -> Runnable[Question, Answer]:
    """Return a chain over an index that calls no language model, caches nothing and has no observers."""
    hybrid = settings.replace(retriever_type="hybrid")
    model = offline_model(embeddings, similarity)
    return pipeline(
        hybrid,
        style=hybrid.citations.style,
        retriever=retriever_of(hybrid, store=index.store, words=index.words, model=lambda: model),
        model=model,
        model_id=hybrid.llm.model,
        scope=None,
        tokens=tokens,
        similarity=similarity,
        reformulation=reformulation_of(hybrid, similarity, clock),
        clock=clock,
        confidence=confidence_strategy(hybrid),
    )
