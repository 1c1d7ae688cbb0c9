"""Send users' scores of answers to LangSmith as feedback, in the background."""

import threading
from queue import Full, Queue
from typing import NamedTuple
from uuid import UUID

import structlog
from langsmith import Client

log = structlog.get_logger(__name__)

KEY = "user_score"
CAPACITY = 1000
TIMEOUT_MS = (3_000, 10_000)  # To connect, and to read.


class _Score(NamedTuple):
    trace_id: UUID
    score: float
    comment: str | None


class LangSmithScores:
    """Sends scores one after the other, from a daemon thread; what cannot be sent is counted.

    Attributes:
        dropped: Scores that LangSmith did not take, or that came while too many others waited.
    """

    def __init__(self, endpoint: str, api_key: str, project: str) -> None:
        # Without its own batches the client sends in this thread, and says whether it arrived.
        self._client = Client(endpoint, api_key=api_key, auto_batch_tracing=False, timeout_ms=TIMEOUT_MS)
        self._project = project
        self._project_id: UUID | None = None
        self._scores: Queue[_Score] = Queue(CAPACITY)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self.dropped = 0

    def submit(self, trace_id: UUID, score: float, comment: str | None) -> None:
        """Take a score for the answer that has the trace, and send it later."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="scores", daemon=True)
                self._thread.start()
        try:
            self._scores.put_nowait(_Score(trace_id, score, comment))
        except Full:
            self.dropped += 1

    def _work(self) -> None:
        while True:
            score = self._scores.get()
            try:
                self._send(score)
            except Exception as error:  # Tracing must not break the service.
                self.dropped += 1
                log.warning("score_not_sent", trace_id=str(score.trace_id), error=type(error).__name__)

    def _send(self, score: _Score) -> None:
        if self._project_id is None:
            self._project_id = self._client.read_project(project_name=self._project).id
        self._client.create_feedback(
            key=KEY,
            trace_id=score.trace_id,
            score=score.score,
            comment=score.comment,
            session_id=self._project_id,
            stop_after_attempt=3,
        )
