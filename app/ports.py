"""The interfaces of what is plugged in (`app.hooks`) and has none in LangChain or `chains.ports`."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from chains.around import Observer
from chains.documents.audience import Audience
from chains.errors import WaypointError
from chains.ingestion.mirror import RemoteSource
from chains.ports import Moderator
from chains.safety.screening import Moderate


class OpenedSource(NamedTuple):
    """A bucket or site to copy; `name` is the one file that is wanted of it, or empty for all."""

    source: RemoteSource
    folder: Path
    name: str


@dataclass(frozen=True)
class Moderation:
    """A moderator, the step of the chain that asks it, and what closes its connections."""

    moderator: Moderator
    step: Moderate
    aclose: Callable[[], Awaitable[None]]


class Trial(NamedTuple):
    """Something that `waypoint doctor` tries.

    Attributes:
        run: Returns what was found, if anything is to be said, and raises where it fails; None where it is not used.
        remedy: What to do where it fails; the settings that turn it on where it is not used.
        required: Whether the service cannot work without it.
    """

    part: str
    run: Callable[[], str | None] | None
    remedy: str
    required: bool = True


MOST_FILES, MOST_MB = 20, 50  # Of one upload, all files together.


class Outbox(Protocol):
    """Publishes events about questions and answers, without waiting, also where nothing is `running`.

    `sent` counts those that the broker has confirmed, `waiting` those that it has not yet, and `dropped` those that
    could not be kept. `check` raises ConfigurationError where what keeps them cannot be used, VectorStoreError where it
    does not answer now, as `publish` does where nothing is running. Any error of `ping` means that the broker does not
    answer.
    """

    sent: int
    dropped: int

    @property
    def waiting(self) -> int: ...

    def check(self) -> str: ...

    async def ping(self, *, timeout_s: float) -> None: ...

    def publish(self, event: str, payload: dict[str, Any], *, correlation_id: str) -> None: ...

    def observer(self, model: str) -> Observer: ...

    def running(self) -> AbstractAsyncContextManager[None]: ...


class Message(NamedTuple):
    """A JSON text with its id, its routing key, and the id of the request that it belongs to."""

    id: str
    routing_key: str
    correlation_id: str
    body: str


class NotTheAskerError(WaypointError):
    """Only the user who asked may rate an answer."""

    stage = "answer_log"
    code = "NOT_THE_ASKER"


class AnswerLog(Observer, Protocol):
    """Keeps the answers of a chain, without delaying or breaking them."""

    def rate(
        self, trace_id: str, score: float, comment: str | None, *, user_id: str | None, audience: Audience
    ) -> bool:
        """Put the asker's score to an answer; return whether the answer was kept.

        Raise VectorStoreError if it cannot be written; NotTheAskerError if somebody else asked.
        """

    def uses(self) -> Mapping[str, int]:
        """Return how many kept answers rest on each document, by its id; a VectorStoreError if it cannot be read."""

    def close(self) -> None:
        """Write what is queued, and close the store."""
