"""`waypoint serve`: the HTTP service."""

from typing import Annotated

import structlog
import typer

from app.cli.ingest import open_services, read_settings

log = structlog.get_logger(__name__)


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="The port; by default PORT, 3000.")] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="How many processes answer.")] = 1,
) -> None:
    """Serve the HTTP API: POST /api/query and /chat, LangServe at /copilot, all described at /docs."""
    from app.http.process import check_workers
    from app.http.process import serve as serve_until_drained
    from app.observability.logs import configure_logs
    from app.wiring.access import require_authentication
    from app.wiring.diagnosis import summary

    settings = read_settings()
    require_authentication(settings, host)
    check_workers(settings, workers)
    configure_logs(settings.log_level, settings.log_format)
    services = open_services(settings, serving=True)
    if services.outbox is not None:
        services.outbox.check()
    log.info("starting", **summary(services))
    serve_until_drained(services, host=host, port=port or settings.port, workers=workers)
