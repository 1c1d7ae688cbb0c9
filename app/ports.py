"""The interfaces of what is plugged in (`app.hooks`) and has none in LangChain or `chains.ports`."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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
