"""Ingest again whenever files change: `waypoint ingest PATH --watch`."""

from collections.abc import Callable, Collection, Iterator, Set
from pathlib import Path
from threading import Event

from watchfiles import watch

from chains.errors import IndexBusyError, VectorStoreError, WaypointError

# How long saving a file or copying many may take.
QUIET_MS = 800
AGAIN_S = 2.0
LOOK_MS = 500

# Files that affect how others are read.
RULES = {".waypointignore", "scope.yaml"}

Ingest = Callable[[Set[Path] | None], None]


def watch_folders(
    folders: Collection[Path], ingest: Ingest, *, complain: Callable[[str], None], stop: Event | None = None
) -> None:
    """Call `ingest` for all files (None), then with the paths that changed, one call at a time, until Ctrl-C or `stop`.

    Changes during a call are handled by the next. If the index cannot be changed now, because another ingestion is
    running or its store does not answer, the same paths are tried again.
    """
    ended = stop or Event()
    left: set[Path] = set()
    changes = _changes(folders, ended)
    next(changes)  # No change is missed from here on.
    ingest(None)
    for changed in changes:
        left |= changed
        if not left:
            continue
        try:
            ingest(None if any(path.name in RULES for path in left) else left)
        except (IndexBusyError, VectorStoreError) as error:
            complain(f"{error} The changes are tried again.")
            ended.wait(AGAIN_S)
            continue
        except WaypointError as error:
            complain(str(error))
        left = set()


def _changes(folders: Collection[Path], stop: Event) -> Iterator[set[Path]]:
    """Yield changed paths after a quiet period, and an empty set twice a second so that pending paths are retried."""
    found = watch(
        *folders,
        debounce=QUIET_MS,
        step=QUIET_MS // 4,
        stop_event=stop,
        raise_interrupt=True,
        yield_on_timeout=True,
        watch_filter=None,
        rust_timeout=LOOK_MS,
    )
    return ({Path(path) for _, path in changes} for changes in found)
