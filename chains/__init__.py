"""Questions in, cited and scored answers out.

The stages, in order:

reformulation  question, history -> search query
retrieval      search query -> documents
context        documents -> context
generation     context -> answer
citations      answer -> citations, sources, related documents
confidence     documents, citations, answer -> confidence

`build_chain` composes them into a RunnableSequence of LangChain, `STAGES` names them, and `as_tool` makes the chain a
tool for agents.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chains.citations import format_citations_markdown as format_citations_markdown
    from chains.citations.name_matching import dice as dice
    from chains.citations.name_matching import similarity as similarity
    from chains.confidence.levels import score_confidence as score_confidence
    from chains.generation import generate as generate
    from chains.pipeline import STAGES as STAGES
    from chains.pipeline import build_chain as build_chain
    from chains.reuse.agents import CitationMiddleware as CitationMiddleware
    from chains.reuse.functions import citation_metadata as citation_metadata
    from chains.reuse.functions import deduplicate_citations as deduplicate_citations
    from chains.reuse.functions import extract_citations as extract_citations
    from chains.reuse.functions import format_context as format_context
    from chains.reuse.functions import passages_of as passages_of
    from chains.reuse.functions import process_citations as process_citations
    from chains.reuse.functions import structured_citations as structured_citations
    from chains.reuse.graph import build_graph as build_graph
    from chains.reuse.tool import as_search_tool as as_search_tool
    from chains.reuse.tool import as_tool as as_tool
    from chains.state import Answer as Answer
    from chains.state import Question as Question

# Where each name comes from, to be imported when it is first asked for: errors and state do without the pipeline.
_MODULES = {
    "pipeline": ("STAGES", "build_chain"),
    "state": ("Answer", "Question"),
    "reuse.tool": ("as_search_tool", "as_tool"),
    "reuse.functions": (
        *("citation_metadata", "deduplicate_citations", "extract_citations"),
        *("format_context", "passages_of", "process_citations", "structured_citations"),
    ),
    "generation": ("generate",),
    "citations": ("format_citations_markdown",),
    "citations.name_matching": ("dice", "similarity"),
    "confidence.levels": ("score_confidence",),
    "reuse.agents": ("CitationMiddleware",),
    "reuse.graph": ("build_graph",),
}

__all__ = [name for names in _MODULES.values() for name in names]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a public name's module when it is first asked for; the pipeline takes a second."""
    module = next((module for module, names in _MODULES.items() if name in names), None)
    if module:
        try:
            return getattr(import_module(f"{__name__}.{module}"), name)
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package not in {"langchain", "langgraph"}:
                raise
            raise ImportError(f"{name} needs {package}: run `pip install 'waypoint-copilot[agents]'`") from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
