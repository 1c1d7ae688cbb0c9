"""The interfaces of what is plugged in (`app.hooks`) and has none in LangChain or `chains.ports`."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from chains.audience import Audience
from chains.errors import WaypointError
from chains.ingestion.mirror import RemoteSource
from chains.observers import Observer
from chains.ports import Moderator
from chains.safety import Moderate


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
        part: What it is called.
        run: Returns what was found, if anything is to be said, and raises where it fails; None where it is not used.
        remedy: What to do where it fails; the settings that turn it on where it is not used.
        required: Whether the service cannot work without it.
    """

    part: str
    run: Callable[[], str | None] | None
    remedy: str
    required: bool = True


MOST_FILES = 20  # Of one upload.


class UploadFolder(Protocol):
    """Adds and removes documents over HTTP."""

    added: int
    failed: int

    @property
    def folder(self) -> Path:
        """Where the files are kept, by category."""

    def resume(self) -> None:
        """Go on with what waited when the service ended."""

    def close(self) -> None:
        """Stop; what waits goes on at the next start."""


class Outbox(Protocol):
    """Publishes events about questions and answers, without waiting.

    Attributes:
        sent: Events that the broker has confirmed.
        dropped: Events that could not be kept.
    """

    sent: int
    dropped: int

    @property
    def waiting(self) -> int:
        """The number of events that the broker has not confirmed yet."""

    def check(self) -> str:
        """Open once what keeps the events, and say where they wait.

        Raises:
            ConfigurationError: it cannot be used.
            EventStoreError: it does not answer now.
        """

    async def ping(self, *, timeout_s: float) -> None:
        """Ask the broker; any error means that it does not answer."""

    def publish(self, event: str, payload: dict[str, Any], *, correlation_id: str) -> None:
        """Take an event, from any thread; while nothing runs, it is dropped."""

    def leave(self, event: str, payload: dict[str, Any], *, correlation_id: str) -> None:
        """Publish an event, or, where nothing runs, store it for the next process that delivers.

        Raises:
            EventStoreError: it cannot be stored.
        """

    def observer(self, model: str) -> Observer:
        """Return what publishes the events of each call; `model` is the one asked where a call names none."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Deliver while the body runs."""


MOST_EVENTS = 10_000  # That wait for the broker; the oldest are dropped beyond it.


class EventStoreError(WaypointError):
    """Messages cannot be stored or read at the moment, or another process delivers them now."""

    stage = "events"
    code = "EVENT_STORE_ERROR"


class Message(NamedTuple):
    """A JSON text with its id, its routing key, and the id of the request that it belongs to."""

    id: str
    routing_key: str
    correlation_id: str
    body: str


class EventStore(Protocol):
    """Messages in the order in which they were stored, up to a capacity; used by one thread at a time.

    Every method but `close` raises EventStoreError where the store does not answer; the same call may succeed later.
    """

    def check(self) -> str:
        """Read once, and say where messages wait.

        Raises:
            ConfigurationError: the store does not fit this program, or the settings.
        """

    def put(self, messages: Sequence[Message]) -> int:
        """Store the messages but those whose id is there, and return how many of the oldest were dropped for them."""

    def first(self, limit: int) -> list[Message]:
        """Return the oldest messages, at most `limit`, to the process that delivers."""

    def remove_through(self, id_: str) -> int:
        """Remove a message and all before it, and return how many there were."""

    def count(self) -> int:
        """Return the number of messages."""

    def claim(self) -> bool:
        """Return whether this process is the one that delivers; no other is, until it closes the store or ends."""

    def close(self) -> None:
        """Leave the delivery to another process."""


class AnswerLogError(WaypointError):
    """Logged answers cannot be stored or read at the moment."""

    stage = "answer_log"
    code = "ANSWER_LOG_ERROR"


class NotTheAskerError(WaypointError):
    """Only the user who asked may rate an answer."""

    stage = "answer_log"
    code = "NOT_THE_ASKER"


class Rows(Protocol):
    """What a statement returned; `rowcount` is how many rows it changed."""

    @property
    def rowcount(self) -> int:
        """Return the number of rows that were changed."""

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows, each a sequence of values."""


Execute = Callable[[str, Mapping[str, Any]], Rows]
"""Executes a statement, with the values of its `:names`."""


class AnswerDatabase(Protocol):
    """The tables of logged answers. Every method raises AnswerLogError where it does not answer."""

    @property
    def place(self) -> str:
        """Return where the answers are, without a secret."""

    def transaction(self) -> AbstractContextManager[Execute]:
        """Give what executes statements, one transaction at a time; all of the body's are kept, or none."""

    def scrub(self) -> None:
        """Let nothing on disk hold what was deleted, as far as the database can."""

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""


class AnswerLog(Observer, Protocol):
    """Keeps the answers of a chain, without delaying or breaking them."""

    def rate(
        self, trace_id: str, score: float, comment: str | None, *, user_id: str | None, audience: Audience
    ) -> bool:
        """Put the asker's score to an answer; return whether the answer was kept.

        Raises:
            AnswerLogError: it cannot be written.
            NotTheAskerError: somebody else asked.
        """

    def uses(self) -> Mapping[str, int]:
        """Return how many kept answers rest on each document, by its id.

        Raises:
            AnswerLogError: it cannot be read.
        """

    def close(self) -> None:
        """Write what is queued, and close the store."""
