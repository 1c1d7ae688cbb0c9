"""Release what libraries keep for as long as the process lives: services of tests that are over."""

import gc
from contextlib import suppress
from typing import Any, cast

from chromadb.api.shared_system_client import SharedSystemClient
from fastapi.dependencies import models as fastapi_models


def keep_what_is_loaded() -> None:
    """Exclude from collection what is loaded by now: modules and tests, 600 MB for each collection to walk through."""
    gc.collect()
    gc.freeze()


def release_services() -> None:
    """Let go of the endpoints that FastAPI remembers and of the folders and servers that Chroma has open."""
    caches = [value for value in vars(fastapi_models).values() if hasattr(value, "cache_clear")]
    systems = list(SharedSystemClient._identifier_to_system.values())
    if not systems and not any(cache.cache_info().currsize for cache in caches):
        return
    for cache in caches:
        cache.cache_clear()
    for system in systems:
        with suppress(AttributeError):  # One over a damaged folder never began.
            system.stop()
        for component in system.components():
            if hasattr(component, "_session"):  # The HTTP client of a server, which `stop` leaves open.
                cast("Any", component)._session.close()
    SharedSystemClient.clear_system_cache()
    gc.collect()
