"""Log one line for each question: outcome, times, tokens, and no word of question or answer."""

import hashlib
from collections.abc import Mapping
from typing import Any

from chains.around import LEFT, Call
from chains.errors import WaypointError
from chains.logs import get_logger
from chains.state import Answer

log = get_logger(__name__)

HASH_CHARACTERS = 12


class CallLog:
    """Logs an `answer` event for each question; the question's words only where `questions` says so."""

    def __init__(self, *, questions: bool = False) -> None:
        self.questions = questions

    def started(self, call: Call, /) -> None:
        """Log nothing yet: a question has one line."""

    def ended(self, call: Call, /) -> None:
        """Log the outcome of the answer, or that the call `failed` or its client `left`."""
        level = "info"
        if call.answer:
            outcome = _answered(call.answer)
        elif isinstance(call.error, LEFT):
            outcome = {"outcome": "left"}
        else:
            stage = call.error.stage if isinstance(call.error, WaypointError) else None
            level, outcome = "warning", {"outcome": "failed", "error": type(call.error).__name__, "stage": stage}
        fields = {
            "question": named(call.question.get("question"), plain=self.questions),
            "streamed": call.streamed,
            "seconds": round(call.seconds, 4),
            **outcome,
        }
        if request_id := call.metadata.get("request_id"):
            fields["request_id"] = request_id
        getattr(log, level)("answer", **fields)


def named(question: object, *, plain: bool) -> str:
    """Return a question as the log names it: its words where it may hold them, else a hash."""
    text = str(question)
    return text if plain else hashlib.sha256(text.encode()).hexdigest()[:HASH_CHARACTERS]


def _answered(answer: Answer) -> dict[str, Any]:
    metadata: Mapping[str, Any] = answer.get("metadata") or {}
    citations, confidence = answer.get("citations") or [], answer.get("confidence")
    return {
        "outcome": answer.get("outcome"),
        "confidence": confidence["level"] if confidence else None,
        "citations": sum(citation["matched"] for citation in citations),
        "laps_ms": metadata.get("timings_ms"),
        "tokens": metadata.get("usage"),
        **{name: metadata.get(name) for name in ("model", "cache", "finish_reason", "trace_id")},
    }
