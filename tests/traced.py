"""Service that trace to a backend, a question to them, and the tree of runs that the backend was sent."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from app.settings import Settings, load_settings
from app.wiring import Parts, Service, open_index, open_service
from tests.langsmith_stub import Backend
from tests.served import QUESTION
from tests.streams import asked

CONFIG: Any = {"metadata": {"request_id": "r1"}}


@contextmanager
def tracing(desk: Settings, url: str, **options: Any) -> Iterator[Service]:
    """Run services that trace to `url`, both ways, while the body runs."""
    there = {"langsmith_tracing": True, "langsmith_endpoint": url, "langsmith_api_key": SecretStr("lsv2_key")}
    there |= {"otel_exporter_otlp_endpoint": url}
    services = open_service(desk.replace(**there, **options), parts=Parts(embeddings=_embeddings()))
    try:
        yield services
    finally:
        services.tracing.close()


@cache
def _embeddings() -> Embeddings:
    """Return the one model that all services here share: loading it takes longer than a test."""
    return open_index(load_settings(_env_file=None)).embeddings


async def ask(services: Service, way: str = "invoke") -> Any:
    return dict(await asked(services.chain, way, {"question": QUESTION}, CONFIG))


def tree(stub: Backend, run: dict[str, Any]) -> Any:
    return {child["name"]: tree(stub, child) for child in stub.children(run)}
