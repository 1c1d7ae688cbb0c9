"""Before stage 1. A question -> the redirect for what the desk does not answer from documents, or None."""

from chains.scope.file import SCOPE_FILE, Intent, Scope, load_scope
from chains.scope.gate import LeftOut, ScopeGate
from chains.scope.route import answer_unless_declined, search_unless_declined

__all__ = [
    "SCOPE_FILE",
    "Intent",
    "LeftOut",
    "Scope",
    "ScopeGate",
    "answer_unless_declined",
    "load_scope",
    "search_unless_declined",
]
