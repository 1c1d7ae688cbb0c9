"""Waypoint Co-Pilot in a program of your own: `from waypoint import open_chain`.

`build_chain` composes a chain from parts of your own; `open_chain` opens the one that the settings name. Nothing is
printed, and what is logged goes where the program's own logging goes.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import chains

if TYPE_CHECKING:
    from app.settings import Settings, SettingsError, load_settings
    from app.wiring.service import open_chain, open_retriever, process_query, retrieve
    from chains import *  # noqa: F403 - its public names are public here too.
    from chains.errors import WaypointError
    from chains.ingestion.source import SourceText
    from chains.retrieval import ChunkRetriever, HybridRetriever
    from chains.stage import stage

__all__ = [
    "ChunkRetriever",
    "HybridRetriever",
    "Settings",
    "SettingsError",
    "SourceText",
    "WaypointError",
    "load_settings",
    "open_chain",
    "open_retriever",
    "process_query",
    "retrieve",
    "stage",
]
__all__ += chains.__all__

# Where the names are that `chains` does not have.
_MODULES = {
    "app.settings": ("Settings", "SettingsError", "load_settings"),
    "app.wiring.service": ("open_chain", "open_retriever", "process_query", "retrieve"),
    "chains.errors": ("WaypointError",),
    "chains.ingestion.source": ("SourceText",),
    "chains.retrieval": ("ChunkRetriever", "HybridRetriever"),
    "chains.stage": ("stage",),
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a public name's module when it is first asked for; the settings and the pipeline take a second."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = next((module for module, names in _MODULES.items() if name in names), "chains")
    return getattr(import_module(module), name)


def main() -> None:
    from app import cli

    cli.main()
