"""A chain that asks no one outside, and the gate -> both used once, so that what is made at first use is made."""

import gc

import structlog
from langchain_core.runnables import Runnable
from langsmith import tracing_context

from chains.errors import WaypointError
from chains.scope import ScopeGate
from chains.state import Answer, Question

# With a threshold of nothing it is answered from any index that is not empty.
QUESTION = Question(question="Which documents are needed?", threshold=0.0)

log = structlog.get_logger(__name__)


def warm_up(chain: Runnable[Question, Answer], scope: ScopeGate | None) -> None:
    """Ask both a question that no trace tells of.

    What was loaded stays for as long as the process lives: the garbage collector need not look through it again, which
    took a sixth of a second each time and held up every answer under way.

    What fails is logged and no more: a store that is away now may be back when somebody asks.
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
