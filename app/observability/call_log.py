"""Log one line for each question: outcome, times, tokens, and no word of question or answer."""

import hashlib
from collections.abc import Mapping
from typing import Any

from chains.around import LEFT, Call, Observer
from chains.errors import WaypointError
from chains.logs import get_logger

log = get_logger(__name__)

HASH_CHARACTERS = 12


class CallLog(Observer):
    """Logs an `answer` event for each question; the question's words only where `questions` says so."""

    def __init__(self, *, questions: bool = False) -> None:
        self.questions = questions

    def ended(self, call: Call, /) -> None:
        """Log the outcome of the answer, or that the call `failed` or its client `left`."""
        level, outcome = "info", dict[str, Any](outcome="left")
        if answer := call.answer:
            metadata: Mapping[str, Any] = answer.get("metadata") or {}
            confidence = answer.get("confidence")
            outcome = {
                "outcome": answer.get("outcome"),
                "confidence": confidence["level"] if confidence else None,
                "citations": sum(citation["matched"] for citation in answer.get("citations") or []),
                "laps_ms": metadata.get("timings_ms"),
                "tokens": metadata.get("usage"),
                **{name: metadata.get(name) for name in ("model", "cache", "finish_reason", "trace_id")},
            }
        elif not isinstance(call.error, LEFT):
            stage = call.error.stage if isinstance(call.error, WaypointError) else None
            level, outcome = "warning", {"outcome": "failed", "error": type(call.error).__name__, "stage": stage}
        if request_id := call.metadata.get("request_id"):
            outcome["request_id"] = request_id
        question = named(call.question.get("question"), plain=self.questions)
        seconds = round(call.seconds, 4)
        getattr(log, level)("answer", question=question, streamed=call.streamed, seconds=seconds, **outcome)


def named(question: object, *, plain: bool) -> str:
    """Return a question as the log names it: its words where it may hold them, else a hash."""
    text = str(question)
    return text if plain else hashlib.sha256(text.encode()).hexdigest()[:HASH_CHARACTERS]
