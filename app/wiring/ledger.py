"""Open the ledger that the settings name."""

import os
from functools import lru_cache
from pathlib import Path

from app.ledger.connect import open_database
from app.ledger.database import Database
from app.settings import Settings
from app.wiring.library import folder_beside, uploads_folder

MOST_OPEN = 16  # Of ledgers that one process uses.


def ledger_of(settings: Settings) -> Database:
    """Return the database of the settings' collection, one for all who ask in this process.

    Raises:
        ConfigurationError: DATABASE_URL is no address, or its driver is not installed.
    """
    url = settings.database.url
    file = ledger_file(settings)
    return _opened(file, url.get_secret_value() if url else None, settings.store.collection)


def ledger_file(settings: Settings) -> Path:
    """Return the file of the ledger, where no DATABASE_URL names a database: beside the index of vectors."""
    store = settings.store
    name = f"{store.collection}.ledger.sqlite3"
    if store.kind == "memory":
        return store.memory_path.expanduser().absolute().with_name(f"{store.memory_path.stem}.{name}")
    return settings.chroma.path.expanduser().absolute() / name


@lru_cache(maxsize=MOST_OPEN)
def _opened(file: Path, url: str | None, collection: str) -> Database:
    return open_database(file, url, collection=collection)


def bring_over(settings: Settings) -> list[str]:
    """Bring what earlier programs kept in files beside the index into the ledger; return a line for each file.

    Answers, events and jobs of their last places are found; ANSWER_LOG_PATH and EVENTS_PATH may still name others.
    """
    from app.ledger.earlier import bring_answers, bring_copies, bring_events, bring_from_postgres, bring_jobs

    database, collection = ledger_of(settings), settings.store.collection
    folder = os.environ.get("ANSWER_LOG_PATH")  # noqa: TID251 - a name of before.
    answers = folder_beside(settings, Path(folder) if folder else None, "answers") / "answers.sqlite3"
    events = Path(os.environ.get("EVENTS_PATH") or "storage/events.sqlite3")  # noqa: TID251 - as above.
    uploads = uploads_folder(settings)
    jobs = uploads.with_name(f"{uploads.name}.jobs")
    records = folder_beside(settings, None, "sources") / "records"
    done = bring_from_postgres(database, collection) if database.dialect == "postgresql" else []
    if answers.exists():
        done.append(f"{bring_answers(database, answers, collection)} answers of {answers}")
    if events.exists():
        done.append(f"{bring_events(database, events)} waiting events of {events}")
    if jobs.exists():
        done.append(f"{bring_jobs(database, jobs)} uploads of {jobs}")
    done += [f"{bring_copies(database, file)} copies of {file}" for file in sorted(records.glob("*.sqlite3"))]
    return done
