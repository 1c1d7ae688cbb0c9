"""Before stage 1. A question -> the redirect for what the desk does not answer from documents, or None."""

from chains.scope.file import SCOPE_FILE, Intent, Scope, load_scope, parse_scope
from chains.scope.gate import CurrentScope, HeldOut, ScopeGate

__all__ = [
    "SCOPE_FILE",
    "CurrentScope",
    "HeldOut",
    "Intent",
    "Scope",
    "ScopeGate",
    "load_scope",
    "parse_scope",
]
