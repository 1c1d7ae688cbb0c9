"""Backends for traces and feedback: LangSmith and OpenTelemetry."""
