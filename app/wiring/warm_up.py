"""Answer one question before the first real one, so that everything is loaded."""

import gc

import structlog
from langchain_core.runnables import Runnable
from langsmith import tracing_context

from chains.errors import WaypointError
from chains.state import Answer, Question, Redirect

# With threshold 0 any index that is not empty answers it.
QUESTION = Question(question="Which documents are needed?", threshold=0.0)

log = structlog.get_logger(__name__)


def warm_up(chain: Runnable[Question, Answer], scope: Runnable[Question, Redirect | None] | None) -> None:
    """Invoke both once, untraced.

    What was loaded stays until the process ends, so the garbage collector skips it: each full collection took
    a sixth of a second and delayed every running answer.

    A failure is only logged: a store that is down now may be up for the first question.
    """
    try:
        with tracing_context(enabled=False):
            if scope is not None:
                scope.invoke(QUESTION)
            chain.invoke(QUESTION)
    except WaypointError as error:
        log.warning("warm_up_failed", stage=error.stage, error=type(error).__name__)
    gc.collect()
    gc.freeze()
