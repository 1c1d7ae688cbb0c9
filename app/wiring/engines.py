"""The engine of an ingestion: what reads the files and embeds their chunks."""

from dataclasses import dataclass

from langchain_core.embeddings import Embeddings

from app import hooks
from app.settings import Settings
from app.wiring.safety import suspicious_of
from app.wiring.storage import parser
from chains.ingestion.engine import Engine, PlainEngine, Reading


@dataclass(frozen=True)
class EngineChoice:
    """An engine by its name, and the address of its cluster, if it has one."""

    name: str = "plain"
    address: str | None = None


def engine_of(settings: Settings, choice: EngineChoice, embeddings: Embeddings) -> Engine:
    """Return the engine; `embeddings` are those of this process.

    Raises:
        ConfigurationError: nobody offers it, its extra is not installed, or the settings do not suit it.
        IngestionError: its cluster cannot be reached.
    """
    reading = Reading(parser(settings), suspicious_of(settings))
    engine: Engine = hooks.load("engines", choice.name)(settings, reading, embeddings, choice.address)
    return engine


def plain(_settings: Settings, reading: Reading, embeddings: Embeddings, _address: str | None) -> Engine:
    """Return the threads of this process."""
    return PlainEngine(reading, embeddings)
