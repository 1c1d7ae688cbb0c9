"""Personal data in questions: found by patterns, checksums and the words beside them."""

from app.wings.safety.pii.redaction import find_entities, redact

__all__ = ["find_entities", "redact"]
