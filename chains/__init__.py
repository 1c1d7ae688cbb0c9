"""Questions in, cited and scored answers out.

The stages, in order:

retrieval   question -> documents
context     documents -> context
generation  context -> answer
citations   answer -> citations, sources, related documents
confidence  documents, citations, answer -> confidence

`build_chain` composes them into a LangChain Runnable; `STAGES` names them.
"""

from chains.pipeline import STAGES, build_chain
from chains.state import Answer, Question

__all__ = ["STAGES", "Answer", "Question", "build_chain"]
