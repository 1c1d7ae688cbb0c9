"""The stages in order -> one chain: a question goes in, a cited and scored answer comes out."""

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable

from chains.caching.hits import CacheHits
from chains.citations import CiteSources
from chains.clock import Clock, SystemClock
from chains.confidence import score_confidence
from chains.context import FormatContext
from chains.deadline import Deadline
from chains.generation import generate
from chains.metadata import describe
from chains.retrieval import retrieve
from chains.scope import ScopeGate, answer_unless_declined, search_unless_declined
from chains.stage import stage
from chains.staged import Staged
from chains.state import Answer, Question
from chains.timing import Laps

STAGES = ("retrieval", "context", "generation", "citations", "confidence")


def build_chain(
    *,
    retriever: BaseRetriever,
    model: BaseChatModel,
    system: str | None = None,
    no_results: str | None = None,
    context: FormatContext | None = None,
    citations: CiteSources | None = None,
    scope: ScopeGate | None = None,
    timeout_s: float = 90,
    clock: Clock | None = None,
) -> Runnable[Question, Answer]:
    """Compose the five stages; each adds its field to the state.

    Args:
        retriever: any LangChain retriever; a `score` in its documents' metadata is taken for the similarity.
        model: any LangChain chat model.
        system: the prompt's text with a `{context}` placeholder; by default the one for `[Title > Section]` markers.
        no_results: the answer where nothing was retrieved; by default the packaged one.
        context: how passages become the prompt's context; by default within 2,000 tokens.
        citations: how the answer's markers are read and matched.
        scope: what is declined before anything is searched; by default nothing. Its time counts with retrieval's.
        timeout_s: how long a call may take; waits in it end by then.
        clock: tells the time for that.
    """
    timer = clock or SystemClock()
    cite = citations or CiteSources()
    answer = answer_unless_declined(generate(model, system=system, no_results=no_results))
    stages = (
        stage("retrieval", documents=search_unless_declined(retrieve(retriever)))
        | stage("context", context=context or FormatContext())
        | stage("generation", spread=True, written=cite.written(answer))
        | stage("citations", spread=True, reading=cite)
        | stage("confidence", confidence=score_confidence)
        | stage("metadata", metadata=describe)
    )
    if scope is not None:
        stages = stage("scope", scope=scope) | stages

    def handlers() -> list[BaseCallbackHandler]:
        return [Laps(STAGES), CacheHits(), Deadline(timeout_s, timer)]

    return Staged(stages, name="cited_answer", handlers=handlers)
