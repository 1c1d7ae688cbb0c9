"""Waypoint Co-Pilot in a program of your own: `from waypoint import open_chain`.

`build_chain` composes a chain from parts of your own; `open_chain` opens the one that the settings name. Nothing is
printed, and what is logged goes where the program's own logging goes.
"""

from typing import TYPE_CHECKING, Any

import chains

if TYPE_CHECKING:
    from app.settings import Settings, SettingsError, load_settings
    from app.wiring.service import open_chain, open_retriever, process_query, retrieve
    from chains import *  # noqa: F403 - its public names are public here too.
    from chains.errors import WaypointError
    from chains.ingestion.source import SourceText
    from chains.retrieval.retriever import ChunkRetriever
    from chains.retrieval.strategies import HybridRetriever
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


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import a public name's module when it is first asked for; the settings and the pipeline take a second."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_module_of(name), name)


def _module_of(name: str) -> Any:
    if name in {"open_chain", "open_retriever", "process_query", "retrieve"}:
        from app.wiring import service

        return service
    if name in {"Settings", "SettingsError", "load_settings"}:
        from app import settings

        return settings
    if name in {"ChunkRetriever", "HybridRetriever", "SourceText", "WaypointError", "stage"}:
        from chains import errors, stage
        from chains.ingestion import source
        from chains.retrieval import strategies

        return next(module for module in (errors, source, stage, strategies) if hasattr(module, name))
    return chains


def main() -> None:
    from app import cli

    cli.main()
