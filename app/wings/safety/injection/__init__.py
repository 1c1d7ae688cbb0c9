"""Injection: words in a question or a document that try to steer the model."""

from app.wings.safety.injection.scanner import DOCUMENT_THRESHOLD, Scanner

__all__ = ["DOCUMENT_THRESHOLD", "Scanner"]
