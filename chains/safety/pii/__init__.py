"""Personal data in questions: found by patterns, checksums and the words beside them."""

from chains.safety.pii.redaction import Entity, Redacted, find_entities, redact

__all__ = ["Entity", "Redacted", "find_entities", "redact"]
