"""`waypoint serve`: the HTTP service."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli.ingest import read_settings, service_to_ask
from app.cli.rendering import show
from chains.errors import ConfigurationError
from chains.logs import get_logger, masked

if TYPE_CHECKING:
    from app.wiring import Service

log = get_logger(__name__)


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The port (default: PORT, 3000).")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Number of worker processes.")] = 1,
) -> None:
    """Serve the page at / and the HTTP API: /api/query, /chat, LangServe at /copilot; documented at /docs."""
    from app.http.process import serve as serve_until_drained
    from app.observability.logs import configure_logs
    from app.wiring.observability import check_outbox
    from app.wiring.service import is_loopback

    settings = read_settings()
    if not settings.open_to_others and not is_loopback(host):
        msg = (
            f"--host {host} is open to others without authentication; set AUTH_MODE to session or api_key, or "
            "to public if everybody may ask"
        )
        raise ConfigurationError(msg)
    if workers > 1 and settings.store.kind == "chroma" and settings.chroma.host is None:
        msg = (
            f"--workers {workers} needs a store that several processes can open, unlike the Chroma folder "
            f"{str(settings.chroma.path)!r}: start a Chroma server (`chroma run`) and set CHROMA_HOST, "
            "or set VECTOR_STORE_TYPE=postgres or memory"
        )
        raise ConfigurationError(msg)
    configure_logs(settings.logs.level, settings.logs.format)
    service = service_to_ask(settings, serving=True)
    if service.index.outbox is not None:
        check_outbox(service.index.outbox)
    _ = service.access.authenticator  # A mistake in API_KEYS is told before anything listens.
    log.info("starting", **summary(service))
    port = port or settings.web.port
    announce = partial(show, f"Open the page at {page_address(host, port)}")
    serve_until_drained(service, host=host, port=port, workers=workers, on_started=announce)


def summary(service: "Service") -> dict[str, Any]:
    settings, index, anonymous = service.settings, service.index, service.access.anonymous
    offline, remote = settings.llm.provider == "offline", settings.retrieval.url
    usual = "https://openrouter.ai/api/v1" if settings.llm.provider == "openrouter" else "https://api.groq.com"
    return {
        "provider": settings.llm.provider,
        "model": None if offline else settings.llm.model,
        "base_url": None if offline else masked(settings.llm.base_url or usual),
        "store": index.stored.place if remote is None else str(masked(remote)),
        "chunks": index.current().count() if remote is None else None,
        "without_token": "refused" if anonymous is None else f"{anonymous.audience} documents",
    }


def page_address(host: str, port: int) -> str:
    anywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - What listens on every address answers on loopback.
    name = anywhere.get(host, host)
    return f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"
