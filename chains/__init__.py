"""Questions in, cited and scored answers out.

The stages, in order:

retrieval   question -> documents
context     documents -> context
generation  context -> answer
citations   answer -> citations, sources, related documents
confidence  documents, citations, answer -> confidence

`build_chain` composes them into a RunnableSequence of LangChain; `STAGES` names them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chains.pipeline import STAGES, build_chain
    from chains.state import Answer, Question

__all__ = ["STAGES", "Answer", "Question", "build_chain"]


def __getattr__(name: str) -> Any:
    """Import the pipeline when it is first asked for: errors and state do without, and it takes a second."""
    if name not in __all__:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from chains import pipeline, state  # noqa: PLC0415 - the point of this function.

    return getattr(pipeline if hasattr(pipeline, name) else state, name)
