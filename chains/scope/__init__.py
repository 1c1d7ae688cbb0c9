"""Before stage 1: redirect questions that no document answers."""

from chains.scope.file import SCOPE_FILE, Intent, ScopeFile, load_scope, parse_scope
from chains.scope.gate import CurrentScope, HeldOut, ScopeGate

__all__ = [
    "SCOPE_FILE",
    "CurrentScope",
    "HeldOut",
    "Intent",
    "ScopeFile",
    "ScopeGate",
    "load_scope",
    "parse_scope",
]
