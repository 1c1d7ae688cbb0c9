"""The service of one process, without a language model and without limits of rate, that most attacks are tried on."""

from contextlib import AbstractContextManager
from pathlib import Path

from tests.processes import Service, service

OPTIONS = {"LLM_PROVIDER": "offline", "SCOPE_ENABLED": "false", "LOG_LEVEL": "error", "RATE_LIMIT": "off"}


def alone(folder: Path, **options: str) -> AbstractContextManager[Service]:
    """Run `waypoint serve` over the store in the folder while the body runs; `options` are settings."""
    return service(folder, **{**OPTIONS, "CHROMA_PATH": str(folder / "store"), "RELEVANCE_THRESHOLD": "0", **options})
